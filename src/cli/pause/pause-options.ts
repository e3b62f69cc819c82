import { addSeconds, formatInstant, instantFromMs, parseInstant } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { ReachOptions } from '../reach/find-service.js';
import { CommandError } from '../io.js';
import type { NamingOptions } from '../scaler-name.js';
import { MAX_REPLICAS } from '../../units/replicas.js';

/** What both commands take. */
export interface ResumeOptions extends ReachOptions, NamingOptions {
  /** `NAMESPACE/NAME`, or `NAME`. */
  readonly scaler: string;
  /** `KIND/NAME`; left out: the service is asked. */
  readonly target?: string;
  /** `text`, `json`, `yaml` or `name`. */
  readonly output: string;
}

export interface PauseOptions extends ResumeOptions {
  readonly for?: string;
  readonly until?: string;
  readonly direction?: string;
  readonly replicas?: string;
  readonly reason?: string;
}

/** The pause that a command line asks for. */
export interface AskedPause {
  readonly direction: 'both' | 'scale-up' | 'scale-down';
  /** In whole seconds; null: until it is resumed. */
  readonly until: Instant | null;
  readonly replicas: number | null;
  readonly reason: string | null;
}

const MAX_REASON_LENGTH = 200;

/** Reads the options of `pause`. Throws `CommandError` of wrong usage for what is none, or has ended by `now`. */
export function readPauseOptions(options: PauseOptions, now: Instant): AskedPause {
  const direction = readDirection(options.direction);
  const replicas = readReplicas(options.replicas);
  if (replicas !== null && direction !== 'both')
    throw wrong('--replicas keeps a count, in both directions: it does not go with --direction');
  return { direction, replicas, until: readUntil(options, now), reason: readReason(options.reason) };
}

function readDirection(text: string | undefined): AskedPause['direction'] {
  if (text === undefined) return 'both';
  if (text === 'scale-up' || text === 'scale-down') return text;
  throw wrong(`--direction is "${text}", must be scale-up or scale-down`);
}

function readReplicas(text: string | undefined): number | null {
  if (text === undefined) return null;
  const count = /^\d{1,10}$/.test(text) ? Number(text) : MAX_REPLICAS + 1;
  if (count > MAX_REPLICAS)
    throw wrong(`--replicas is "${text}", must be a whole number from 0 to ${MAX_REPLICAS}`);
  return count;
}

function readReason(text: string | undefined): string | null {
  const reason = text?.trim() ?? '';
  if (text !== undefined && reason === '') throw wrong('--reason is empty');
  if (reason.length > MAX_REASON_LENGTH)
    throw wrong(`--reason has ${reason.length} characters, must have at most ${MAX_REASON_LENGTH}`);
  return text === undefined ? null : reason;
}

const DURATION = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;

/** Longer than anybody waits, and still a time that can be written. */
const LONGEST_DAYS = 10_000;

function readUntil({ for: duration, until: time }: PauseOptions, now: Instant): Instant | null {
  if (duration !== undefined && time !== undefined)
    throw wrong('--for and --until both say when it ends: one is enough');
  if (duration !== undefined) return wholeSecond(addSeconds(now, readDuration(duration)));
  if (time === undefined) return null;
  const until = parseInstant(time);
  if (until === null)
    throw wrong(`--until ${time} is no RFC 3339 time, such as ${formatInstant(wholeSecond(now))}`);
  if (until <= now) throw wrong(`--until ${time} is in the past: it is ${formatInstant(now)}`);
  return wholeSecond(until);
}

/** Seconds, at least 1. */
function readDuration(text: string): number {
  const match = text === '' ? null : DURATION.exec(text);
  if (match === null)
    throw wrong(`--for ${text === '' ? '""' : text} is no duration: 90s, 15m, 2h, 1d and 1h30m are`);
  const part = (index: number): number => Number(match[index] ?? 0);
  const seconds = part(1) * 86_400 + part(2) * 3600 + part(3) * 60 + part(4);
  if (seconds === 0) throw wrong(`--for ${text} would end at once; resume ends a pause`);
  if (seconds > LONGEST_DAYS * 86_400)
    throw wrong(
      `--for ${text} is longer than ${LONGEST_DAYS}d: without it the pause lasts until it is resumed`,
    );
  return seconds;
}

/** The next whole second: nobody asks for milliseconds. */
function wholeSecond(instant: Instant): Instant {
  return instantFromMs(Math.ceil(instant / 1000) * 1000);
}

function wrong(message: string): CommandError {
  return new CommandError(message, 2);
}
