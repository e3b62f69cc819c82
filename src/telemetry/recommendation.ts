import type { FieldChange } from '../scaler/field-changes.js';
import type { Instant } from '../units/time.js';

/** The condition of `backtest --recommend`: fewer pod-hours, and no more under-provisioning than the document. */
export const RECOMMEND_CONDITION = 'theta_U<=document';

/** Result of the last back-test of a document: one change of its settings, or why there is none. */
export interface Recommendation {
  /** When the back-test ended. */
  readonly at: Instant;
  /** The time range of the history that it used. */
  readonly from: Instant;
  readonly to: Instant;
  readonly stepSeconds: number;
  /** Empty: keep the document as it is. */
  readonly changes: readonly FieldChange[];
  /** JSON merge patch of the document; null without changes. */
  readonly patch: string | null;
  readonly reason: string;
  /** Percent of the pod-hours; negative: more are needed. Lowest and highest: of any part. Null without changes. */
  readonly saving: { readonly percent: number; readonly lowest: number; readonly highest: number } | null;
  /** Under-provisioning of the document and of the change, in percent. Null without changes. */
  readonly thetaU: { readonly current: number; readonly proposed: number } | null;
}

/** A recommendation to keep the document as it is. */
export const NO_CHANGE = {
  changes: [],
  patch: null,
  saving: null,
  thetaU: null,
} as const satisfies Partial<Recommendation>;
