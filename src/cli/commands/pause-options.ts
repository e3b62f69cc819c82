import {
  addSeconds,
  DURATION_FORM,
  formatInstant,
  type Instant,
  instantFromMs,
  parseDuration,
  parseInstant,
} from '../../units/time.js';
import type { ReachOptions } from '../reach/find-service.js';
import { LOCAL_TIME_FORM, readLocalTime } from '../input/read-time.js';
import { usageError } from '../output/io.js';
import type { NamingOptions } from '../reach/scaler-name.js';
import { MAX_REPLICAS } from '../../units/bounds.js';

export interface ResumeOptions extends ReachOptions, NamingOptions {
  readonly scaler: string;
  /** The target as `KIND/NAME`. Unset: the service reports it. */
  readonly target?: string;
  readonly output: string;
}

export interface PauseOptions extends ResumeOptions {
  readonly for?: string;
  readonly until?: string;
  readonly direction?: string;
  readonly replicas?: string;
  readonly reason?: string;
}

export interface PauseRequest {
  readonly direction: 'both' | 'scale-up' | 'scale-down';
  /** The end of the pause, a whole second; null: the pause lasts until `resume`. */
  readonly until: Instant | null;
  readonly replicas: number | null;
  readonly reason: string | null;
}

const MAX_REASON_LENGTH = 200;

/** Throws `CommandError` if an option is invalid, or if the pause would end before `now`. */
export function readPauseOptions(options: PauseOptions, now: Instant): PauseRequest {
  const direction = readDirection(options.direction);
  const replicas = readReplicas(options.replicas);
  if (replicas !== null && direction !== 'both')
    throw usageError(
      '--replicas cannot be combined with --direction, because --replicas pauses both directions',
    );
  return { direction, replicas, until: readUntil(options, now), reason: readReason(options.reason) };
}

function readDirection(text: string | undefined): PauseRequest['direction'] {
  if (text === undefined) return 'both';
  if (text === 'scale-up' || text === 'scale-down') return text;
  throw usageError(`--direction is "${text}", must be scale-up or scale-down`);
}

function readReplicas(text: string | undefined): number | null {
  if (text === undefined) return null;
  const count = /^\d{1,10}$/.test(text) ? Number(text) : MAX_REPLICAS + 1;
  if (count > MAX_REPLICAS)
    throw usageError(`--replicas is "${text}", must be an integer from 0 to ${MAX_REPLICAS}`);
  return count;
}

function readReason(text: string | undefined): string | null {
  const reason = text?.trim() ?? '';
  if (text !== undefined && reason === '') throw usageError('--reason is empty');
  if (reason.length > MAX_REASON_LENGTH)
    throw usageError(`--reason has ${reason.length} characters, must have at most ${MAX_REASON_LENGTH}`);
  return text === undefined ? null : reason;
}

/** Limits the length of a pause, so that its end is within the range of RFC 3339. */
const LONGEST_DAYS = 10_000;

function readUntil({ for: duration, until: time }: PauseOptions, now: Instant): Instant | null {
  if (duration !== undefined && time !== undefined) throw usageError('--for and --until cannot be combined');
  if (duration !== undefined) return wholeSecond(addSeconds(now, readDuration(duration)));
  if (time === undefined) return null;
  const until = parseInstant(time) ?? readLocalTime(time, now, 'next');
  if (until === null)
    throw usageError(
      `--until is ${JSON.stringify(time)}, must be a time such as ${formatInstant(wholeSecond(now))}, or ${LOCAL_TIME_FORM}`,
    );
  if (until <= now)
    throw usageError(`--until ${time} is in the past: the current time is ${formatInstant(now)}`);
  return wholeSecond(until);
}

/** Returns the seconds of a duration, at least 1. */
function readDuration(text: string): number {
  const seconds = parseDuration(text);
  if (seconds === null) throw usageError(`--for is ${JSON.stringify(text)}, must be ${DURATION_FORM}`);
  if (seconds === 0)
    throw usageError(`--for ${text} is zero, must be at least 1s. To end a pause, use promscaler resume`);
  if (seconds > LONGEST_DAYS * 86_400)
    throw usageError(
      `--for ${text} is longer than ${LONGEST_DAYS}d. Omit --for for a pause that lasts until resume`,
    );
  return seconds;
}

function wholeSecond(instant: Instant): Instant {
  return instantFromMs(Math.ceil(instant / 1000) * 1000);
}
