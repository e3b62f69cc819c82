/** A value on one line, and the offset of the first character after it. */
export interface InlineValue {
  readonly value: unknown;
  readonly end: number;
}

/** Calls back for each value of an object: `start` is the offset of its first character. */
export type OnMember = (parent: object, start: number) => void;

/** Nested deeper, a document is left to the whole parser, and to its limit. */
const MAX_BRACKETS = 8;

/**
 * Reads the value that begins at `at` and ends on the same line. `isFlow`: between brackets, where a comma or a bracket
 * ends a plain string. Null: empty, continued on the next line, or in syntax that only the whole parser reads.
 */
export function readInline(
  text: string,
  at: number,
  context: { readonly brackets: number; readonly onMember: OnMember },
): InlineValue | null {
  switch (text[at]) {
    case '{':
      return readObject(text, at, context);
    case '[':
      return readList(text, at, context);
    case '"':
      return readDoubleQuoted(text, at);
    case "'":
      return readSingleQuoted(text, at);
    default:
      return context.brackets === 0 ? readPlain(text, at) : readPlainInBrackets(text, at);
  }
}

const KEY = /[A-Za-z_][\w./-]*(?=:)/y;

/** Returns the end of the key that begins at `at` and is followed by a colon and a blank or a line end; null: none. */
export function endOfKey(text: string, at: number): number | null {
  KEY.lastIndex = at;
  if (!KEY.test(text)) return null;
  const end = KEY.lastIndex;
  const next = text[end + 1];
  return next === ' ' || next === '\n' || next === undefined ? end : null;
}

export function mayBeAdded(members: object, key: string): boolean {
  return key !== '__proto__' && !Object.hasOwn(members, key);
}

export function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at += 1;
  return at;
}

function readObject(
  text: string,
  start: number,
  { brackets, onMember }: Parameters<typeof readInline>[2],
): InlineValue | null {
  if (brackets >= MAX_BRACKETS) return null;
  const inside = { brackets: brackets + 1, onMember };
  const members: Record<string, unknown> = {};
  let at = skipSpaces(text, start + 1);
  if (text[at] === '}') return { value: members, end: at + 1 };
  for (;;) {
    const endKey = endOfKey(text, at);
    if (endKey === null) return null;
    const key = text.slice(at, endKey);
    const from = skipSpaces(text, endKey + 1);
    const read = readInline(text, from, inside);
    if (read === null || !mayBeAdded(members, key)) return null;
    members[key] = read.value;
    onMember(members, from);
    at = skipSpaces(text, read.end);
    if (text[at] === '}') return { value: members, end: at + 1 };
    if (text[at] !== ',') return null;
    at = skipSpaces(text, at + 1);
  }
}

function readList(
  text: string,
  start: number,
  { brackets, onMember }: Parameters<typeof readInline>[2],
): InlineValue | null {
  if (brackets >= MAX_BRACKETS) return null;
  const inside = { brackets: brackets + 1, onMember };
  const entries: unknown[] = [];
  let at = skipSpaces(text, start + 1);
  if (text[at] === ']') return { value: entries, end: at + 1 };
  for (;;) {
    const read = readInline(text, at, inside);
    if (read === null) return null;
    entries.push(read.value);
    at = skipSpaces(text, read.end);
    if (text[at] === ']') return { value: entries, end: at + 1 };
    if (text[at] !== ',') return null;
    at = skipSpaces(text, at + 1);
  }
}

function readDoubleQuoted(text: string, start: number): InlineValue | null {
  const end = text.indexOf('"', start + 1);
  if (end < 0) return null;
  const value = text.slice(start + 1, end);
  return value.includes('\\') || value.includes('\n') ? null : { value, end: end + 1 };
}

function readSingleQuoted(text: string, start: number): InlineValue | null {
  const end = text.indexOf("'", start + 1);
  // Two quotes stand for one.
  if (end < 0 || text[end + 1] === "'") return null;
  const value = text.slice(start + 1, end);
  return value.includes('\n') ? null : { value, end: end + 1 };
}

/** To the end of the line or to a comment. */
function readPlain(text: string, start: number): InlineValue | null {
  const newline = text.indexOf('\n', start);
  const line = text.slice(start, newline < 0 ? undefined : newline);
  const comment = line.indexOf(' #');
  const written = (comment < 0 ? line : line.slice(0, comment)).trimEnd();
  // Would be a key, which cannot follow another one on its line.
  if (written.includes(': ') || written.endsWith(':')) return null;
  return plainValue(written, start);
}

const IN_BRACKETS = /[^,[\]{}:#\n]*/y;

function readPlainInBrackets(text: string, start: number): InlineValue | null {
  IN_BRACKETS.lastIndex = start;
  IN_BRACKETS.test(text);
  const end = IN_BRACKETS.lastIndex;
  const next = text[end];
  if (next !== ',' && next !== '}' && next !== ']') return null;
  return plainValue(text.slice(start, end).trimEnd(), start);
}

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...['null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
]);

/** Of neither a number nor an indicator of YAML. */
const STARTS_STRING = /^[A-Za-z_$(/]/;
const NUMBER = /^(?:0|-?[1-9]\d{0,14}|-?\d{1,9}\.\d{1,9})$/;
/** `500m`, `1.5Gi`, `80%`; `0xf` is a number. */
const QUANTITY = /^(?!0[xo])\d+(?:\.\d+)?(?:[A-Za-z]+|%)$/;

function plainValue(written: string, start: number): InlineValue | null {
  const end = start + written.length;
  if (STARTS_STRING.test(written)) {
    const word = WORDS.get(written);
    return { value: word === undefined ? written : word, end };
  }
  if (NUMBER.test(written)) return { value: Number(written), end };
  return QUANTITY.test(written) ? { value: written, end } : null;
}
