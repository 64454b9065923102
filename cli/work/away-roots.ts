// Roots that are not there for now, as of a disk that is unmounted: what is claimed of their workflows is given back, and
// not asked for until they are back.

import { DISK, type Disk } from '../../host/disk.ts';
import { shown } from '../../schema/diagnostic.ts';
import { type AwayRoot, type Claimed, MAX_AWAY } from '../../schema/wire.ts';
import { awayReason } from '../../watcher/away.ts';

export interface AwayContext {
  readonly warn: (warning: string) => void;
  readonly say: (line: string) => void;
  readonly disk?: Disk;
}

export class AwayRoots {
  readonly #context: AwayContext;
  readonly #disk: Disk;
  /** By workflow: one that is registered anew may have its files elsewhere. */
  readonly #away = new Map<string, AwayRoot>();
  /** Of each root, on which something was last seen in it. */
  readonly #devices = new Map<string, string>();

  constructor(context: AwayContext) {
    this.#context = context;
    this.#disk = context.disk ?? DISK;
  }

  isAway({ workflow, definition }: Pick<Claimed, 'workflow' | 'definition'>, root: string): boolean {
    const problem = this.#problemOf(root);
    if (problem === null) this.#cameBack(workflow, root);
    else
      this.#wentAway({ workflow, definition, root, problem: `${shown(root)}: ${problem}`.slice(0, 1_000) });
    return problem !== null;
  }

  /** Those that still are, or as many as a claim may name. */
  now(): readonly AwayRoot[] {
    for (const each of [...this.#away.values()]) this.isAway(each, each.root);
    return [...this.#away.values()].slice(0, MAX_AWAY);
  }

  #problemOf(root: string): string | null {
    const device = this.#devices.get(root) ?? '';
    const reason = awayReason(root, { root, disk: this.#disk, device });
    if (reason !== null) return reason;
    const now = this.#disk.place(root)!.dev.toString();
    if (now !== device && this.#disk.list(root).length > 0) this.#devices.set(root, now);
    return null;
  }

  #wentAway(away: AwayRoot): void {
    const { workflow, root, problem } = away;
    const before = this.#away.get(workflow);
    this.#away.set(workflow, away);
    if (before?.root === root) return;
    const name = shown(workflow);
    this.#context.warn(
      `${name}: ${problem}; its states wait until it is back: mount it, or start \`sluice work\` with --root ${name}=DIR`,
    );
  }

  #cameBack(workflow: string, root: string): void {
    if (this.#away.delete(workflow))
      this.#context.say(`${shown(workflow)}: ${shown(root)} is there; its states are made again`);
  }
}
