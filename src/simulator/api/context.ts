import type { Clock } from '../../units/clock.js';
import type { CelEvaluator } from '../crd/cel-rules.js';
import type { Random } from '../model/random.js';
import type { Catalog } from './resources.js';
import type { Store } from './store.js';

/** What the handlers of the API share. */
export interface ApiContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly catalog: Catalog;
  readonly store: Store;
  /** What `GET /api` names; null: the address of the request. */
  readonly advertisedAddress: string | null;
  /** Evaluates the rules of CustomResourceDefinitions; null where that library is missing. */
  readonly cel: CelEvaluator | null;
  /** The users that issued tokens stand for. */
  readonly tokens: Map<string, string>;
}
