import type { Clock } from '../../units/clock.js';
import type { Random } from '../model/random.js';
import type { Catalog } from './resources.js';
import type { Store } from './store.js';

/** The state that the API server and the controllers share. */
export interface ClusterState {
  readonly clock: Clock;
  readonly random: Random;
  readonly catalog: Catalog;
  readonly store: Store;
}
