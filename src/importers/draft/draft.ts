import type { Path } from '../../scaler/problems/finding.js';
import { type PlainObject, isPlainObject } from '../../scaler/plain-json.js';
import { PLACEHOLDER } from '../../scaler/read/check-document.js';

export interface DraftItem {
  readonly value: PlainObject;
  /** Source field in the manifest. */
  readonly from: Path;
  /**
   * Whether something is missing. The entry is then commented out, unless it contains a placeholder that names what is
   * missing.
   */
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

export function isCommentedOut({ isOff, value }: DraftItem): boolean {
  return isOff && !hasPlaceholder(value);
}

/** `validate` rejects the document until the placeholder is replaced. */
function hasPlaceholder(value: unknown): boolean {
  if (value === PLACEHOLDER) return true;
  if (Array.isArray(value)) return value.some(hasPlaceholder);
  return isPlainObject(value) && Object.values(value).some(hasPlaceholder);
}

/** Returns whether something is missing in a metric or schedule. */
export function isIncomplete({ metrics, schedules }: Draft): boolean {
  return [...metrics, ...schedules].some(({ isOff }) => isOff);
}
