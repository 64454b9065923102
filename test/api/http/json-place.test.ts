import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeOfMistake } from '../../../api/http/json-place.ts';

describe('the place of a mistake', () => {
  it('is the end for whatever the parser accepts', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(4), (json, indent) => {
        const text = JSON.stringify(JSON.parse(json), null, indent);
        const lines = text.split('\n');
        expect(placeOfMistake(text)).toEqual({ line: lines.length, column: lines.at(-1)!.length + 1 });
      }),
    );
  });

  it('is never behind the first character that is wrong', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (json, seed) => {
        const at = seed % (json.length + 1);
        // Allowed nowhere, not even in a string.
        const text = `${json.slice(0, at)}\u0001${json.slice(at)}`;
        expect(placeOfMistake(text).column).toBeLessThanOrEqual(at + 1);
      }),
    );
  });

  it.each([
    ['a string without end', `["${'x'.repeat(999_990)}`, 2],
    ['escapes without end', `["${'\\n'.repeat(499_990)}`, 2],
    ['brackets without end', '['.repeat(999_999), 1_000_000],
  ])('is found in a body of full size: %s', (_what, text, column) => {
    expect(placeOfMistake(text)).toEqual({ line: 1, column });
  });
});
