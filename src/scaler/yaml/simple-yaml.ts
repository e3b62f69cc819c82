import { endOfKey, mayBeAdded, readInline, skipSpaces } from './inline-values.js';

/** One YAML document of a common form. */
export interface SimpleYaml {
  readonly value: unknown;
  /** Returns the offset of the value at `path` if it begins on the line of its key; null: not known. */
  readonly offsetOf: (path: readonly (string | number)[]) => number | null;
}

/** Line ends, and characters that are neither blanks nor controls in any version of YAML. */
const COMMON_CHARACTERS = /^[\n\x20-\x7e\u00a1-\u1fff\u3001-\ud7ff]*$/;
/** Nested deeper, a document is left to the whole parser, and to its limit. */
const MAX_BLOCKS = 16;

/**
 * Reads what nearly every document consists of: one object in block style with plain or quoted strings, numbers, lists,
 * literal blocks and `{ }` on one line. Ten times as fast as the whole parser. Null: anything else, above all what may
 * have a problem; never another value than that of the whole parser. The caller limits the length of `text`.
 */
export function readSimpleYaml(text: string): SimpleYaml | null {
  if (!COMMON_CHARACTERS.test(text)) return null;
  const reader = new BlockReader(text);
  const value = reader.readAll();
  return value === undefined ? null : { value, offsetOf: (path) => offsetAt(value, path, reader.starts) };
}

/** By object, in the order of its members; -1: on another line than its key. */
type Starts = ReadonlyMap<object, readonly number[]>;

function offsetAt(root: object, path: readonly (string | number)[], starts: Starts): number | null {
  let node: unknown = root;
  let start = -1;
  for (const step of path) {
    if (typeof node !== 'object' || node === null || typeof step !== 'string' || !Object.hasOwn(node, step))
      return null;
    start = starts.get(node)?.[Object.keys(node).indexOf(step)] ?? -1;
    node = (node as Readonly<Record<string, unknown>>)[step];
  }
  return start < 0 || node === null ? null : start;
}

/** Each method returns undefined for what is not of the common form. */
class BlockReader {
  readonly starts = new Map<object, number[]>();
  readonly #text: string;
  /** Of the first character of the current line that is not a space. */
  #at = 0;
  /** Of that character; -1 at the end. */
  #column = -1;

  constructor(text: string) {
    this.#text = text;
  }

  readAll(): object | undefined {
    this.#toLine(this.#text.startsWith('---\n') ? 4 : 0);
    const value = this.#column === 0 ? this.#object(0) : undefined;
    return this.#at === this.#text.length ? value : undefined;
  }

  /** Goes to the first line with content at or after the line that begins at `start`. */
  #toLine(start: number): void {
    const text = this.#text;
    let line = start;
    while (line < text.length) {
      const at = skipSpaces(text, line);
      const first = text[at];
      if (first !== undefined && first !== '\n' && first !== '#') {
        this.#at = at;
        this.#column = at - line;
        return;
      }
      line = this.#endOfLine(at) + 1;
    }
    this.#at = text.length;
    this.#column = -1;
  }

  #endOfLine(at: number): number {
    const newline = this.#text.indexOf('\n', at);
    return newline < 0 ? this.#text.length : newline;
  }

  /** Goes to the next line if the current one has only a comment after `end`, and returns whether it has. */
  #closeLine(end: number): boolean {
    const at = skipSpaces(this.#text, end);
    const first = this.#text[at];
    if (first !== undefined && first !== '\n' && (first !== '#' || at === end)) return false;
    this.#toLine(this.#endOfLine(at) + 1);
    return true;
  }

  #isEntry(): boolean {
    const next = this.#text[this.#at + 1];
    return this.#text[this.#at] === '-' && (next === ' ' || next === '\n' || next === undefined);
  }

  #block(depth: number): object | undefined {
    return this.#isEntry() ? this.#list(depth) : this.#object(depth);
  }

  #object(depth: number): object | undefined {
    if (depth > MAX_BLOCKS) return undefined;
    const column = this.#column;
    const members: Record<string, unknown> = {};
    const starts: number[] = [];
    this.starts.set(members, starts);
    while (this.#column === column) {
      const end = endOfKey(this.#text, this.#at);
      if (end === null) return undefined;
      const key = this.#text.slice(this.#at, end);
      if (!mayBeAdded(members, key)) return undefined;
      const from = skipSpaces(this.#text, end + 1);
      const isInline = !this.#closeLine(end + 1);
      starts.push(isInline ? from : -1);
      const value = isInline ? this.#inline(from, column) : this.#below(column, depth);
      if (value === undefined) return undefined;
      members[key] = value;
    }
    return this.#column < column ? members : undefined;
  }

  /** The value of a key with nothing else on its line. */
  #below(column: number, depth: number): unknown {
    if (this.#column > column) return this.#block(depth + 1);
    return this.#column === column && this.#isEntry() ? this.#list(depth + 1) : null;
  }

  #list(depth: number): object | undefined {
    if (depth > MAX_BLOCKS) return undefined;
    const column = this.#column;
    const entries: unknown[] = [];
    while (this.#column === column && this.#isEntry()) {
      const value = this.#entry(column, depth);
      if (value === undefined) return undefined;
      entries.push(value);
    }
    return this.#column > column ? undefined : entries;
  }

  #entry(column: number, depth: number): unknown {
    const from = skipSpaces(this.#text, this.#at + 1);
    const offset = from - this.#at;
    if (this.#closeLine(this.#at + 1)) return this.#column > column ? this.#block(depth + 1) : null;
    if (endOfKey(this.#text, from) === null) return this.#inline(from, column);
    this.#at = from;
    this.#column = column + offset;
    return this.#object(depth + 1);
  }

  /** A line that continues the value is left: it is deeper than `column`, which the caller rejects. */
  #inline(from: number, column: number): unknown {
    if (this.#text[from] === '|') return this.#literal(from, column);
    const onMember = (parent: object, start: number): void => this.#note(parent, start);
    const read = readInline(this.#text, from, { brackets: 0, onMember });
    return read !== null && this.#closeLine(read.end) ? read.value : undefined;
  }

  #note(parent: object, start: number): void {
    const starts = this.starts.get(parent);
    if (starts === undefined) this.starts.set(parent, [start]);
    else starts.push(start);
  }

  /** Lines after `|` or `|-`, without empty ones. */
  #literal(from: number, column: number): string | undefined {
    const text = this.#text;
    const header = text.slice(from, this.#endOfLine(from));
    if (header !== '|' && header !== '|-') return undefined;
    let line = from + header.length + 1;
    const inset = skipSpaces(text, line) - line;
    if (inset <= column) return undefined;
    const lines: string[] = [];
    for (; line < text.length; line = this.#endOfLine(line) + 1) {
      const at = skipSpaces(text, line);
      if (text[at] === undefined || text[at] === '\n') return undefined;
      if (at - line < inset) break;
      lines.push(text.slice(line + inset, this.#endOfLine(line)));
    }
    this.#toLine(line);
    if (lines.length === 0 || this.#column > column) return undefined;
    return lines.join('\n') + (header === '|' ? '\n' : '');
  }
}
