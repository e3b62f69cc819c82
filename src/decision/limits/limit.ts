import type { ScalerSpec } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';
import type { Bounds } from '../schedules.js';
import type { Recommendation, State } from '../snapshot.js';

/** What every limit may look at. */
export interface LimitContext {
  readonly now: Instant;
  /** `minReplicas` and `maxReplicas` are those in force. */
  readonly spec: ScalerSpec;
  /** Where the bounds in force come from. */
  readonly bounds: Bounds;
  /** `specReplicas` of the target. */
  readonly current: number;
  /** The result of picking, before any limit. */
  readonly recommended: number;
  /** Recommendations of earlier decisions, that of the first one included (algorithm.md, point 26). */
  readonly recommendations: readonly Recommendation[];
  readonly state: State;
}

/** A count as a limit changes it. */
export interface Limited {
  readonly to: number;
  readonly reason: string;
  /** When the limit lets go; null where that depends on more than time. */
  readonly until: Instant | null;
}

/** One step: takes a count, gives another one with the reason, or null where it leaves it. Pure. */
export type Limit = (replicas: number, context: LimitContext) => Limited | null;
