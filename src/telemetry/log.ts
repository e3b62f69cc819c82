import pino from 'pino';
import { formatInstant } from '../units/time.js';
import type { Clock } from '../units/clock.js';
import type { Facts, Log, LogLevel } from '../units/log.js';
import { cleanText } from '../units/clean-text.js';

/** Where lines are written. Each line ends with a newline. */
interface LineStream {
  readonly write: (line: string) => unknown;
}

export interface LogOptions {
  readonly stream: LineStream;
  readonly level: LogLevel;
  /** `json`: one object per line. `text`: time, level, message and then `key=value`. */
  readonly format: 'json' | 'text';
  readonly clock: Clock;
}

export function createLog(options: LogOptions): Log {
  const { stream, level, format, clock } = options;
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${formatInstant(clock.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => void stream.write(format === 'json' ? line : asText(line)) },
  );
  const writer =
    (of: LogLevel) =>
    (message: string, facts: Facts = {}): void => {
      if (logger.isLevelEnabled(of)) logger[of](withoutReserved(cleanFacts(facts)), message);
    };
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') };
}

const RESERVED: ReadonlySet<string> = new Set(['time', 'level', 'message']);

/** Renames facts that have the name of a standard field, because duplicate keys in JSON are ambiguous. */
function withoutReserved(facts: Facts): Facts {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [RESERVED.has(name) ? `${name}_` : name, value]),
  );
}

function asText(line: string): string {
  const { time, level, message, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const fields = Object.entries(facts).map(([name, value]) => ` ${name}=${asWord(value)}`);
  return `${String(time)} ${String(level).toUpperCase().padEnd(5)} ${String(message)}${fields.join('')}\n`;
}

/** Returns a value in quotes unless it is a single word. A value without quotes could imitate another field or line. */
function asWord(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[^\s"=\p{Cc}]+$/u.test(text) ? text : JSON.stringify(text);
}

const SECRET_NAME = /authorization|cookie|password|passwd|secret|token|api-?key|credential/i;
const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 [redacted]'],
  [/(\w:\/\/)[^/\s@]+@/g, '$1[redacted]@'],
];
const REDACTED = '[redacted]';
const MAX_TEXT = 1024;
const MAX_DEPTH = 4;
const MAX_ITEMS = 50;

/**
 * Makes facts safe to print. Values with secret names, and credentials in strings, are redacted. Invisible characters
 * are replaced, except line breaks, which the format escapes. Strings are truncated at 1,024 characters, lists at 50
 * items, and nesting at 4 levels. An error is printed as its message and the messages of its causes.
 */
function cleanFacts(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return cleanFields(facts, 0);
}

function cleanFields(fields: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .slice(0, MAX_ITEMS)
      .map(([name, value]) => [name, SECRET_NAME.test(name) ? REDACTED : cleanValue(value, depth)]),
  );
}

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return safeText(value);
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value === 'function') return '[function]';
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return safeText(errorText(value));
  if (depth >= MAX_DEPTH) return '[...]';
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => cleanValue(item, depth + 1));
  if (value instanceof Map) return cleanFields(Object.fromEntries(value) as object, depth + 1);
  return cleanFields(value, depth + 1);
}

function safeText(text: string): string {
  let clean = cleanText(text);
  for (const [pattern, replacement] of SECRET_TEXT) clean = clean.replace(pattern, replacement);
  return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT)}...` : clean;
}

/** Returns only the messages of an error, because other fields may contain requests with headers. */
function errorText(error: Error): string {
  const texts = [error.message];
  let cause = error.cause;
  while (cause instanceof Error && texts.length < 5) {
    if (!texts.some((text) => text.includes((cause as Error).message))) texts.push(cause.message);
    cause = cause.cause;
  }
  return texts.join(': ');
}
