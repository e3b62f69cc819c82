import * as z from 'zod';
import { type Finding, formatPath, type Path } from '../scaler/problems/finding.js';
import { isPlainObject } from '../scaler/plain-json.js';
import type { Problem } from '../scaler/problems/problem.js';
import { QUERY_VARIABLES } from '../scaler/rules/query-rules.js';
import { serviceSchema } from './service-schema.js';

const REDACTED = '***';

/** Names of fields and enum values in the schema. They are never secrets. */
const VOCABULARY: ReadonlySet<string> = new Set([
  ...wordsOf(serviceSchema),
  ...QUERY_VARIABLES,
  ...['default', 'true', 'false', 'null', 'Authorization', 'apiVersion', 'kind', 'cpu', 'memory', 'window'],
]);

/** Fields whose values may be secrets. In any other field, a secret is recognized by its form. */
const SECRET_FIELD =
  /auth|token|password|passwd|secret|credential|header|bearer|api-?key|file|urls?$|user|params|client|scopes|kubeconfig|context/i;

/** Values that were probably meant as numbers: `5`, `5m`, `0.5`, `500MB`. */
const NUMBER_LIKE = /^[+-]?\d{1,9}(?:\.\d{1,9})?\s?[A-Za-z]{0,3}$/;
const NAME_LIKE = /^[A-Za-z][A-Za-z_]{0,31}$/;
const SOURCE_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const SHORTEST_SECRET = 4;

/**
 * Returns a value for a message. Shows numbers, booleans and words of the schema, but only the type of any other value:
 * any field may contain a secret by mistake, such as a token as a file name or a password in a URL.
 */
export function describeValue(value: unknown, path: Path): string {
  if (Array.isArray(value)) return 'a list';
  if (isPlainObject(value)) return 'an object';
  if (path.some(isSecretField)) return typeof value === 'string' ? `"${REDACTED}"` : `a ${typeof value}`;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return NUMBER_LIKE.test(String(value)) ? String(value) : 'a number';
  if (typeof value !== 'string') return `a ${typeof value}`;
  return VOCABULARY.has(value) || NUMBER_LIKE.test(value) ? JSON.stringify(value) : `"${REDACTED}"`;
}

export function redactFinding(found: Finding, texts: readonly string[]): Finding {
  const { path, message } = found;
  const isHeader = path.includes('headers') && message.startsWith(`${formatPath(path)} is `);
  let clean = isHeader
    ? `${formatPath(path)} must be a string of one line (its value is not shown)`
    : message;
  // Replaces longer paths first: they contain the shorter paths, and would not be found after those were replaced.
  for (let length = path.length; length > 0; length -= 1) {
    const part = path.slice(0, length);
    clean = clean.replaceAll(formatPath(part), formatPath(redactPath(part)));
  }
  clean = clean
    .replaceAll(/"((?:[^"\\]|\\.)*)"/g, (quoted, text: string) =>
      isHarmless(text) ? quoted : `"${REDACTED}"`,
    )
    .replaceAll(/\$(\w+)/g, (variable, name: string) => (VOCABULARY.has(name) ? variable : `$${REDACTED}`));
  for (const text of texts) clean = clean.replaceAll(text, REDACTED);
  return { ...found, message: clean };
}

/**
 * Returns the strings of a config that may be secrets, longest first, because a string may contain a shorter string.
 */
export function possibleSecrets(value: unknown): readonly string[] {
  const found = new Set<string>();
  const collect = (item: unknown): void => {
    const text = typeof item === 'number' ? String(item) : item;
    if (typeof text === 'string' && text.length >= SHORTEST_SECRET && !isHarmless(text)) found.add(text);
    else if (Array.isArray(item)) item.forEach(collect);
    else if (isPlainObject(item)) Object.values(item).forEach(collect);
  };
  collect(value);
  return [...found].sort((a, b) => b.length - a.length);
}

/** Redacts the path of a problem. Removes its source line, unless the line has only numbers and words of the schema. */
export function redactProblem(problem: Problem, path: Path | null): Problem {
  const { sourceLine } = problem;
  return {
    ...problem,
    path: path === null ? problem.path : formatPath(redactPath(path)),
    sourceLine: sourceLine !== null && isHarmlessLine(sourceLine) ? sourceLine : null,
  };
}

/** Redacts a problem of the YAML parser. Only the start of its message is kept, because the parser quotes its input. */
export function redactYamlProblem(problem: Problem): Problem {
  return redactProblem({ ...problem, message: syntaxMessage(problem) }, null);
}

function syntaxMessage({ code, message }: Problem): string {
  switch (code) {
    case 'yaml-tag':
      return 'a tag is not supported; only plain YAML is read';
    case 'yaml-alias':
      return 'an alias is not supported: write the value instead';
    case 'yaml-version':
      return 'kubectl and Helm read this value differently: write a number without a leading zero, and a string in quotes';
    case 'yaml-syntax':
      return `not YAML: ${plainBeginning(message.replace(/^not YAML: /, ''))}`.trim();
    default:
      return message;
  }
}

/** Returns the start of a message, up to a version number or the first character that may begin a quotation. */
function plainBeginning(message: string): string {
  const ends = [message.indexOf('version'), message.search(/[^A-Za-z ,-]/)].filter((end) => end !== -1);
  return ends.length === 0 ? message : message.slice(0, Math.min(...ends));
}

function redactPath(path: Path): Path {
  return path.map((step, index) => (isHarmlessStep(path, index) ? step : REDACTED));
}

/**
 * Returns whether a step of a path can be shown. Names of data sources are not secrets, but names of headers and
 * parameters may be.
 */
function isHarmlessStep(path: Path, index: number): boolean {
  const step = path[index];
  if (typeof step !== 'string') return true;
  const parent = path[index - 1];
  if (parent === 'headers' || parent === 'endpointParams')
    return /^(authorization|x-scope-orgid)$/i.test(step);
  if (index === 1 && parent === 'prometheus') return SOURCE_NAME.test(step);
  return VOCABULARY.has(step) || NAME_LIKE.test(step);
}

function isSecretField(step: string | number): boolean {
  return typeof step === 'string' && SECRET_FIELD.test(step);
}

function isHarmless(text: string): boolean {
  return (
    text === REDACTED ||
    VOCABULARY.has(text) ||
    VOCABULARY.has(text.replace(/^\$/, '')) ||
    NUMBER_LIKE.test(text)
  );
}

function isHarmlessLine(line: string): boolean {
  const words = line.split(/[^\w.+$-]+/).filter((word) => word !== '' && word !== '-');
  const hasValue = words.some((word) => !VOCABULARY.has(word));
  if (hasValue && words.some((word) => SECRET_FIELD.test(word))) return false;
  return words.every((word) => VOCABULARY.has(word) || NUMBER_LIKE.test(word));
}

function wordsOf(schema: z.core.$ZodType, seen = new Set<z.core.$ZodType>()): readonly string[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return wordsOf(schema.unwrap(), seen);
  if (schema instanceof z.ZodArray) return wordsOf(schema.element, seen);
  if (schema instanceof z.ZodRecord) return wordsOf(schema.valueType, seen);
  if (schema instanceof z.ZodEnum) return schema.options.map(String);
  if (!(schema instanceof z.ZodObject)) return [];
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  return Object.entries(shape).flatMap(([name, member]) => [name, ...wordsOf(member, seen)]);
}
