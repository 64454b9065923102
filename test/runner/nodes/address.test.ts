import { expect, test } from 'vitest';
import { whyPrivate } from '../../../runner/nodes/address.ts';

test.each([
  '0.0.0.0 10.255.0.1 100.64.0.1 100.100.100.200 127.8.9.1 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255',
  '192.0.0.192 192.0.2.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 240.0.0.1',
  '255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:192.168.0.1 0:0:0:0:0:ffff:a00:1',
  'fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 64:ff9b::10.0.0.1 64:ff9b::7f00:1',
  '64:ff9b:1::1 2001::1 2001:db8::1 2002:7f00:1:: 2002:0a00:0001::1 3fff::1 100::1 ::ffff:0:127.0.0.1 localhost',
])('refused: %s', (addresses) => {
  for (const address of addresses.split(' '))
    expect([address, whyPrivate(address)]).not.toEqual([address, null]);
});

test.each([
  '1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 169.253.1.1',
  '172.15.255.255 172.32.0.1 192.167.1.1 192.169.1.1 198.17.1.1 198.20.0.1 223.255.255.255 168.63.129.15',
  '2606:4700:4700::1111 2a00:1450::1 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::808:808 2620:fe::fe',
])('public: %s', (addresses) => {
  for (const address of addresses.split(' ')) expect([address, whyPrivate(address)]).toEqual([address, null]);
});
