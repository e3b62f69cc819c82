/** A position in a text. Both numbers start at 1; columns count UTF-16 code units. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A mistake in a document or the service config. An error rejects it, a warning does not. */
export interface Problem {
  /** One of `ProblemCode`, for tests and scripts. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** The name of the file or object; null for a value without one. */
  readonly file: string | null;
  readonly place: Place | null;
  /** The field, such as `spec.metrics[0].pods.query`; empty for the whole document. */
  readonly path: string;
  /** The line of `place`, for the caret. */
  readonly sourceLine: string | null;
}

export function countErrors(problems: readonly Problem[]): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}
