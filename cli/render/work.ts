// What `sluice work` says: what it is and has, once, and then a line for each state.

import type { Capacity } from '../../runner/capacity.ts';
import type { Performed } from '../../runner/performed.ts';
import type { Answer } from '../../runner/post-results.ts';
import { shown } from '../../schema/diagnostic.ts';
import type { Io } from '../command.ts';
import { nameOf } from '../run/results.ts';
import { renderState, renderWarning } from './run.ts';

interface Working {
  readonly url: string;
  readonly runner: string;
  readonly target: string;
  readonly capacity: Capacity;
  readonly allowed: ReadonlyMap<string, string> | null;
}

export function renderWorking({ url, runner, target, capacity, allowed }: Working, io: Io): string {
  const { cores, memoryBytes, gpu, pools } = capacity;
  const has = [
    `${cores} ${cores === 1 ? 'core' : 'cores'}`,
    ...(memoryBytes === null ? [] : [`${(memoryBytes / 2 ** 30).toFixed(1)} GiB`]),
    ...(gpu === 0 ? [] : [`${gpu} gpu`]),
    ...Object.entries(pools).map(([name, slots]) => `${slots} of ${shown(name)}`),
  ];
  const what =
    allowed === null
      ? 'every command that this control plane hands out is run here; --allow names those that may be'
      : `only ${[...allowed].map(([name, hash]) => `${shown(name)}@${hash.slice(0, 15)}`).join(', ')} may run here`;
  const line = `working for ${url} on the target '${shown(target)}' as ${shown(runner)}, with ${has.join(', ')}`;
  return `${line}\n${allowed === null ? renderWarning(what, io) : `${what}\n`}`;
}

/** Nothing about what was found to be fresh, or given back. */
export function renderPosted(performed: Performed, { result, retryAt }: Answer, io: Io): string {
  const { item, files, post, reasons, seconds, warnings } = performed;
  const name = `${item.workflow}/${nameOf(files.stage, files.entity)}`;
  const told = warnings.map((warning) => renderWarning(warning, io)).join('');
  const state = { name, stage: files.stage.id, entity: files.entity, reasons, seconds };
  if (post.kind === 'release') return told;
  if (result === 'lost')
    return told + renderWarning(`${name}: its lease was lost, so this result does not count`, io);
  if (post.kind === 'fail') {
    const { error, log_tail } = post.item;
    const again =
      retryAt === null
        ? ''
        : `\nit is tried again in ${Math.max(0, Math.round((retryAt - Date.now()) / 1_000))} s`;
    const said = log_tail === undefined || log_tail === '' ? error : `${error}\n${log_tail}`;
    return told + renderState({ ...state, status: 'failed', error: said + again }, io);
  }
  if (post.item.outcome !== 'made') return told;
  return told + renderState({ ...state, status: 'completed', error: null }, io);
}
