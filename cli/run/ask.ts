// What a run asks the control plane about its own workflow.

import { answerOf, type Client } from '../../host/client.ts';
import type { StateAnswer, StatusAnswer } from '../../schema/read-answers.ts';

export class Ask {
  readonly #client: Client;
  readonly #name: string;

  constructor(client: Client, workflow: string) {
    this.#client = client;
    this.#name = encodeURIComponent(workflow);
  }

  async status(): Promise<StatusAnswer> {
    const asked = this.#client.api.pipeline[':workflow'].status.$get({ param: { workflow: this.#name } });
    return (await answerOf(asked)) as StatusAnswer;
  }

  /** All of them, page by page. */
  async states(query: {
    readonly stage?: string;
    readonly entity?: string;
    readonly scope?: 'run' | 'forced';
    readonly status?: StateAnswer['status'];
  }): Promise<StateAnswer[]> {
    const all: StateAnswer[] = [];
    for (let after: string | undefined; ; ) {
      const response = await this.#client.api.workflows[':name'].states.$get({
        param: { name: this.#name },
        query: { ...query, limit: '1000', ...(after === undefined ? {} : { after }) } as never,
      });
      all.push(...(await answerOf(response)));
      after = /[?&]after=([^&>]+)/.exec(response.headers.get('Link') ?? '')?.[1];
      if (after === undefined) return all;
    }
  }

  async records() {
    const all: Listed[] = [];
    for (let after = 0; ; ) {
      const page = await answerOf(
        this.#client.api.workflows[':name{[^]+}'].records.$get({
          param: { name: this.#name },
          query: { after: String(after), limit: '5000' },
        }),
      );
      all.push(...(page as Listed[]));
      if (page.length < 5_000) return all;
      after = page.at(-1)!.id;
    }
  }
}

export interface Listed {
  readonly id: number;
  readonly stage: string;
  readonly entity: string;
  readonly cache_key: string;
  readonly recipe: string | null;
  readonly deps: readonly { readonly path: string; readonly hash: string }[];
  readonly outs: readonly { readonly path: string; readonly hash: string; readonly size?: number }[];
  readonly skipped: boolean;
  readonly produced_at: string | null;
}
