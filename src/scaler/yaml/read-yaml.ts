import {
  type Alias,
  type Document,
  LineCounter,
  Scalar,
  type YAMLError,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  visit,
  Composer,
  type CST,
  Parser,
} from 'yaml';
import {
  type Finding,
  findTemplate,
  formatPath,
  internalErrorMessage,
  type LocatedDocument,
  LONGEST_VALUE,
  MAX_FINDINGS,
  TOO_MANY,
  unplacedProblem,
} from '../problems/finding.js';
import { findKeyProblems, MAX_TOKENS, findYamlLimit } from './yaml-limits.js';
import type { ProblemCode } from '../problems/problem-codes.js';
import type { Problem } from '../problems/problem.js';
import { offsetInText } from './scalar-offset.js';

const MEBIBYTE = 1024 * 1024;

/** Limits the size of a file. It is the maximum size of a ConfigMap. */
export const MAX_FILE_BYTES = MEBIBYTE;

/** Limits the documents of one file, and of all files together. */
export const MAX_DOCUMENTS = 20_000;

const LONGEST_LINE = 10_000;

/** The limits of a file. Default: those of scaler documents. */
export interface YamlBounds {
  readonly bytes: number;
  /** Maximum number of tokens in a document. */
  readonly tokens: number;
}

const DOCUMENT_BOUNDS: YamlBounds = { bytes: MAX_FILE_BYTES, tokens: MAX_TOKENS };

interface Source {
  readonly text: string;
  readonly file: string | null;
  readonly lines: LineCounter;
}

/**
 * Parses YAML 1.2 and returns all documents that are not empty. Reports with a position: syntax errors, duplicate keys,
 * keys that are not strings, aliases, unknown tags, more than 1 MiB, and documents with more than 64 levels or 20,000
 * tokens. (Even a small file of aliases can expand to gigabytes.) `file` is the file name in problems.
 */
export function readYaml(
  text: string,
  file: string | null,
  bounds: YamlBounds = DOCUMENT_BOUNDS,
): readonly LocatedDocument[] {
  return [...eachYamlDocument(text, file, bounds)];
}

/** Parses each document when it is requested. An error that the parser throws becomes a problem. */
export function* eachYamlDocument(
  text: string,
  file: string | null,
  bounds: YamlBounds = DOCUMENT_BOUNDS,
): Generator<LocatedDocument> {
  const source: Source = { text, file, lines: new LineCounter() };
  try {
    yield* readSource(source, bounds);
  } catch (cause) {
    yield refused(source, 'internal-error', internalErrorMessage(cause), null);
  }
}

function* readSource(source: Source, bounds: YamlBounds): Generator<LocatedDocument> {
  const { text } = source;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > bounds.bytes) {
    const size = `${bounds.bytes} (${bounds.bytes / MEBIBYTE} MiB)`;
    yield refused(source, 'yaml-size', `the file has ${bytes} bytes, must be at most ${size}`, null);
    return;
  }
  const limit = findYamlLimit(text, bounds.tokens);
  if (limit !== null) {
    source.lines.addNewLine(0);
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
      source.lines.addNewLine(at + 1);
    yield refused(source, limit.code, limit.message, limit.offset);
    return;
  }
  let count = 0;
  for (const document of composeDocuments(text, source.lines)) {
    if (document.errors.length === 0 && !hasContent(document)) continue;
    count += 1;
    if (count > MAX_DOCUMENTS) {
      const message = `the file has more than ${MAX_DOCUMENTS} documents; the rest is not read`;
      yield refused(source, 'yaml-count', message, document.range?.[0] ?? null);
      return;
    }
    yield readDocument(document, source);
  }
}

function hasContent({ contents }: Document): boolean {
  return contents !== null && !(isScalar(contents) && contents.value === null);
}

function refused(source: Source, code: ProblemCode, message: string, offset: number | null): LocatedDocument {
  const problem = problemAt(source, { code, message, offset });
  return { value: undefined, problems: [problem], locate: () => problem };
}

function readDocument(document: Document, source: Source): LocatedDocument {
  const found = [
    ...asTemplate(syntaxProblems(document, source), source),
    ...keyProblems(document, source),
    ...aliasProblems(document, source),
    ...versionProblems(document, source),
  ];
  const problems = found.slice(0, MAX_FINDINGS);
  if (found.length > MAX_FINDINGS) problems.push(problemAt(source, { ...TOO_MANY, offset: null }));
  const isReadable = problems.every(({ code }) => code === 'duplicate-key' || code === 'yaml-version');
  return {
    // If a key is duplicate, its last value is returned.
    value: isReadable ? (document.toJS({ maxAliasCount: 0 }) as unknown) : undefined,
    problems,
    locate: (found) =>
      problemAt(source, {
        ...found,
        message: asWritten(document, found),
        offset: findOffset(document, source, found),
      }),
  };
}

const YAML_CODES: Readonly<Record<string, ProblemCode>> = {
  NON_STRING_KEY: 'key-not-text',
  TAG_RESOLVE_FAILED: 'yaml-tag',
  BAD_ALIAS: 'yaml-alias',
};

/** Returns only the first problem of each code, because later problems with the same code usually follow from it. */
function syntaxProblems(document: Document, source: Source): readonly Problem[] {
  const problems: Problem[] = [];
  const all: readonly YAMLError[] = [...document.errors, ...document.warnings];
  for (const { code, pos, message } of all) {
    const own = YAML_CODES[code] ?? 'yaml-syntax';
    if (problems.some((other) => other.code === own)) continue;
    const indented = code === 'BLOCK_AS_IMPLICIT_KEY' ? indentedKey(document, pos[0], source.text) : null;
    if (indented !== null) {
      problems.push(problemAt(source, { code: own, ...indented }));
      continue;
    }
    problems.push(
      problemAt(source, {
        code: own,
        message: yamlSentence(own, message, source.text.slice(...pos)),
        offset: pos[0],
      }),
    );
  }
  return problems;
}

/**
 * Returns the problem of a key that is indented below a value. YAML reads such a key as another line of that value, so
 * the parser would report the value.
 */
function indentedKey(
  { errors }: Document,
  start: number,
  text: string,
): { readonly message: string; readonly offset: number } | null {
  const key = errors.find(({ code, pos }) => code === 'MULTILINE_IMPLICIT_KEY' && pos[0] === start);
  const match = /\n( +)([\w.-]+)$/.exec(text.slice(start, key?.pos[1] ?? start));
  const above = /^(?:- | )*/.exec(text.slice(text.lastIndexOf('\n', start) + 1, start))?.[0].length ?? 0;
  if (key === undefined || match === null) return null;
  const [, spaces = '', name = ''] = match;
  const message = `not YAML: ${name} is indented by ${spaces.length} spaces, but the line above, which has a value, is indented by ${above}: indent both lines alike`;
  return { message, offset: key.pos[1] - name.length };
}

/**
 * If a line with a problem contains a template, returns only one problem, about the template. All other problems would
 * be misleading, because YAML reads the braces of a template as an object.
 */
function asTemplate(problems: readonly Problem[], source: Source): readonly Problem[] {
  for (const { place, sourceLine } of problems) {
    const template = findTemplate(sourceLine ?? '');
    if (place === null || template === null) continue;
    const { index, message } = template;
    const offset = (source.lines.lineStarts[place.line - 1] ?? 0) + index;
    return [problemAt(source, { code: 'yaml-syntax', message, offset })];
  }
  return problems;
}

/** Hints for common mistakes with queries, by the message of the parser. Each hint is preceded by an example. */
const YAML_HINTS: readonly (readonly [RegExp, string])[] = [
  // { query: rate(x[5m]) }
  [/flow-(?:seq|map)-(?:start|end)/, '; put a query inside { } in quotes'],
  // query: rate(x{a: "b"}[5m])
  [/Nested mappings are not allowed in compact/, '; put a string that contains ": " in quotes'],
  // query: "rate(x{a="b"}[5m])"
  [
    /Unexpected scalar at node end/,
    '; put a string that contains double quotes in single quotes: \'x{a="b"}\'',
  ],
];

function yamlSentence(code: ProblemCode, message: string, text: string): string {
  const word = /^[^\s:]+/.exec(text)?.[0] ?? text;
  switch (code) {
    case 'key-not-text':
      return 'a key must be a string; a value that begins with {{ or [ needs quotes';
    case 'yaml-tag':
      return `the tag ${word} is not supported; only plain YAML is read`;
    default:
      return `not YAML: ${message}${YAML_HINTS.find(([pattern]) => pattern.test(message))?.[1] ?? ''}`;
  }
}

function keyProblems(document: Document, source: Source): readonly Problem[] {
  return findKeyProblems(document).map(({ kind, message, offset }) => {
    const code = kind === 'duplicate' ? 'duplicate-key' : 'yaml-size';
    return problemAt(source, { code, message, offset });
  });
}

function aliasProblems(document: Document, source: Source): readonly Problem[] {
  if (!source.text.includes('*')) return [];
  const problems: Problem[] = [];
  visit(document, {
    Alias: (_, alias: Alias) => {
      const message = `*${alias.source} is an alias, which is not supported: write the value instead`;
      problems.push(problemAt(source, { code: 'yaml-alias', message, offset: alias.range?.[0] ?? 0 }));
      return problems.length > MAX_FINDINGS ? visit.BREAK : undefined;
    },
  });
  return problems;
}

const LEADING_ZERO = /^[-+]?0[0-7]+$/;
const BOOLEAN_WORD = /^(?:y|yes|n|no|on|off)$/i;

/** Warns about words with another meaning in YAML 1.1, which kubectl and Helm read: `010` is 8, and `on` is true. */
function versionProblems(document: Document, source: Source): readonly Problem[] {
  // For speed: most documents contain no such word and need no visit.
  if (!/(?<![\w.])(?:0[0-7]|(?:y|yes|n|no|on|off)(?!\w))/i.test(source.text)) return [];
  const problems: Problem[] = [];
  visit(document, {
    Scalar: (key, { source: written = '', type, range }) => {
      const message = key === 'key' || type !== 'PLAIN' ? null : otherMeaning(written);
      if (message === null) return undefined;
      problems.push(problemAt(source, { code: 'yaml-version', message, offset: range?.[0] ?? 0 }));
      return problems.length > MAX_FINDINGS ? visit.BREAK : undefined;
    },
  });
  return problems;
}

/** Returns a message if kubectl reads a scalar without quotes differently; otherwise null. */
function otherMeaning(written: string): string | null {
  if (BOOLEAN_WORD.test(written))
    return `${written} is a string here, but a boolean for kubectl and Helm: write "${written}" in quotes, or true or false`;
  const [here, there] = [Number(written), Number.parseInt(written, 8)];
  return LEADING_ZERO.test(written) && here !== there
    ? `${written} is ${here}, but ${there} for kubectl and Helm, which read a leading zero as octal: write ${here} or ${there}`
    : null;
}

type Located = Parameters<typeof unplacedProblem>[0] & Pick<Finding, 'offset'>;

function problemAt({ text, file, lines }: Source, located: Located): Problem {
  const { offset } = located;
  const problem = unplacedProblem(located, file);
  if (offset === null) return problem;
  const { line, col } = lines.linePos(offset);
  const start = lines.lineStarts[line - 1] ?? 0;
  const end = text.indexOf('\n', start);
  const whole = text.slice(start, end < 0 ? undefined : end);
  const sourceLine = whole.length > LONGEST_LINE ? null : whole.replace(/\r$/, '');
  return { ...problem, place: { line, column: col }, sourceLine };
}

/** A number that follows its field in a message: `spec.minReplicas is 5`, `spec.maxReplicas (3)`. */
const QUOTED = /( is | \()(-?\d[\d.]*(?:e[+-]?\d+)?|-?Infinity|NaN)(?=[,:;)]|$)/g;

/** Writes numbers as in the file: JavaScript prints 99999999999999999999 as 100000000000000000000. */
function asWritten(document: Document, { path, message }: Finding): string {
  return message.replaceAll(QUOTED, (whole, between: string, number: string, at: number) => {
    const field = message.slice(message.lastIndexOf(' ', at - 1) + 1, at);
    const steps = field.split(/[.[\]]+/).map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    const places = field === formatPath(path) ? [path] : [steps, ['spec', ...steps]];
    for (const place of [...places, [...path.slice(0, -1), ...steps]]) {
      const node = document.getIn(place, true);
      if (!isScalar(node) || typeof node.value !== 'number' || String(node.value) !== number) continue;
      const { source = '' } = node;
      if (source !== '' && source.length <= LONGEST_VALUE) return `${between}${source}`;
    }
    return whole;
  });
}

/** Returns the position of a finding in the file: its path, or the last key of the path that exists. */
function findOffset(document: Document, source: Source, { path, at, offset }: Finding): number {
  let node: unknown = document.contents;
  let last = startOf(node) ?? 0;
  for (const [index, step] of path.entries()) {
    const next = stepInto(node, step);
    if (next === null) return last;
    const isEnd = index === path.length - 1;
    const key = startOf(next.key);
    if (isEnd && (at === 'key' || startOf(next.value) === null)) return key ?? startOf(next.value) ?? last;
    node = next.value;
    last = key ?? startOf(node) ?? last;
  }
  if (offset !== null && node instanceof Scalar) return offsetInText(source.text, node, offset);
  return path.length > 0 && isCollection(node) && !node.flow && typeof path.at(-1) === 'string'
    ? last
    : (startOf(node) ?? last);
}

function stepInto(
  node: unknown,
  step: string | number,
): { readonly key: unknown; readonly value: unknown } | null {
  if (isSeq(node) && typeof step === 'number') {
    const item = node.items[step];
    return item === undefined ? null : { key: null, value: item };
  }
  if (!isMap(node)) return null;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
  return pair === undefined ? null : { key: pair.key, value: pair.value };
}

/**
 * Returns where a node starts in the file. Null: the node is missing, or has no characters because its value is empty.
 */
function startOf(node: unknown): number | null {
  if (!isNode(node) || node.range === null || node.range === undefined) return null;
  const isEmpty = isScalar(node) && node.range[0] === node.range[1] && node.value === null;
  return isEmpty ? null : node.range[0];
}

/**
 * Yields the parsed documents of YAML when they are requested. Malicious YAML can have an error per character. To save
 * time, only the first syntax error of a document is kept, and errors have no stack.
 */
export function* composeDocuments(text: string, lines: LineCounter): Generator<Document> {
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({
    uniqueKeys: false,
    stringKeys: true,
    merge: false,
    logLevel: 'silent',
    // Hexadecimal numbers are not read: `0x60` is promtool's notation for 61 zeros, not 96.
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.format !== 'HEX'),
  });
  const documents = composer.compose(firstErrors(parser.parse(text)));
  for (;;) {
    const next = withoutStacks(() => documents.next());
    if (next.done === true) return;
    yield next.value;
  }
}

function* firstErrors(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  let hasError = false;
  for (const token of tokens) {
    if (token.type === 'document') hasError = false;
    if (token.type === 'error' && hasError) continue;
    hasError ||= token.type === 'error';
    yield token;
  }
}

function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
