import { cleanText } from '../../units/clean-text.js';

const MAX_QUOTED_LENGTH = 300;

/** Returns a server's message on one line, without control characters, truncated to 300 characters. */
export function quote(text: string): string {
  const line = cleanText(text.replace(/[\s\p{Cc}]+/gu, ' ').trim());
  return line.length > MAX_QUOTED_LENGTH ? `${line.slice(0, MAX_QUOTED_LENGTH)}...` : line;
}

/** Returns a scalar as a string, and only the type of any other value: the server may set `toString` of an object. */
export function sayValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}
