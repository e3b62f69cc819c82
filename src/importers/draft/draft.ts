import type { Path } from '../../scaler/problems/finding.js';
import type { PlainObject } from '../../scaler/plain-json.js';

/** A metric or schedule of the scaler document. */
export interface DraftItem {
  readonly value: PlainObject;
  /** The field of the manifest that it comes from. */
  readonly from: Path;
  /** Written as a comment: something is missing. */
  readonly isOff: boolean;
}

/** A scaler document before it is written. */
export interface Draft {
  readonly metadata: PlainObject;
  /** All fields but `metrics` and `schedules`. */
  readonly spec: PlainObject;
  readonly metrics: readonly DraftItem[];
  readonly schedules: readonly DraftItem[];
}

/** The lists of a draft whose entries may be commented out. */
export const ITEM_LISTS = ['metrics', 'schedules'] as const;

export type ItemList = (typeof ITEM_LISTS)[number];

/** Returns an object without its undefined members. */
export function defined(members: PlainObject): PlainObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
