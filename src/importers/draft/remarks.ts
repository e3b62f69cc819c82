import type { Path } from '../../scaler/problems/finding.js';

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
