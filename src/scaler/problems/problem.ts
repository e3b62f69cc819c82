/** A place in a text, both numbers from 1; columns count UTF-16 units. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Something wrong with what a user wrote, with its place. An error refuses the document, a warning does not. */
export interface Problem {
  /** Closed, kebab-case, one for each rule; what tests and scripts match on. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  /** A sentence with name, value and rule: `spec.minReplicas is 5, must be at most spec.maxReplicas (3)`. */
  readonly message: string;
  /** As the user named it; null for a value that came from no file. */
  readonly file: string | null;
  readonly place: Place | null;
  /** Into the document: `spec.metrics[0].pods.query`; empty for the whole of it. */
  readonly path: string;
  /** The source line that holds `place`, for the caret; null where there is none. */
  readonly sourceLine: string | null;
}

/** How many of the problems are errors. */
export function countErrors(problems: readonly Problem[]): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}
