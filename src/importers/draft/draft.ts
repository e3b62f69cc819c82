import type { Path } from '../../scaler/problems/finding.js';
import type { PlainObject } from '../../scaler/plain-json.js';

export interface DraftItem {
  readonly value: PlainObject;
  /** Source field in the manifest. */
  readonly from: Path;
  /** Whether the entry is commented out, because something is missing. */
  readonly isOff: boolean;
}

/** A scaler document before it is written as YAML. */
export interface Draft {
  readonly metadata: PlainObject;
  /** All fields except `metrics` and `schedules`. */
  readonly spec: PlainObject;
  readonly metrics: readonly DraftItem[];
  readonly schedules: readonly DraftItem[];
}

/** Lists whose entries may be commented out. */
export const ITEM_LISTS = ['metrics', 'schedules'] as const;

export type ItemList = (typeof ITEM_LISTS)[number];

/** Omits undefined members. */
export function defined(members: PlainObject): PlainObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Returns whether a metric or schedule is commented out. */
export function isIncomplete({ metrics, schedules }: Draft): boolean {
  return [...metrics, ...schedules].some(({ isOff }) => isOff);
}
