import type { Clock } from '../../units/clock.js';
import type { Random } from '../model/random.js';
import type { Catalog } from './resources.js';
import type { Store } from './store.js';

/** What the handlers of the API share. */
export interface ApiContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly catalog: Catalog;
  readonly store: Store;
}
