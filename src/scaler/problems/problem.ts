/** Both start at 1; columns count UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A problem of a document or of the service config. An error rejects it, a warning does not. */
export interface Problem {
  /** A `ProblemCode`, for tests and scripts. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** Name of the file or object; null: none. */
  readonly file: string | null;
  readonly place: Position | null;
  /** Path of the field, such as `spec.metrics[0].pods.query`; empty for the whole document. */
  readonly path: string;
  readonly sourceLine: string | null;
  /** `NAMESPACE/NAME` of the document, for problems of a service. Absent: none or unknown. */
  readonly scaler?: string;
}

export function countErrors(problems: readonly Problem[]): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}

/** Adds the name of the document. `key`: null: unknown. */
export function ofScaler(problems: readonly Problem[], key: string | null): readonly Problem[] {
  return key === null ? problems : problems.map((problem) => ({ ...problem, scaler: key }));
}
