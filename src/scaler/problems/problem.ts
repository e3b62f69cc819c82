import { cleanText } from '../../units/clean-text.js';

/** A position in a file. Line and column start at 1; columns count UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A problem of a document or of the service config. An error rejects the document or config; a warning does not. */
export interface Problem {
  /** A `ProblemCode`, for tests and scripts. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** Name of the file or the object; null: the value has none. */
  readonly file: string | null;
  readonly place: Position | null;
  /** Path of the field, such as `spec.metrics[0].pods.query`; empty for the whole document. */
  readonly path: string;
  readonly sourceLine: string | null;
  /** The document, as `NAMESPACE/NAME`. Set only in the service; absent: none or unknown. */
  readonly scaler?: string;
}

/** API path of Scaler objects. In a problem, the file name of a Scaler object starts with this path. */
export const OBJECTS_PATH = 'scalers.promscaler.dev';

export function isOfObject({ file }: Pick<Problem, 'file'>): boolean {
  return file?.startsWith(`${OBJECTS_PATH}/`) === true;
}

export function countErrors(problems: readonly Problem[]): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}

/** Adds the name of the document to its problems. `key` null: the name is unknown. */
export function ofScaler(problems: readonly Problem[], key: string | null): readonly Problem[] {
  return key === null ? problems : problems.map((problem) => ({ ...problem, scaler: key }));
}

const WIDEST_LINE = 120;
const KEPT_BEFORE_CARET = 60;

/**
 * Returns file, line, column and message in one line, and then the source line with a caret. No newline at the end.
 *
 *     scalers/web.yaml:12:16: error: spec.minReplicas is 5, must be at most spec.maxReplicas (3) [replica-bounds]
 *       12 |   minReplicas: 5
 *          |                ^
 */
export function formatProblem(problem: Problem): string {
  const { code, severity, message, file, place, path, sourceLine } = problem;
  const where = [file, place?.line, place?.column].filter((part) => part !== null && part !== undefined);
  const prefix = where.length > 0 ? where.join(':') : path;
  const head = `${prefix === '' ? '' : `${cleanText(prefix)}: `}${severity}: ${cleanText(message)} [${code}]`;
  if (place === null || sourceLine === null) return head;
  const gutter = String(place.line).padStart(4);
  const { text, column } = cutLine(sourceLine, place.column);
  const indent = text.slice(0, column - 1).replace(/[^\t]/g, ' ');
  return `${head}\n${gutter} | ${cleanText(text)}\n${' '.repeat(gutter.length)} | ${indent}^`;
}

function cutLine(line: string, column: number): { readonly text: string; readonly column: number } {
  if (line.length <= WIDEST_LINE) return { text: line, column };
  const from = Math.max(0, column - 1 - KEPT_BEFORE_CARET);
  const before = from > 0 ? '...' : '';
  const after = from + WIDEST_LINE < line.length ? '...' : '';
  return {
    text: `${before}${line.slice(from, from + WIDEST_LINE)}${after}`,
    column: column - from + before.length,
  };
}
