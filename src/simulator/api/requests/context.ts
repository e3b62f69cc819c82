import type { CelEvaluator } from '../../validation/cel-rules.js';
import type { ClusterState } from '../../objects/store.js';

export interface ApiContext extends ClusterState {
  /** The address in the answer to `GET /api`; null: the host of the request. */
  readonly advertisedAddress: string | null;
  /** Evaluates CEL rules; null: the optional library is not installed. */
  readonly cel: CelEvaluator | null;
  readonly tokens: Map<string, string>;
}
