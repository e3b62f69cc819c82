import type { Pause } from '../../decision/pause.js';
import { PAUSE_ANNOTATIONS, type ScalerSpec } from '../../scaler/spec.js';
import { MAX_REPLICAS } from '../../units/bounds.js';
import { formatInstant, type Instant, parseInstant } from '../../units/time.js';

type Annotations = Readonly<Record<string, string>>;

/** Limits the length of the user's reason, which becomes part of a condition and of an Event. */
const MAX_REASON_LENGTH = 200;

/**
 * Returns the pause in effect at `now`; null: none. A pause by the document and a pause by annotations add up.
 * `paused-until` ends only the pause by annotations. An invalid annotation pauses more rather than less, because its
 * author wanted to stop the scaling; `notes` report it. `notKept`: what prevents a fixed count from being set, such as
 * `the dry run`; null: nothing.
 */
export function readPause(
  spec: Pick<ScalerSpec, 'paused'>,
  annotations: Annotations,
  now: Instant,
  notKept: string | null = null,
): Pause | null {
  const [annotated, documented] = [pauseByAnnotation(annotations, now, notKept), pauseByDocument(spec)];
  if (annotated === null || documented === null) return annotated ?? documented;
  return {
    by: 'both',
    direction: annotated.direction === documented.direction ? annotated.direction : 'both',
    until: null,
    replicas: annotated.replicas,
    annotated: annotated.annotated,
    notes: [...annotated.notes, ...documented.notes],
  };
}

/** Returns whether a pause sets the count. That count replaces the decision and overrides the bounds. */
export function setsCount(pause: Pause | null): boolean {
  return pause !== null && pause.replicas !== null;
}

/**
 * Returns whether a pause prevents an action. A pause with a fixed count prevents no action, because the action is then
 * the change to that count.
 */
export function stops({ direction, replicas }: Pause, action: 'scale-up' | 'scale-down' | 'none'): boolean {
  if (replicas !== null || action === 'none') return false;
  return direction === 'both' || direction === action;
}

function pauseByDocument({ paused }: Pick<ScalerSpec, 'paused'>): Pause | null {
  if (paused === false) return null;
  const direction = paused === true ? 'both' : paused;
  return {
    by: 'document',
    direction,
    until: null,
    replicas: null,
    annotated: null,
    notes: [`spec.paused is ${String(paused)}`],
  };
}

function pauseByAnnotation(annotations: Annotations, now: Instant, notKept: string | null): Pause | null {
  const state = stateIn(annotations);
  const untilText = annotations[PAUSE_ANNOTATIONS.until];
  const countText = annotations[PAUSE_ANNOTATIONS.replicas];
  if (isOff(state)) return null;
  if (state === undefined && untilText === undefined && countText === undefined) return null;
  const until = untilText === undefined ? null : parseInstant(untilText.trim());
  if (until !== null && until <= now) return null;
  const replicas = countText === undefined ? null : readCount(countText.trim());
  const direction = replicas === null ? (DIRECTIONS.get(state ?? 'true') ?? 'both') : 'both';
  const reason = oneLine(annotations[PAUSE_ANNOTATIONS.reason] ?? '');
  const notes = [
    ...(replicas === null ? [] : [keptAt(replicas, notKept)]),
    ...(reason === '' ? [] : [reason]),
    ...invalidAnnotations(annotations, { isDirection: DIRECTIONS.has(state ?? 'true'), until, replicas }),
  ];
  return { by: 'annotation', direction, until, replicas, annotated: { direction, until }, notes };
}

/**
 * Returns a sentence about a pause by annotations that has ended; null: there is none. The author may not know that
 * `paused` has no effect while `paused-until` is in the past.
 */
export function endedPause(annotations: Annotations, now: Instant): string | null {
  const { paused, until: untilKey } = PAUSE_ANNOTATIONS;
  const until = parseInstant(annotations[untilKey]?.trim() ?? '');
  if (until === null || until > now || isOff(stateIn(annotations))) return null;
  return `the pause by annotation ended at ${formatInstant(until)}: ${paused} pauses nothing until ${untilKey} is removed or set to a later time`;
}

function stateIn(annotations: Annotations): string | undefined {
  return annotations[PAUSE_ANNOTATIONS.paused]?.trim().toLowerCase();
}

function isOff(state: string | undefined): boolean {
  return state === 'false' || state === '';
}

/** Returns what prevents the fixed count of a pause from being set; null: nothing. */
export function whyNotKept({
  isDryRun,
  hasConflict,
}: {
  readonly isDryRun: boolean;
  readonly hasConflict: boolean;
}): string | null {
  return isDryRun ? 'the dry run' : hasConflict ? 'the conflict' : null;
}

function keptAt(replicas: number, notKept: string | null): string {
  return notKept === null ? `kept at ${replicas}` : `would be kept at ${replicas} without ${notKept}`;
}

const DIRECTIONS: ReadonlyMap<string, Pause['direction']> = new Map([
  ['true', 'both'],
  ['scale-up', 'scale-up'],
  ['scale-down', 'scale-down'],
]);

function invalidAnnotations(
  annotations: Annotations,
  read: { readonly isDirection: boolean } & Pick<Pause, 'until' | 'replicas'>,
): readonly string[] {
  const { paused, until, replicas } = PAUSE_ANNOTATIONS;
  const describe = (name: string, isRead: boolean, meaning: string): readonly string[] => {
    const text = annotations[name];
    return text === undefined || isRead ? [] : [`${name} ${JSON.stringify(oneLine(text, 60))} is ${meaning}`];
  };
  return [
    ...describe(paused, read.isDirection, 'invalid, interpreted as "true"'),
    ...describe(until, read.until !== null, 'not an RFC 3339 time, so the pause has no end'),
    ...describe(replicas, read.replicas !== null, 'not a number of replicas, so the current count is kept'),
  ];
}

function oneLine(text: string, maxLength = MAX_REASON_LENGTH): string {
  return text
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, maxLength);
}

function readCount(text: string): number | null {
  if (!/^\d{1,10}$/.test(text)) return null;
  const count = Number(text);
  return count <= MAX_REPLICAS ? count : null;
}
