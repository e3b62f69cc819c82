import pino from 'pino';
import { formatInstant } from '../units/time.js';
import type { Clock } from '../units/clock.js';
import type { Facts, Log, LogLevel } from '../units/log.js';
import { cleanFacts } from './clean-facts.js';

/** Each line ends with a newline. */
interface LineStream {
  readonly write: (line: string) => unknown;
}

export interface LogOptions {
  readonly stream: LineStream;
  readonly level: LogLevel;
  /** json: one object per line. text: time, level, message, `key=value`. */
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

/** A fact must not replace a standard field of the line, because duplicate keys in JSON are ambiguous. */
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

/** Quotes values that are not a single word, so that a value cannot imitate a field or a line. */
function asWord(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[^\s"=\p{Cc}]+$/u.test(text) ? text : JSON.stringify(text);
}
