// A thread of its own: looks at the rest of a large snapshot while the first thread loads what works on the difference.

import { parentPort, workerData } from 'node:worker_threads';
import { differingRows } from './clean-snapshot.ts';

const { file, key, from } = workerData as {
  readonly file: string;
  readonly key: string;
  readonly from: number;
};
parentPort?.postMessage(differingRows(file, key, from));
