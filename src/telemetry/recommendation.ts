import type { FieldChange } from '../scaler/field-changes.js';
import type { Instant } from '../units/time.js';

/**
 * The condition of the nightly back-tests, in the form of `--recommend`: theta_U (under-provisioning) of the change is
 * at most that of the document (plus `MAX_WORSE_THETA_U`).
 */
export const RECOMMEND_CONDITION = 'theta_U<=document';

/** The result of the last back-test of a document: a change of its settings, or why there is none. */
export interface Recommendation {
  /** When the back-test ended. */
  readonly at: Instant;
  /** The time range of the history that the back-test used. */
  readonly from: Instant;
  readonly to: Instant;
  readonly stepSeconds: number;
  /** The recommended changes; empty: keep the document as it is. */
  readonly changes: readonly FieldChange[];
  /** A JSON merge patch of the document; null: there is no change. */
  readonly patch: string | null;
  readonly reason: string;
  /**
   * The pod-hours saved, in percent; negative: more are needed. `lowest` and `highest`: the lowest and the highest
   * saving in a part of the history. Null: there is no change.
   */
  readonly saving: { readonly percent: number; readonly lowest: number; readonly highest: number } | null;
  /** Under-provisioning with the document and with the change, in percent; null: there is no change. */
  readonly thetaU: { readonly current: number; readonly proposed: number } | null;
}

/** The fields of a recommendation to keep the document as it is. */
export const NO_CHANGE = {
  changes: [],
  patch: null,
  saving: null,
  thetaU: null,
} as const satisfies Partial<Recommendation>;
