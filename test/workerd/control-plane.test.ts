// The control plane as a Worker: the built bundle in workerd, with sqld behind it.

import { behaviours } from '../api/control-plane/behaviours.ts';
import { startInWorkerd } from '../rig/control-plane-shapes.ts';

behaviours(startInWorkerd);
