import { isPlainObject } from '../../scaler/plain-json.js';
import { formatPath, type Path } from '../../scaler/problems/finding.js';
import { cleanText } from '../../units/clean-text.js';
import { groupBy } from '../../units/maps.js';
import type { Remark } from './draft.js';

/** Maximum width of a comment line in the document. Longer words are not divided. */
const WIDTH = 118;

/** Limits a comment, because it may contain a value of 1 MiB. */
const LONGEST_COMMENT = 2000;

/** The comments of a document: above a field (`before`), and at the end of an object or list (`atEnd`). */
export interface Comments {
  readonly before: (path: Path) => readonly string[];
  readonly atEnd: (path: Path) => readonly string[];
}

/** Puts each remark above its field. If there is no such field, puts it at the end of the nearest object. */
export function placeComments(remarks: readonly Remark[], document: unknown): Comments {
  const placed = remarks.map((remark) => ({ ...nearestPath(remark.at, document), remark }));
  const textsOf = (which: boolean): Comments['before'] => {
    const matching = placed.filter(({ isExact }) => isExact === which);
    const groups = groupBy(matching, ({ path }) => formatPath(path));
    return (path) => (groups.get(formatPath(path)) ?? []).map(({ remark }) => commentOf(remark));
  };
  return { before: textsOf(true), atEnd: textsOf(false) };
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

/** Limits the name of a field, because a key may be 1 MiB long. */
const LONGEST_FIELD = 300;

/** Returns the field and the message of a remark. A message such as "is 5" continues the name of the field. */
export function commentOf({ path, message }: Pick<Remark, 'path' | 'message'>): string {
  const whole = formatPath(path);
  const field = whole.length > LONGEST_FIELD ? `${whole.slice(0, LONGEST_FIELD)}...` : whole;
  if (field === '') return message;
  return /^(?:is|has) /.test(message) ? `${field} ${message}` : `${field}: ${message}`;
}

/** Returns a string as comment lines of limited width. Nothing in the string can end the comment. */
export function commentLines(text: string, indent: number): readonly string[] {
  const prefix = `${' '.repeat(indent)}# `;
  const short = text.length > LONGEST_COMMENT ? `${text.slice(0, LONGEST_COMMENT)}...` : text;
  return short
    .split('\n')
    .flatMap((line) => wrap(oneLine(line), WIDTH - prefix.length))
    .map((line) => `${prefix}${line}`.trimEnd());
}

/** Replaces line breaks by spaces, and removes control characters. */
export function oneLine(text: string): string {
  return cleanText(text.replace(/[\n\r\t\u0085\u2028\u2029\ufeff]+/g, ' ')).replace(
    /[\ud800-\udfff\ufffe\uffff]/g,
    '\ufffd',
  );
}

/** Wraps a line. An indented line is a query and is not wrapped. */
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
