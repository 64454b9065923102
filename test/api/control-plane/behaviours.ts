// How the control plane behaves, told once and run on each of its shapes.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest';
import { ControlPlane } from '../../rig/control-plane.ts';
import type { Shape } from '../../rig/control-plane-shapes.ts';
import { badInputBehaviours } from './bad-input.ts';
import { changeBehaviours } from './changes.ts';
import { claimBehaviours } from './claims.ts';
import { collectionBehaviours } from './collections.ts';
import { concurrencyBehaviours } from './concurrency.ts';
import { httpBehaviours } from './http.ts';
import { leaseBehaviours } from './leases.ts';
import { observationBehaviours } from './observations.ts';
import { registrationBehaviours } from './registration.ts';
import { resultBehaviours } from './results.ts';
import { runBehaviours } from './runs.ts';
import { tokenBehaviours } from './tokens.ts';
import { workflowBehaviours } from './workflows.ts';

const SUBJECTS = {
  registration: registrationBehaviours,
  workflows: workflowBehaviours,
  observations: observationBehaviours,
  changes: changeBehaviours,
  claims: claimBehaviours,
  collections: collectionBehaviours,
  leases: leaseBehaviours,
  results: resultBehaviours,
  runs: runBehaviours,
  http: httpBehaviours,
  tokens: tokenBehaviours,
  'bad input': badInputBehaviours,
  concurrency: concurrencyBehaviours,
};

export function behaviours(start: () => Promise<Shape>): void {
  const cp = new ControlPlane();
  beforeAll(async () => {
    cp.shape = await start();
  });
  afterAll(() => cp.shape?.stop());
  beforeEach(() => cp.shape.reset());
  afterEach(() => {
    expect(cp.shape.reported.splice(0)).toEqual([]);
  });
  for (const [subject, tell] of Object.entries(SUBJECTS)) describe(subject, () => tell(cp));
}
