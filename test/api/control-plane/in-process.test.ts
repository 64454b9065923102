// The control plane inside another program, on an embedded file.

import { startInProcess } from '../../rig/control-plane-shapes.ts';
import { behaviours } from './behaviours.ts';

behaviours(startInProcess);
