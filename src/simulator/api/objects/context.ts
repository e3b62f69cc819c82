import type { CelEvaluator } from '../../crd/cel-rules.js';
import type { ClusterState } from '../../objects/cluster-state.js';

/** What the handlers of the API share. */
export interface ApiContext extends ClusterState {
  /** The address in the answer to `GET /api`; null: the address of the request. */
  readonly advertisedAddress: string | null;
  /** Evaluates the rules of CustomResourceDefinitions; null if its library is not installed. */
  readonly cel: CelEvaluator | null;
  /** Issued tokens, and the user of each. */
  readonly tokens: Map<string, string>;
}
