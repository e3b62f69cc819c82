import type { Quote } from './segments.js';

const RE2_SPECIAL = /[\\.+*?()|[\]{}^$]/g;

const ESCAPABLE = /["'\\\p{Cc}]/gu;

const ESCAPE_LETTERS: Readonly<Record<string, string>> = { '\n': 'n', '\r': 'r', '\t': 't' };

const UNESCAPED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([\s\S]))/g;

/** Returns a regular expression (RE2) that matches exactly `text`, like `regexp.QuoteMeta` in Go. */
export function quoteRegex(text: string): string {
  return text.replace(RE2_SPECIAL, '\\$&');
}

/** Escapes a string, so that none of its characters can end a literal with this quote. */
export function escapeString(text: string, quote: '"' | "'"): string {
  return text.replace(ESCAPABLE, (character) => escapeCharacter(character, quote));
}

function escapeCharacter(character: string, quote: string): string {
  if (character === '\\' || character === quote) return `\\${character}`;
  const letter = ESCAPE_LETTERS[character];
  if (letter !== undefined) return `\\${letter}`;
  const code = character.charCodeAt(0);
  if (code >= 0x20 && code !== 0x7f) return character;
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

export function stringLiteral(text: string): string {
  return `"${escapeString(text, '"')}"`;
}

/** Returns the content of a string literal. An unknown escape sequence stands for the character after the backslash. */
export function readStringLiteral(literal: string): string {
  const quote = literal.charAt(0) as Quote;
  const isClosed = literal.length > 1 && literal.endsWith(quote);
  const inner = literal.slice(1, isClosed ? -1 : undefined);
  if (quote === '`') return inner;
  return inner.replace(ESCAPE, (_whole, ...groups: readonly (string | undefined)[]) => {
    const [hex, short, long, octal, character] = groups;
    const digits = hex ?? short ?? long;
    const codePoint = digits === undefined ? parseInt(octal ?? '', 8) : parseInt(digits, 16);
    if (character !== undefined) return UNESCAPED[character] ?? character;
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : '\ufffd';
  });
}
