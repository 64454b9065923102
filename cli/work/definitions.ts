// The definitions that claims speak of, as the control plane has them: the normal form, because params that were set
// when a workflow was registered are not in its source.

import { answerOf, type Client, Refused } from '../../host/client.ts';
import { type HashBytes, hashValue } from '../../schema/blake3.ts';
import { missingFeatures } from '../../schema/features.ts';
import type { Claimed } from '../../schema/wire.ts';
import type { Json } from '../../schema/words.ts';
import type { Workflow } from '../../schema/workflow.ts';

export class Definitions {
  readonly #client: Client;
  readonly #hash: HashBytes;
  readonly #known = new Map<string, Workflow | null>();

  constructor(client: Client, hash: HashBytes) {
    this.#client = client;
    this.#hash = hash;
  }

  /** Null if there is none, or if it is not what its hash says. */
  async of({ definition, root }: Claimed): Promise<Workflow | null> {
    const known = this.#known.get(definition);
    if (known !== undefined) return known;
    const answer = await this.#ask(definition);
    if (answer === null) return null;
    const workflow = answer.normal_form as unknown as Workflow;
    const signed = { workflow: workflow as unknown as Json, root, target: answer.target };
    const found = hashValue(this.#hash, 'definition', signed) === definition ? workflow : null;
    this.#known.set(definition, found);
    return found;
  }

  async #ask(hash: string) {
    try {
      return await answerOf(this.#client.api.definitions[':hash'].$get({ param: { hash } }));
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return null;
      throw error;
    }
  }
}

/** Why a stage cannot be made by any runner yet, or null. */
export function notBuilt(workflow: Workflow, stage: string): string | null {
  const missing = missingFeatures(workflow).filter(
    (each) => (each.stage === null || each.stage === stage) && !each.elsewhere,
  );
  if (missing.length === 0) return null;
  return `it asks for what cannot be done yet: ${missing.map(({ feature }) => feature).join(', ')}`;
}
