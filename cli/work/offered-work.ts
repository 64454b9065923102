// What this runner is offered: each claim is given its definition as it stands on this machine, or refused with the
// reason; then it is made like any other.

import { join } from 'node:path';
import type { RootPair } from '../../host/roots.ts';
import type { Performed } from '../../runner/performed.ts';
import { claimedHere, performedThere, placeWorkflow } from '../../runner/place-work.ts';
import { postResults, releaseAll } from '../../runner/post-results.ts';
import type { AwayRoot, Claimed } from '../../schema/wire.ts';
import type { Stage, Workflow } from '../../schema/workflow.ts';
import { type Perform, performingOf } from '../perform.ts';
import { machineFor } from '../run/machine.ts';
import { Recipes } from '../run/recipes.ts';
import { AwayRoots } from './away-roots.ts';
import { Definitions, notBuilt } from './definitions.ts';
import type { LostRecords } from './lost-records.ts';
import type { WorkerOptions } from './worker-options.ts';

interface Offered {
  readonly stage: Stage;
  readonly roots: RootPair;
  readonly perform: Perform;
}

export class OfferedWork {
  readonly #options: WorkerOptions;
  readonly #lost: LostRecords;
  readonly #isMine: (tokens: readonly number[]) => Promise<boolean>;
  readonly #definitions: Definitions;
  readonly #roots: AwayRoots;
  /** By definition and the target as it is written in it: that says where relative paths stand. */
  readonly #placed = new Map<string, { readonly roots: RootPair; readonly perform: Perform }>();
  readonly #offered = new Map<string, Offered>();

  constructor(
    options: WorkerOptions,
    lost: LostRecords,
    isMine: (tokens: readonly number[]) => Promise<boolean>,
  ) {
    this.#options = options;
    this.#lost = lost;
    this.#isMine = isMine;
    this.#definitions = new Definitions(options.client, options.base.blake3.hash);
    this.#roots = new AwayRoots(options);
  }

  /** What cannot be worked on now, because its files are not there. */
  away(): readonly AwayRoot[] {
    return this.#roots.now();
  }

  async receive(items: readonly Claimed[]): Promise<readonly Claimed[]> {
    const ready: Claimed[] = [];
    const refused: { readonly item: Claimed; readonly why: string }[] = [];
    const away: number[] = [];
    for (const item of items) {
      const offered = await this.#offer(item);
      if ('why' in offered) refused.push({ item, why: offered.why });
      else if (this.#roots.isAway(item, offered.roots.here)) away.push(item.token);
      else ready.push(claimedHere(this.#lost.addTo(item), offered.roots));
    }
    await this.#refuse(refused);
    await releaseAll(away, this.#options);
    return ready;
  }

  stageOf(item: Claimed): Stage {
    return this.#offered.get(offerKey(item))!.stage;
  }

  async perform(items: readonly Claimed[], signal: AbortSignal): Promise<readonly Performed[]> {
    const { perform, roots } = this.#offered.get(offerKey(items[0]!))!;
    const performed = await perform(items, signal);
    // What fails, or is not there, on a disk that went away says nothing of the state or of its files.
    const isAway =
      performed.some(({ post }) => post.kind !== 'complete') && this.#roots.isAway(items[0]!, roots.here);
    return performed.map((each) =>
      isAway && each.post.kind !== 'complete' ? givenBack(each) : performedThere(each, roots),
    );
  }

  async #offer(item: Claimed): Promise<Offered | { readonly why: string }> {
    const known = this.#offered.get(offerKey(item)) ?? (await this.#look(item));
    if (!('why' in known)) this.#offered.set(offerKey(item), known);
    return known;
  }

  async #look(item: Claimed): Promise<Offered | { readonly why: string }> {
    const { allowed } = this.#options;
    // The control plane was asked for nothing else; who runs commands checks it all the same.
    if (allowed !== null && allowed.get(item.workflow) !== item.definition)
      return { why: `this runner allows only ${allowed.get(item.workflow) ?? 'other workflows'}` };
    const workflow = await this.#definitions.of(item);
    const stage = workflow?.stages.find(({ id }) => id === item.stage);
    if (workflow === null || stage === undefined)
      return { why: `the control plane has no definition ${item.definition} that is what its hash says` };
    const missing = notBuilt(workflow, item.stage);
    if (missing !== null) return { why: missing };
    return { stage, ...this.#place(item, workflow, stage) };
  }

  #place(item: Claimed, written: Workflow, stage: Stage) {
    const key = `${item.definition}\0${stage.target}`;
    const known = this.#placed.get(key);
    if (known !== undefined) return known;
    const { base, own, env, denyPrivate, logs, roots: options, client } = this.#options;
    const { workflow, roots } = placeWorkflow(written, {
      ...{ root: item.root, target: stage.target, options },
    });
    const root = roots.here;
    const machine = machineFor(base, { workflow, path: join(root, `${workflow.name}.yaml`), root });
    machine.looks.stop();
    const perform = performingOf({
      ...{ workflow, root, own, machine, env, denyPrivate, logs, isMine: this.#isMine },
      ...{ recipes: new Recipes(client, machine.hash), hasLockFile: true },
      ...{ starting: () => {}, remadeBy: () => undefined },
    });
    this.#placed.set(key, { roots, perform });
    return { roots, perform };
  }

  /** Failed and not given back: what only a person can mend must be told where a person looks. */
  async #refuse(refused: readonly { readonly item: Claimed; readonly why: string }[]): Promise<void> {
    if (refused.length === 0) return;
    const results = refused.map(({ item, why }) => ({
      kind: 'fail' as const,
      item: { token: item.token, outcome: { kind: 'error' as const }, error: why },
    }));
    for (const { item, why } of refused)
      this.#options.warn(`${item.workflow}/${item.stage}@${item.entity}: ${why}`);
    await postResults(results, this.#options);
  }
}

function givenBack(performed: Performed): Performed {
  return { ...performed, observations: [], post: { kind: 'release', because: 'its root is away' } };
}

function offerKey({ definition, stage }: Claimed): string {
  return `${definition}\0${stage}`;
}
