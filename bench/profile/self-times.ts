// A profile of V8 as milliseconds by source file, though all of them are in a few bundles.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  /** Microseconds. */
  readonly timeDeltas: readonly number[];
}

export function selfTimes({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const bundles = new Map<string, readonly string[]>();
  const places = new Map(nodes.map((node) => [node.id, placeOf(node.callFrame, bundles)]));
  const times = new Map<string, number>();
  for (const [i, id] of samples.entries()) {
    const place = places.get(id)!;
    // Waiting for commands is nobody's work.
    if (place !== 'native (idle)') times.set(place, (times.get(place) ?? 0) + timeDeltas[i]! / 1_000);
  }
  return times;
}

type Frame = Profile['nodes'][number]['callFrame'];

function placeOf({ functionName, url, lineNumber }: Frame, bundles: Map<string, readonly string[]>): string {
  if (url === '') return `native ${functionName || 'code'}`;
  if (!url.startsWith('file:')) return url;
  const lines = bundles.get(url) ?? readFileSync(fileURLToPath(url), 'utf8').split('\n');
  bundles.set(url, lines);
  return sourceAt(lines, lineNumber) ?? url.slice(url.lastIndexOf('/node_modules/') + 1);
}

/** The bundler writes the name of each file in a comment before what was in it. */
function sourceAt(lines: readonly string[], at: number): string | null {
  for (let line = Math.min(at, lines.length - 1); line >= 0; line--) {
    const name = /^\/\/ (\S+\.(?:ts|tsx|js|mjs|cjs))$/.exec(lines[line]!)?.[1];
    if (name !== undefined) return name.replace(/^node_modules\//, '');
  }
  return null;
}
