// The control plane as a Node server, over HTTP with tokens.

import { startNodeServer } from '../../rig/control-plane-shapes.ts';
import { behaviours } from './behaviours.ts';

behaviours(startNodeServer);
