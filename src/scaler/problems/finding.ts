import type { ProblemCode } from './problem-codes.js';

/** Into a document: keys and list positions from its top. */
export type Path = readonly (string | number)[];

/** A problem that does not know its file yet: place.ts makes a `Problem` of it. */
export interface Finding {
  readonly code: ProblemCode;
  /** Everything but the place; it names the field, its value and the rule. */
  readonly message: string;
  readonly path: Path;
  /** What the caret points at: the field's key or its value. A missing field is pointed at where it should be. */
  readonly at: 'key' | 'value';
  /** Into the text of the value at `path`, in UTF-16 units; null: its start. */
  readonly offset: number | null;
}

/** Whether something at or under a path is refused already, so that a rule about what is missing keeps silent. */
export type IsBroken = (path: Path) => boolean;

/** Nobody reads more of one document; a file of 1 MiB can have hundreds of thousands. */
export const MAX_FINDINGS = 100;

/** The first `MAX_FINDINGS`, and one that says that there are more. */
export function capFindings(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= MAX_FINDINGS) return findings;
  return [...findings.slice(0, MAX_FINDINGS), finding(tooMany.code, [], tooMany.message)];
}

/** What stands in the place of the problems of a document that are not listed. */
export const tooMany = {
  code: 'too-many-problems',
  message: `the first ${MAX_FINDINGS} problems of this document are listed, there are more`,
} as const;

/** A finding at the value of `path`. */
export function finding(code: ProblemCode, path: Path, message: string): Finding {
  return { code, message, path, at: 'value', offset: null };
}

/** `spec.metrics[0].pods.query`; a key that is no plain word is quoted; empty for the whole document. */
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

/** A value as a message shows it: JSON, cut off after 60 characters. */
export function formatValue(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return String(value);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}...`;
}
