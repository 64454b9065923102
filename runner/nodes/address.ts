// Which addresses are nobody's business: a runner that denies private ones must not be talked into its own network.

import { BlockList, isIP } from 'node:net';

/** Why the address is refused, or null if it is one of the public internet. */
export function whyPrivate(address: string): string | null {
  const bare = address.replace(/%.*$/, '');
  const version = isIP(bare);
  if (version === 4) return ofFour(bare);
  return version === 6 ? ofSix(bare) : 'not an address';
}

const FOUR: readonly (readonly [network: string, bits: number, what: string])[] = [
  ['0.0.0.0', 8, 'this machine'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'private'],
  ['127.0.0.0', 8, 'loopback'],
  ['168.63.129.16', 32, 'metadata service'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'reserved'],
  ['192.88.99.0', 24, 'reserved'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'private'],
  ['198.51.100.0', 24, 'reserved'],
  ['203.0.113.0', 24, 'reserved'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
];

const FOUR_LISTS = FOUR.map(([network, bits, what]) => {
  const list = new BlockList();
  list.addSubnet(network, bits, 'ipv4');
  return { list, what };
});

function ofFour(address: string): string | null {
  return FOUR_LISTS.find(({ list }) => list.check(address, 'ipv4'))?.what ?? null;
}

/** The other way round: of version 6 only 2000::/3 is public at all, and parts of it carry older addresses. */
function ofSix(address: string): string | null {
  const groups = groupsOf(address);
  const [a, b, c, d, e, f, g, h] = groups as Groups;
  const last = `${g >> 8}.${g & 255}.${h >> 8}.${h & 255}`;
  const isLow = (a | b | c | d | e) === 0;
  if (isLow && f === 0 && g === 0) return h === 1 ? 'loopback' : 'this machine';
  const carriesFour =
    (isLow && (f === 0xffff || f === 0)) || (a === 0x64 && b === 0xff9b && (c | d | e | f) === 0);
  if (carriesFour) return ofFour(last);
  if ((a & 0xfe00) === 0xfc00) return 'private';
  if ((a & 0xffc0) === 0xfe80) return 'link-local';
  if ((a & 0xff00) === 0xff00) return 'multicast';
  // 2001::/23 with Teredo, documentation, 6to4, documentation.
  const isOdd = (a === 0x2001 && (b < 0x200 || b === 0xdb8)) || a === 0x2002 || (a === 0x3fff && b < 0x1000);
  return (a & 0xe000) !== 0x2000 || isOdd ? 'reserved' : null;
}

type Groups = [number, number, number, number, number, number, number, number];

function groupsOf(address: string): readonly number[] {
  const withoutDots = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((n) => n.toString(16)).join(':'),
  );
  const [head, tail] = withoutDots.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const before = head ?? [];
  const after = tail ?? [];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
}
