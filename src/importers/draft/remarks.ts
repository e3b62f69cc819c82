import type { Path } from '../../scaler/problems/finding.js';

/** Something about a manifest that its reader must know. */
export interface Remark {
  /** The field of the manifest; empty: the manifest as a whole. */
  readonly path: Path;
  /** A statement. Lines after the first are for the comment only. */
  readonly message: string;
  /** The place of the comment in the scaler document. Indexes count the metrics and schedules that are commented out. */
  readonly at: Path;
  /** `loss`: something is not carried over. `note`: everything is, but it is worth a comment. */
  readonly kind: 'loss' | 'note';
}

/** Collects the remarks of one manifest. */
export interface RemarkLog {
  readonly lose: (path: Path, message: string) => void;
  readonly note: (path: Path, message: string) => void;
  /** Returns a log whose comments all have this place; without it, a comment has the path of its field. */
  readonly at: (place: Path) => RemarkLog;
}

/** Creates a log that appends to `remarks`. */
export function createRemarkLog(remarks: Remark[], place?: Path): RemarkLog {
  const add = (kind: Remark['kind'], path: Path, message: string): void => {
    remarks.push({ path, message, at: place ?? path, kind });
  };
  return {
    lose: (path, message) => add('loss', path, message),
    note: (path, message) => add('note', path, message),
    at: (other) => createRemarkLog(remarks, other),
  };
}
