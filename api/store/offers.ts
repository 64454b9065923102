// What is offered to a runner, in the form that the statements of a claim take it: one JSON text per kind of claim.
//
// It depends on the registry and on what the runner says of itself, both of which rarely change, so it is made once.

import { fits, type Offer, offerOf } from '../../schema/offer.ts';
import type { ClaimBody } from '../../schema/wire.ts';
import type { Registered } from './registered.ts';

/** In the order in which they are tried. */
const KINDS = ['ready', 'lenient', 'orphaned'] as const;
export type Kind = (typeof KINDS)[number];

export interface Offered {
  readonly kind: Kind;
  /** By the id of the stage: workflow, priority, depth, whole, most, counts states, longest wait, omits failed. */
  readonly offers: string;
  /** Several workflows take turns, and some let only so many through: then more than the order decides. */
  readonly isRanked: boolean;
}

/** A runner that packs says of itself something new with every claim, but not so many things. */
const MOST_REMEMBERED = 100;
const remembered = new WeakMap<Registered, Map<string, readonly Offered[]>>();

export function offersTo(known: Registered, body: ClaimBody): readonly Offered[] {
  const { targets, free, labels, workflow, workflows, definitions, stages, away } = body;
  const key = JSON.stringify([targets, free, labels, workflow, workflows, definitions, stages, away]);
  const found = remembered.get(known) ?? new Map<string, readonly Offered[]>();
  remembered.set(known, found);
  const before = found.get(key);
  if (before !== undefined) return before;
  if (found.size >= MOST_REMEMBERED) found.clear();
  const offered = offeredTo(known, body);
  found.set(key, offered);
  return offered;
}

function offeredTo(known: Registered, body: ClaimBody): readonly Offered[] {
  const all = [...known.stages.values()].flatMap((placed): readonly Offer[] => {
    const { paused, definition } = known.workflows.get(placed.of.name)!;
    const isAsked =
      asksFor(body, placed.of.name, placed.stage.id) &&
      (body.definitions === undefined || body.definitions.includes(definition)) &&
      !body.away.some((each) => each.definition === definition);
    return isAsked && !paused && fits(placed, body) ? [offerOf(placed)] : [];
  });
  return KINDS.flatMap((kind): readonly Offered[] => {
    const offers = all.filter(({ kinds }) => kinds.includes(kind));
    if (offers.length === 0) return [];
    const isRanked =
      new Set(offers.map(({ workflow }) => workflow)).size > 1 || offers.some(({ most }) => most);
    return [{ kind, offers: JSON.stringify(Object.fromEntries(offers.map(asField))), isRanked }];
  });
}

function asksFor({ workflow, workflows, stages }: ClaimBody, of: string, stage: string): boolean {
  return (
    (workflow === undefined || of === workflow) &&
    (workflows === undefined || workflows.includes(of)) &&
    (stages === undefined || stages.includes(stage))
  );
}

function asField(offer: Offer): readonly [string, readonly unknown[]] {
  const { stage, workflow, priority, depth, whole, most, countsStates, maxWaitMs, omitsFailed } = offer;
  const flags = (flag: boolean) => (flag ? 1 : 0);
  return [
    String(stage),
    [workflow, priority, depth, flags(whole), most, flags(countsStates), maxWaitMs, flags(omitsFailed)],
  ];
}
