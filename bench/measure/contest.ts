// The runner of every bench: contenders take turns at one workload, and what each of them took is one row.

import { formatTable, median, quantile, rounded, times } from './table.ts';

export type Role = 'ours' | 'peer' | 'floor';

/** What one go took; null where that cannot be told. */
export interface Cost {
  readonly seconds: number;
  readonly cpuSeconds: number | null;
  /** Of the largest process. */
  readonly peakMb: number | null;
}

export interface Contender {
  readonly name: string;
  readonly role: Role;
  /** Null: it is not on this machine, or cannot run on it. */
  readonly version: string | null;
  /** Not measured. */
  readonly prepare?: (nth: number) => unknown;
  readonly act: () => Cost | Promise<Cost>;
  /** Throws unless the outputs are right; not measured. What it returns is how many were made. */
  readonly check?: () => number | undefined;
}

export interface Contest {
  readonly workload: string;
  readonly size: number;
  /** So many things are done in one go, where that is not `size`. */
  readonly items?: number;
  readonly contenders: readonly Contender[];
  readonly repetitions: number;
  /** Who has spent this long with preparing and acting is not asked again. */
  readonly patienceSeconds?: number;
}

export interface Row extends Cost {
  readonly workload: string;
  readonly size: number;
  readonly contender: string;
  readonly role: Role;
  readonly version: string | null;
  readonly p95Seconds: number;
  readonly items: number | null;
  readonly made: number | null;
  readonly times: readonly number[];
  /** By median time; null without one to compare with. */
  readonly toBestPeer: number | null;
  readonly toFloor: number | null;
  readonly failure: string | null;
}

/** In turns within each repetition, and beginning with another each time, so that a busy moment hits them all. */
export async function contest(what: Contest): Promise<Row[]> {
  const entries = what.contenders.map((contender) => new Entry(contender));
  const able = entries.filter(({ contender }) => contender.version !== null);
  for (let nth = 0; nth < what.repetitions; nth++) {
    for (const i of able.keys()) await able[(i + nth) % able.length]!.take(nth, what.patienceSeconds);
  }
  const bestOf = (role: Role) =>
    Math.min(...entries.filter(({ contender }) => contender.role === role).map(({ seconds }) => seconds));
  const [peer, floor] = [bestOf('peer'), bestOf('floor')];
  return entries.map((entry) => entry.row(what, peer, floor));
}

class Entry {
  readonly contender: Contender;
  readonly #costs: Cost[] = [];
  #spentMs = 0;
  #made: number | null = null;
  #failure: string | null = null;

  constructor(contender: Contender) {
    this.contender = contender;
  }

  /** What one of them cannot do is told in its row; the others go on. */
  async take(nth: number, patienceSeconds = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.#failure !== null || this.#spentMs > patienceSeconds * 1_000) return;
    const begun = performance.now();
    try {
      await this.contender.prepare?.(nth);
      const cost = await this.contender.act();
      this.#spentMs += performance.now() - begun;
      this.#made = this.contender.check?.() ?? null;
      this.#costs.push(cost);
    } catch (error) {
      this.#failure = String(error instanceof Error ? error.message : error).trim();
    }
  }

  get seconds(): number {
    return this.#costs.length === 0 ? Number.POSITIVE_INFINITY : median(this.#seconds);
  }

  get #seconds(): number[] {
    return this.#costs.map(({ seconds }) => seconds);
  }

  row({ workload, size, items }: Contest, peer: number, floor: number): Row {
    const { name, role, version } = this.contender;
    return {
      ...{ workload, size, contender: name, role, version, items: items ?? null },
      ...{ seconds: this.seconds, p95Seconds: quantile(this.#seconds, 0.95), times: this.#seconds },
      cpuSeconds: this.#medianOf('cpuSeconds'),
      peakMb: this.#medianOf('peakMb'),
      made: this.#made,
      toBestPeer: Number.isFinite(peer / this.seconds) ? this.seconds / peer : null,
      toFloor: Number.isFinite(floor / this.seconds) ? this.seconds / floor : null,
      failure: this.#failure,
    };
  }

  #medianOf(what: 'cpuSeconds' | 'peakMb'): number | null {
    const known = this.#costs.flatMap((cost) => cost[what] ?? []);
    return known.length === 0 ? null : median(known);
  }
}

/** One table for one contest, with the columns that any of its rows can fill. */
export function tellRows(title: string, rows: readonly Row[]): void {
  const columns = COLUMNS.filter(({ of }) => rows.some((row) => of(row) !== null));
  const lines = rows.map((row) => {
    if (row.version === null) return [row.contender, 'missing (npm run bench:peers)'];
    if (row.times.length === 0) return [row.contender, `failed: ${shortened(row.failure)}`];
    const remark = row.failure === null ? [] : [`then failed: ${shortened(row.failure)}`];
    return [row.contender, ...columns.map(({ of }) => of(row) ?? '–'), ...remark];
  });
  console.log(`\n${title}\n${formatTable(['', ...columns.map(({ head }) => head)], lines)}`);
}

interface Column {
  readonly head: string;
  readonly of: (row: Row) => string | null;
}

const COLUMNS: readonly Column[] = [
  { head: 'time', of: ({ seconds }) => duration(seconds) },
  { head: 'p95', of: ({ p95Seconds, times }) => (times.length < 20 ? null : duration(p95Seconds)) },
  { head: 'to best peer', of: ({ toBestPeer }) => (toBestPeer === null ? null : times(toBestPeer)) },
  { head: 'to floor', of: ({ toFloor }) => (toFloor === null ? null : times(toFloor)) },
  { head: 'CPU', of: ({ cpuSeconds }) => (cpuSeconds === null ? null : `${cpuSeconds.toFixed(2)} s`) },
  { head: 'peak', of: ({ peakMb }) => (peakMb === null ? null : `${peakMb.toFixed(0)} MB`) },
  { head: 'per second', of: ({ items, seconds }) => (items === null ? null : rounded(items / seconds)) },
  { head: 'made', of: ({ made }) => (made === null ? null : made.toLocaleString('en')) },
];

function duration(seconds: number): string {
  if (seconds >= 10) return `${seconds.toFixed(1)} s`;
  return seconds >= 0.1 ? `${(seconds * 1e3).toFixed(0)} ms` : `${(seconds * 1e3).toPrecision(3)} ms`;
}

function shortened(failure: string | null): string {
  return (failure ?? '').split('\n')[0]!.slice(0, 120);
}
