import type { OtherScaler, ScaleTarget } from '../../kubernetes/api/types.js';
import type { Pause } from '../../telemetry/cycle-record.js';

/** What a cycle has read besides the snapshot. It decides whether a decision is carried out, not the decision. */
export interface Circumstances {
  readonly target: ScaleTarget;
  readonly otherScaler: OtherScaler | null;
  readonly pause: Pause | null;
  /** Why the state store is unusable for this scaler; null: it is usable. */
  readonly degraded: string | null;
  readonly isDryRun: boolean;
}
