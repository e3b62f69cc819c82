import type { ScalerSpec } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';
import type { Ceiling } from './ceiling.js';
import type { Bounds } from './bounds.js';
import type { LimitStep } from '../result/decision.js';
import type { Recommendation, State } from '../snapshot/snapshot.js';

export interface LimitContext {
  readonly now: Instant;
  /** `minReplicas` and `maxReplicas` are the bounds in effect, including those of schedules. */
  readonly spec: ScalerSpec;
  readonly bounds: Bounds;
  /** The ceiling of `maxReplicasFrom`; null: none. */
  readonly queriedMax: Ceiling | null;
  readonly current: number;
  /** The largest proposal, before any limit. */
  readonly recommended: number;
  /**
   * Recommendations of earlier decisions. In the first decision, the current count is the only recommendation
   * (`seedRecommendations`). Source: algorithm.md, point 26.
   */
  readonly recommendations: readonly Recommendation[];
  readonly state: State;
}

export type Limited = Omit<LimitStep, 'limit' | 'from'>;

/** Returns the limited count and the reason, or null if the limit does not change `replicas`. Pure. */
export type Limit = (replicas: number, context: LimitContext) => Limited | null;
