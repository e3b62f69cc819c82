import { isOfObject, type Problem } from '../scaler/problems/problem.js';

export interface RejectedVersion {
  /** The first error, on one line. */
  readonly cause: string;
  /**
   * Whether this object is not used because a file with the same name takes precedence. The file itself may be valid.
   */
  readonly isUnusedObject: boolean;
}

/** The fields of a problem that this file reads. Problems in responses of the API have them, too. */
export type Rejecting = Pick<Problem, 'severity' | 'code' | 'file' | 'path' | 'message'> & {
  readonly scaler?: string | null | undefined;
};

/** Returns whether the problem is that a file takes precedence over an object with the same name. */
export function isUnusedObject(problem: Pick<Problem, 'code' | 'file'>): boolean {
  return problem.code === 'duplicate-document' && isOfObject(problem);
}

/**
 * Returns why a version of a document is rejected; null: the version has no error. If a file takes precedence over an
 * object, only the errors of the file are named. If the file has none, the cause is that the object is not used.
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

/** Returns the clause about the rejection for the cause of a state that takes precedence over `Rejected`. */
export function describeRejection({ cause, isUnusedObject }: RejectedVersion): string {
  return isUnusedObject
    ? 'the Scaler object with this name is not used'
    : `the newest version of the document is rejected: ${cause}`;
}

/** `metadata.generation` of a Scaler object; null: unknown, or the document is a file. */
export interface Generations {
  /** The generation of the decision. */
  readonly generation: number | null;
  readonly newestGeneration: number | null;
}

/** Returns the names of the version in effect and of a newer version, such as `generation 1`. */
export function nameVersions({ generation, newestGeneration }: Generations): {
  readonly inEffect: string;
  readonly newest: string;
} {
  return {
    inEffect: generation === null ? 'the last valid version' : `generation ${generation}`,
    newest: usesOlderVersion({ generation, newestGeneration })
      ? `generation ${newestGeneration}`
      : 'the newest version',
  };
}

/** Returns whether the decision is known not to use the newest generation of a Scaler object. */
export function usesOlderVersion({ generation, newestGeneration }: Generations): boolean {
  return generation !== null && newestGeneration !== null && newestGeneration !== generation;
}

/**
 * Returns which version of the document a decision uses, if that is not the newest one or if the newest one is
 * rejected; null: the decision uses the newest version, or the document is a valid file.
 */
export function describeVersions(generations: Generations, isRejected: boolean): string | null {
  const { newestGeneration } = generations;
  const { inEffect, newest } = nameVersions(generations);
  if (isRejected) return `this decision uses ${inEffect}, because ${newest} is rejected`;
  if (!usesOlderVersion(generations)) return null;
  return `${inEffect}; the newest generation, ${newestGeneration}, has no decision yet`;
}

/**
 * Returns path and message on one line. The path is omitted if the message already begins with it, or with the path of
 * the enclosing object, as most messages do.
 */
export function problemLine({ path, message }: Pick<Problem, 'path' | 'message'>): string {
  const [named = ''] = message.split(/[\s:]/, 1);
  const isNamed = named !== '' && path.startsWith(named);
  return isNamed || message.startsWith(path) ? message : `${path}: ${message}`;
}
