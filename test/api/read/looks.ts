// Every way to look at the store, for tests that hold for all of them. They speak of a workflow `blog` with entity e7.

import { explainState } from '../../../api/store/explain-state.ts';
import { listAttempts } from '../../../api/store/list-attempts.ts';
import { listEntities } from '../../../api/store/list-entities.ts';
import { listEvents, newestEvent } from '../../../api/store/list-events.ts';
import { listMachines } from '../../../api/store/list-machines.ts';
import { listManifests } from '../../../api/store/list-manifests.ts';
import { FIRST_STATES, listStates } from '../../../api/store/list-states.ts';
import { nearEntities } from '../../../api/store/near-entities.ts';
import { readEntity } from '../../../api/store/read-entity.ts';
import { readMetrics } from '../../../api/store/read-metrics.ts';
import type { Store } from '../../../api/store/store.ts';
import { workflowStatus } from '../../../api/store/workflow-status.ts';
import { COUNTED_WORDS, PIPELINE_WORDS } from '../../../schema/status-words.ts';

const one = { workflow: 'blog', stage: 'blog', entity: 'e7' };
const page = { workflow: 'blog', after: 0, limit: 10 };
const states = { workflow: 'blog', after: FIRST_STATES, limit: 10 };

export const LOOKS: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  status: (store) => workflowStatus(store, 'blog'),
  entities: (store) => listEntities(store, page),
  ...Object.fromEntries(
    PIPELINE_WORDS.map((status) => [
      `entities that are ${status}`,
      (store: Store) => listEntities(store, { ...page, status }),
    ]),
  ),
  manifests: (store) => listManifests(store, page),
  entity: (store) => readEntity(store, one),
  states: (store) => listStates(store, states),
  'states of a stage': (store) => listStates(store, { ...states, stage: 'blog' }),
  'states of an entity': (store) => listStates(store, { ...states, entity: 'e7', status: 'waiting' }),
  ...Object.fromEntries(
    COUNTED_WORDS.map((status) => [
      `states that are ${status}`,
      (store: Store) => listStates(store, { ...states, status }),
    ]),
  ),
  why: (store) => explainState(store, one),
  attempts: (store) => listAttempts(store, { ...one, before: 1_000, limit: 10 }),
  events: (store) => listEvents(store, { after: 0, limit: 10 }),
  'events of a workflow': (store) => listEvents(store, { after: 0, limit: 10, workflow: 'blog' }),
  'the newest event': (store) => newestEvent(store),
  machines: (store) => listMachines(store),
  metrics: (store) => readMetrics(store),
  'names nearby': (store) => nearEntities(store, 1, 'e7'),
};
