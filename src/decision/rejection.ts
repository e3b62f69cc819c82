import { isOfObject, type Problem } from '../scaler/problems/problem.js';

export interface RejectedVersion {
  /** The first error, in one line. */
  readonly cause: string;
  /** Whether a file with the same name takes precedence over this object. The file may be valid. */
  readonly isUnusedObject: boolean;
}

/** Fields of a problem that a rejection needs. The API has these fields, too. */
export type Rejecting = Pick<Problem, 'severity' | 'code' | 'file' | 'path' | 'message'> & {
  readonly scaler?: string | null | undefined;
};

/** Returns whether a file takes precedence over an object with the same name. */
export function isUnusedObject(problem: Pick<Problem, 'code' | 'file'>): boolean {
  return problem.code === 'duplicate-document' && isOfObject(problem);
}

/**
 * Returns why a version of a document is rejected; null: it has no error. Errors of an unused object are named only if
 * there are no others.
 */
export function rejectionOf(problems: readonly Rejecting[]): RejectedVersion | null {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const unused = errors.find(isUnusedObject);
  const others = errors.filter(({ file }) => unused === undefined || file !== unused.file);
  const [first = unused] = others;
  if (first === undefined) return null;
  const more = others.length < 2 ? '' : `, and ${others.length - 1} more`;
  return { cause: `${problemLine(first)}${more}`, isUnusedObject: others.length === 0 };
}

/** Returns a few words for a state that precedes the rejection. */
export function inShort({ isUnusedObject }: RejectedVersion): string {
  return isUnusedObject
    ? 'the Scaler object with this name is not used'
    : 'the newest version of the document is rejected';
}

/** Most messages already begin with the path, or with the path of the enclosing object. */
export function problemLine({ path, message }: Pick<Problem, 'path' | 'message'>): string {
  const [named = ''] = message.split(/[\s:]/, 1);
  const isNamed = named !== '' && path.startsWith(named);
  return isNamed || message.startsWith(path) ? message : `${path}: ${message}`;
}
