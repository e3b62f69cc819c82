import type { CelEvaluator } from '../../validation/cel-rules.js';
import type { ClusterState } from '../../objects/store.js';

export interface ApiContext extends ClusterState {
  /** The address in the response to `GET /api`; null: the host of the request. */
  readonly advertisedAddress: string | null;
  /** Evaluates CEL validation rules; null if the optional library is not installed. */
  readonly cel: CelEvaluator | null;
  readonly tokens: Map<string, string>;
}
