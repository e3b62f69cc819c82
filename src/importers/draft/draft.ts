import type { Path } from '../../scaler/problems/finding.js';
import { isPlainObject, type PlainObject } from '../../scaler/plain-json.js';
import { PLACEHOLDER } from '../../scaler/read/parse-scaler.js';

export interface DraftItem {
  readonly value: PlainObject;
  /** The field in the manifest from which the entry was made. */
  readonly from: Path;
  /** Whether the entry is incomplete. If it contains no placeholder, it is commented out in the document. */
  readonly isOff: boolean;
  /** The selector of the metric in the manifest, such as `queue="mail"`, which only a query of the entry contains. */
  readonly matchers?: readonly string[];
}

/** A scaler document that is not written as YAML yet. */
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

/** Returns an object without its undefined members. */
export function defined(members: PlainObject): PlainObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

export function isCommentedOut({ isOff, value }: DraftItem): boolean {
  return isOff && !hasPlaceholder(value);
}

/** Returns whether a value contains a placeholder, which `validate` rejects until the user replaces it. */
function hasPlaceholder(value: unknown): boolean {
  if (value === PLACEHOLDER) return true;
  if (Array.isArray(value)) return value.some(hasPlaceholder);
  return isPlainObject(value) && Object.values(value).some(hasPlaceholder);
}

export function isIncomplete({ metrics, schedules }: Draft): boolean {
  return [...metrics, ...schedules].some(({ isOff }) => isOff);
}

/** What the user should know about the conversion of a manifest. */
export interface Remark {
  /** The field of the manifest; empty: the whole manifest. */
  readonly path: Path;
  /** The first line is a sentence, which is also printed on standard error. Further lines are only in the comment. */
  readonly message: string;
  /** Where the comment is placed in the scaler document. Indexes of lists include entries that are commented out. */
  readonly at: Path;
  /** `loss`: something is not converted. `note`: everything is converted, but an explanation is needed. */
  readonly kind: 'loss' | 'note';
}

export interface RemarkLog {
  readonly lose: (path: Path, message: string) => void;
  readonly note: (path: Path, message: string) => void;
  /** Returns a log that places all comments at `draftPath` instead of at their fields. */
  readonly at: (draftPath: Path) => RemarkLog;
}

export function createRemarkLog(remarks: Remark[], draftPath?: Path): RemarkLog {
  const add = (kind: Remark['kind'], path: Path, message: string): void => {
    remarks.push({ path, message, at: draftPath ?? path, kind });
  };
  return {
    lose: (path, message) => add('loss', path, message),
    note: (path, message) => add('note', path, message),
    at: (other) => createRemarkLog(remarks, other),
  };
}
