// One contender's own folder for all workloads of one shape and size, and how it is brought to rest.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { measureCommand } from '../measure/command.ts';
import type { Contender } from '../measure/contest.ts';
import { type Peer, run } from '../peers/peer.ts';
import { checkOutputs, createFolder, fillOutputs, madeSince, namesOf, stampsOf } from './folder.ts';
import type { Work } from './workloads.ts';

export class Place {
  readonly folder: string;
  readonly #peer: Peer;
  readonly #size: number;
  #isSettled = false;

  constructor(scratch: string, peer: Peer, { shape, size }: { shape: Work['shape']; size: number }) {
    this.#peer = peer;
    this.#size = size;
    this.folder = join(scratch, `${shape}-${size}-${peer.name.replaceAll(/\W+/g, '-')}`);
  }

  contender(work: Work): Contender {
    const { folder } = this;
    const { name, role, version } = this.#peer;
    let before: ReadonlyMap<string, string> = new Map();
    return {
      ...{ name, role, version },
      prepare: (nth) => {
        this.#create(work);
        if (work.isSettled) this.#settle(work);
        work.disturb(folder, this.#peer, nth);
        before = stampsOf(folder, work.shape);
      },
      act: () => measureCommand(this.#peer.command(work.shape), folder),
      check: () => {
        // What only looks leaves a changed input behind.
        if (role !== 'floor' || !work.isSettled) checkOutputs(folder, work.shape);
        return madeSince(folder, work.shape, before);
      },
    };
  }

  #create({ shape }: Work): void {
    if (existsSync(this.folder)) return;
    createFolder(this.folder, shape, this.#size);
    if (shape === 'chain') this.#peer.chain(this.folder);
    else this.#peer.each(this.folder, namesOf(this.#size));
  }

  /** The first time until nothing is left to do. What ours remembers of that, it remembers of a run that only looked. */
  #settle({ shape }: Work): void {
    const { adopt, role } = this.#peer;
    const again = () => measureCommand(this.#peer.command(shape), this.folder);
    if (!this.#isSettled) {
      this.#isSettled = true;
      if (adopt !== null) fillOutputs(this.folder, shape);
      if (adopt !== null && adopt.length > 0) run(adopt, this.folder);
      if (role !== 'floor') again();
    }
    if (role === 'ours') again();
    if (role === 'ours') again();
  }
}
