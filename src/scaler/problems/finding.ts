import { PROBLEM_CLASSES, type ProblemCode } from './problem-codes.js';
import type { Problem } from './problem.js';

/** Keys and list indexes from the root of the document. */
export type Path = readonly (string | number)[];

/** A problem before its file, line and column are known. `LocatedDocument.locate` adds them. */
export interface Finding {
  readonly code: ProblemCode;
  /** Contains the field, its value and the rule. */
  readonly message: string;
  readonly path: Path;
  /** Whether the caret points at the key or at the value. A missing field is reported at its parent. */
  readonly at: 'key' | 'value';
  /** Where the caret points in the string at `path`, in UTF-16 code units; null: at the start of the value. */
  readonly offset: number | null;
  /** The missing field that a misspelled field most likely means. The missing field is then not reported, too. */
  readonly meant?: Path;
}

/** Returns whether there is already a finding at the path or below. A missing value is then not reported again. */
export type IsBroken = (path: Path) => boolean;

export function brokenIn(findings: readonly Finding[]): IsBroken {
  const broken = findings.flatMap((one) => [one.path, ...(one.meant === undefined ? [] : [one.meant])]);
  return (path) => broken.some((other) => path.every((step, index) => other[index] === step));
}

/** Limits the problems of a document. A file of 1 MiB can have hundreds of thousands of problems. */
export const MAX_FINDINGS = 100;

/** Returns the first `MAX_FINDINGS`, followed by `TOO_MANY` if there are more. */
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

/** Returns a path as text, with unusual keys in quotes: `spec.metrics[0].pods.query`. Empty: the whole document. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w.$-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/**
 * An action of a Go template, such as `{{ .Values.max }}`. Does not match double braces of YAML and PromQL, because
 * their contents differ.
 */
const TEMPLATE =
  /\{\{-?\s*(?:[.$(]|(?:if|else|end|with|range|define|block|template|include|tpl|toYaml|required|default|quote|lookup|printf|int)\b)[^{}]*\}\}/;

/** Finds the first action of a Helm template; null: there is none. `message` says what to do. */
export function findTemplate(text: string): { readonly index: number; readonly message: string } | null {
  const match = TEMPLATE.exec(text);
  if (match === null) return null;
  const message = `${match[0]} is a template that is not rendered. Render it first, for example: helm template CHART | promscaler validate -`;
  return { index: match.index, message };
}

/** Maximum length of a value in a message. */
export const LONGEST_VALUE = 60;

/** Returns a value as JSON. A value of more than 60 characters is cut off and ends with an ellipsis. */
export function formatValue(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return String(value);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}...`;
}

/** Limits messages and paths: they can contain names and keys of the document, which may be 1 MiB long. */
const LONGEST_MESSAGE = 1000;
const LONGEST_PATH = 500;

/** Returns a problem without line and column, for a whole file or for a value that is in no file. */
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
  /** The document as plain JSON; undefined: it could not be read. */
  readonly value: unknown;
  /** Problems found while parsing. A document with problems, such as duplicate keys, may also have a value. */
  readonly problems: readonly Problem[];
  /** Adds the file to a finding and, if the document is YAML, the line and column. */
  readonly locate: (finding: Finding) => Problem;
}

/** Returns the problems of one document in the order of their positions. Problems without a position come first. */
export function inLineOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    ({ place: a }, { place: b }) => (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0),
  );
}

/** Returns the problems of at most `MAX_FINDINGS` findings, sorted by line and column. */
export function locateAll(
  findings: readonly Finding[],
  locate: LocatedDocument['locate'],
): readonly Problem[] {
  return inLineOrder(capFindings(findings).map(locate));
}

const LONGEST_CAUSE = 200;

/**
 * Returns the message for a document that triggers a bug of promscaler. Such a document is rejected like an invalid
 * document, so that the service can still read all other documents.
 */
export function internalErrorMessage(cause: unknown): string {
  const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return `reading failed (${text.slice(0, LONGEST_CAUSE)}): this is a bug in promscaler, please report it with the document`;
}
