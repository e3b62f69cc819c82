import { isPlainObject } from '../../scaler/plain-json.js';
import { formatPath, type Path } from '../../scaler/problems/finding.js';
import { cleanText } from '../../units/clean-text.js';
import type { Remark } from './draft.js';

/** Line width of the document. Longer words are not split. */
const WIDTH = 118;

/** A value may be 1 MiB long. */
const LONGEST_COMMENT = 2000;

/** Comments of a document: above a field, and at the end of an object or list. */
export interface Comments {
  readonly before: (path: Path) => readonly string[];
  readonly atEnd: (path: Path) => readonly string[];
}

/** Places each remark above its field, or at the end of the nearest existing object. */
export function placeComments(remarks: readonly Remark[], document: unknown): Comments {
  const before = new Map<string, string[]>();
  const atEnd = new Map<string, string[]>();
  for (const remark of remarks) {
    const { path, isExact } = nearestPath(remark.at, document);
    const texts = isExact ? before : atEnd;
    const key = formatPath(path);
    const present = texts.get(key);
    if (present === undefined) texts.set(key, [commentOf(remark)]);
    else present.push(commentOf(remark));
  }
  return {
    before: (path) => before.get(formatPath(path)) ?? [],
    atEnd: (path) => atEnd.get(formatPath(path)) ?? [],
  };
}

function nearestPath(at: Path, document: unknown): { readonly path: Path; readonly isExact: boolean } {
  let node = document;
  for (const [index, step] of at.entries()) {
    const next = stepInto(node, step);
    if (next === undefined) return { path: at.slice(0, index), isExact: false };
    node = next;
  }
  return { path: at, isExact: at.length > 0 };
}

function stepInto(node: unknown, step: string | number): unknown {
  if (typeof step === 'number') return Array.isArray(node) ? (node as readonly unknown[])[step] : undefined;
  return isPlainObject(node) && Object.hasOwn(node, step) ? node[step] : undefined;
}

/** A key may be 1 MiB long. */
const LONGEST_FIELD = 300;

/** Returns the field and the message of a remark. A message such as "is 5" continues after the field name. */
export function commentOf({ path, message }: Pick<Remark, 'path' | 'message'>): string {
  const whole = formatPath(path);
  const field = whole.length > LONGEST_FIELD ? `${whole.slice(0, LONGEST_FIELD)}...` : whole;
  if (field === '') return message;
  return /^(?:is|has) /.test(message) ? `${field} ${message}` : `${field}: ${message}`;
}

/** Returns a string as wrapped comment lines. No character in it can end the comment. */
export function commentLines(text: string, indent: number): readonly string[] {
  const prefix = `${' '.repeat(indent)}# `;
  const short = text.length > LONGEST_COMMENT ? `${text.slice(0, LONGEST_COMMENT)}...` : text;
  return short
    .split('\n')
    .flatMap((line) => wrap(oneLine(line), WIDTH - prefix.length))
    .map((line) => `${prefix}${line}`.trimEnd());
}

/** Removes control characters and line separators. */
export function oneLine(text: string): string {
  return cleanText(text.replace(/[\n\r\t\u0085\u2028\u2029\ufeff]+/g, ' ')).replace(
    /[\ud800-\udfff\ufffe\uffff]/g,
    '\ufffd',
  );
}

/** Does not wrap an indented line, which is a query. */
function wrap(text: string, width: number): readonly string[] {
  if (text.startsWith('  ')) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
