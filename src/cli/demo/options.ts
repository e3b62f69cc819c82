import { usageError } from '../output/io.js';

export interface DemoOptions {
  readonly duration?: string | undefined;
  readonly speed: string;
  /** Default: 8080, or any free port if 8080 is in use. */
  readonly port?: string | undefined;
  readonly trace?: string | undefined;
  readonly keep?: string | undefined;
}

export interface DemoSettings {
  /** Null: the demo runs until it is stopped. */
  readonly durationSeconds: number | null;
  readonly speed: number;
  readonly port: number | null;
  readonly traceFile: string | null;
  /** Directory for the history; null: the cache directory of the user. */
  readonly keepDirectory: string | null;
}

/** If there is no terminal, a demo ends after this time, because no user can press Ctrl-C. */
const DEFAULT_DURATION_SECONDS = 120;

/** Throws `CommandError` (usage error) if an option is out of range. */
export function readDemoOptions(options: DemoOptions, isTerminal: boolean): DemoSettings {
  const standard = isTerminal ? null : DEFAULT_DURATION_SECONDS;
  return {
    durationSeconds:
      options.duration === undefined
        ? standard
        : readNumber('--duration', options.duration, { min: 1, max: 86_400 }),
    speed: readNumber('--speed', options.speed, { min: 1, max: 60 }),
    port:
      options.port === undefined
        ? null
        : readNumber('--port', options.port, { min: 0, max: 65_535, isInteger: true }),
    traceFile: options.trace ?? null,
    keepDirectory: options.keep ?? null,
  };
}

function readNumber(
  name: string,
  text: string,
  range: { readonly min: number; readonly max: number; readonly isInteger?: boolean },
): number {
  const value = text.trim() === '' ? NaN : Number(text);
  const isWhole = range.isInteger !== true || Number.isInteger(value);
  if (value >= range.min && value <= range.max && isWhole) return value;
  const kind = range.isInteger === true ? 'an integer' : 'a number';
  throw usageError(`${name} is ${text}, must be ${kind} from ${range.min} to ${range.max}`);
}
