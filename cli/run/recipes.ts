// The recipes that this process has seen, so that each travels to the control plane once and is asked for once.

import type { Client } from '../../host/client.ts';
import type { Performed } from '../../runner/performed.ts';
import { type RecordedRecipe, recipeOf } from '../../runner/records.ts';
import type { HashBytes } from '../../schema/blake3.ts';

export class Recipes {
  readonly #client: Client;
  readonly #hash: HashBytes;
  readonly #known = new Map<string, RecordedRecipe | null>();

  constructor(client: Client, hash: HashBytes) {
    this.#client = client;
    this.#hash = hash;
  }

  /** A recipe goes along once, then by its hash. */
  attach(performed: readonly Performed[]): readonly Performed[] {
    return performed.map((each) => {
      if (each.post.kind !== 'complete' || each.key === null) return each;
      const { hash, body } = recipeOf(this.#hash, each.key.key, each.key.preimage);
      const isKnown = this.#known.has(hash);
      this.#known.set(hash, body);
      const item = { ...each.post.item, recipe: hash, ...(isKnown ? {} : { recipe_body: body as never }) };
      return { ...each, post: { kind: 'complete', item } };
    });
  }

  async find(hash: string): Promise<RecordedRecipe | null> {
    const known = this.#known.get(hash);
    if (known !== undefined) return known;
    const response = await this.#client.api.recipes[':hash'].$get({ param: { hash } });
    const body = response.ok ? ((await response.json()).body as unknown as RecordedRecipe) : null;
    this.#known.set(hash, body);
    return body;
  }
}
