import { PROBLEM_CLASSES, type ProblemCode } from './problem-codes.js';
import type { Problem } from './problem.js';

/** Keys and list indexes from the root of the document. */
export type Path = readonly (string | number)[];

/** A problem without file, line and column. `LocatedDocument.locate` adds them. */
export interface Finding {
  readonly code: ProblemCode;
  /** Contains the field, its value and the rule. */
  readonly message: string;
  readonly path: Path;
  /** Where the caret points. A missing field is reported at its parent. */
  readonly at: 'key' | 'value';
  /** Offset in the string at `path`, in UTF-16 code units; null: start of the value. */
  readonly offset: number | null;
}

/**
 * Returns whether the path, or a path below it, already has a finding. Its missing value is then not reported again.
 */
export type IsBroken = (path: Path) => boolean;

/** A file of 1 MiB can have hundreds of thousands of problems. */
export const MAX_FINDINGS = 100;

/** Returns at most `MAX_FINDINGS`, and `TOO_MANY` if there are more. */
export function capFindings(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= MAX_FINDINGS) return findings;
  return [...findings.slice(0, MAX_FINDINGS), finding(TOO_MANY.code, [], TOO_MANY.message)];
}

export const TOO_MANY = {
  code: 'too-many-problems',
  message: `only the first ${MAX_FINDINGS} problems of this document are listed`,
} as const;

export function finding(code: ProblemCode, path: Path, message: string): Finding {
  return { code, message, path, at: 'value', offset: null };
}

/** Returns a path such as `spec.metrics[0].pods.query`, with unusual keys quoted. Empty for the whole document. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w.$-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** An action of a Go template, such as `{{ .Values.max }}`. Braces in YAML and PromQL have other contents. */
const TEMPLATE =
  /\{\{-?\s*(?:[.$(]|(?:if|else|end|with|range|define|block|template|include|tpl|toYaml|required|default|quote|lookup|printf|int)\b)[^{}]*\}\}/;

/** Finds the first action of a Helm template, or null. `message` says what to do. */
export function findTemplate(text: string): { readonly index: number; readonly message: string } | null {
  const match = TEMPLATE.exec(text);
  if (match === null) return null;
  const message = `${match[0]} is a template that is not rendered. Render it first, for example: helm template CHART | promscaler validate -`;
  return { index: match.index, message };
}

/** Characters of a value in a message. */
export const LONGEST_VALUE = 60;

/** Returns JSON, truncated to 60 characters and an ellipsis. */
export function formatValue(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return String(value);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}...`;
}

/** Messages and paths can contain names and keys of the document, which may be 1 MiB long. */
const LONGEST_MESSAGE = 1000;
const LONGEST_PATH = 500;

/** Returns a problem without line and column, for a whole file or a value that has no source. */
export function unplacedProblem(
  { code, message, path = [] }: Pick<Finding, 'code' | 'message'> & Partial<Pick<Finding, 'path'>>,
  file: string | null = null,
): Problem {
  return {
    code,
    severity: PROBLEM_CLASSES[code] === 'warning' ? 'warning' : 'error',
    message: cutOff(message, LONGEST_MESSAGE),
    file,
    place: null,
    path: cutOff(formatPath(path), LONGEST_PATH),
    sourceLine: null,
  };
}

function cutOff(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}...`;
}

export interface LocatedDocument {
  /** Plain JSON; undefined if the document could not be read. */
  readonly value: unknown;
  /** Problems found while parsing. A YAML document with duplicate keys has problems and a value. */
  readonly problems: readonly Problem[];
  /** Adds the file to a finding and, for YAML, line and column. */
  readonly locate: (finding: Finding) => Problem;
}

/** Returns the problems of one document in the order of their lines; problems without a position come first. */
export function inLineOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    ({ place: a }, { place: b }) => (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0),
  );
}

/** Returns at most `MAX_FINDINGS` problems, sorted by line and column. */
export function locateAll(
  findings: readonly Finding[],
  locate: LocatedDocument['locate'],
): readonly Problem[] {
  return inLineOrder(capFindings(findings).map(locate));
}

const LONGEST_CAUSE = 200;

/** A document that triggers a bug is rejected like an invalid one. The service can then read the other documents. */
export function internalErrorMessage(cause: unknown): string {
  const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return `reading failed (${text.slice(0, LONGEST_CAUSE)}): this is a bug in promscaler, please report it with the document`;
}
