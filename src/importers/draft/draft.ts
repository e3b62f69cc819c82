import type { Path } from '../../scaler/problems/finding.js';
import { isPlainObject, type PlainObject } from '../../scaler/plain-json.js';
import { PLACEHOLDER } from '../../scaler/read/parse-scaler.js';

export interface DraftItem {
  readonly value: PlainObject;
  /** Source field in the manifest. */
  readonly from: Path;
  /** Whether something is missing. Such an entry is commented out, unless a placeholder names what is missing. */
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

export function isIncomplete({ metrics, schedules }: Draft): boolean {
  return [...metrics, ...schedules].some(({ isOff }) => isOff);
}

/** A message about a manifest for the user. */
export interface Remark {
  /** Field of the manifest; empty: the whole manifest. */
  readonly path: Path;
  /** A sentence. Further lines appear only in the comment. */
  readonly message: string;
  /** The position of the comment in the scaler document. List indexes include entries that are commented out. */
  readonly at: Path;
  /** `loss`: a part is not converted. `note`: everything is converted, but needs an explanation. */
  readonly kind: 'loss' | 'note';
}

export interface RemarkLog {
  readonly lose: (path: Path, message: string) => void;
  readonly note: (path: Path, message: string) => void;
  /** Returns a log that writes all comments at `draftPath` instead of at the path of their field. */
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
