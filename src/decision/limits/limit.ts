import type { ScalerSpec } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';
import type { Ceiling } from './ceiling.js';
import type { Bounds } from './scheduled-bounds.js';
import type { Recommendation, State } from '../snapshot/snapshot.js';

export interface LimitContext {
  readonly now: Instant;
  /** `minReplicas` and `maxReplicas` are the bounds in effect, including those of schedules. */
  readonly spec: ScalerSpec;
  readonly bounds: Bounds;
  /** The ceiling of `maxReplicasFrom`; null: none. */
  readonly ceiling: Ceiling | null;
  readonly current: number;
  /** The largest proposal, before any limit. */
  readonly recommended: number;
  /** Recommendations of earlier decisions, including the seed of the first decision. Source: algorithm.md, point 26. */
  readonly recommendations: readonly Recommendation[];
  readonly state: State;
}

export interface Limited {
  readonly to: number;
  readonly reason: string;
  /** When the limit ends; null if that depends on more than time. */
  readonly until: Instant | null;
}

/** Returns another count with the reason, or null to keep the count. Pure. */
export type Limit = (replicas: number, context: LimitContext) => Limited | null;
