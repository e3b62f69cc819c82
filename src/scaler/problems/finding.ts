import type { ProblemCode } from './problem-codes.js';

/** Keys and list indexes from the root of a document. */
export type Path = readonly (string | number)[];

/** A problem without its file, line and column; `LocatedDocument.place` adds them. */
export interface Finding {
  readonly code: ProblemCode;
  /** A sentence with the field, its value and the rule. */
  readonly message: string;
  readonly path: Path;
  /** Where the caret points. A missing field is shown at its place in the parent. */
  readonly at: 'key' | 'value';
  /** Offset in the string at `path`, in UTF-16 code units; null: its start. */
  readonly offset: number | null;
}

/** Whether the path, or a path below it, already has a finding, so that a missing value is not reported, too. */
export type IsBroken = (path: Path) => boolean;

/** A file of 1 MiB can have hundreds of thousands. */
export const MAX_FINDINGS = 100;

/** Returns the first `MAX_FINDINGS` and one finding that says that there are more. */
export function capFindings(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= MAX_FINDINGS) return findings;
  return [...findings.slice(0, MAX_FINDINGS), finding(TOO_MANY.code, [], TOO_MANY.message)];
}

export const TOO_MANY = {
  code: 'too-many-problems',
  message: `the first ${MAX_FINDINGS} problems of this document are listed, there are more`,
} as const;

export function finding(code: ProblemCode, path: Path, message: string): Finding {
  return { code, message, path, at: 'value', offset: null };
}

/** Returns `spec.metrics[0].pods.query`. A key with other characters is quoted; the path of the document is empty. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w.$-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

const LONGEST_VALUE = 60;

/** Returns a value as JSON, cut off after 60 characters. */
export function formatValue(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return String(value);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}...`;
}
