import type { ScalerSpec } from '../../scaler/spec.js';
import type { Pause } from '../../telemetry/cycle-record.js';
import { formatInstant, parseInstant } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { MAX_REPLICAS } from '../../units/replicas.js';

/** The annotations of a target that stop its scaling. Source: contract.md section 6; `reason` is told, no more. */
export const PAUSE_ANNOTATIONS = {
  paused: 'promscaler.dev/paused',
  until: 'promscaler.dev/paused-until',
  replicas: 'promscaler.dev/paused-replicas',
  reason: 'promscaler.dev/paused-reason',
} as const;

type Annotations = Readonly<Record<string, string>>;

/** Of a reason; it goes into a condition and an Event. */
const MAX_REASON_LENGTH = 200;

/**
 * The pause in force at `now`; null: none. The document's and the annotations' hold side by side: neither loosens the
 * other. `paused-until` ends the annotations' pause at that very instant. An annotation that can't be read stops more
 * rather than less, and the message says so: whoever wrote it wanted the scaling to stop.
 */
export function readPause(
  spec: Pick<ScalerSpec, 'paused'>,
  annotations: Annotations,
  now: Instant,
): Pause | null {
  const [annotated, written] = [pauseByAnnotation(annotations, now), pauseByDocument(spec)];
  if (annotated === null || written === null) return annotated ?? written;
  return {
    by: 'both',
    direction: annotated.direction === written.direction ? annotated.direction : 'both',
    until: null,
    replicas: annotated.replicas,
    message: `${annotated.message}; ${written.message}`,
  };
}

/** Whether a change of the count is stopped. A count to be kept stops no change: it is the change. */
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
    message: `spec.paused is ${String(paused)}`,
  };
}

function pauseByAnnotation(annotations: Annotations, now: Instant): Pause | null {
  const state = annotations[PAUSE_ANNOTATIONS.paused]?.trim().toLowerCase();
  const untilText = annotations[PAUSE_ANNOTATIONS.until];
  const countText = annotations[PAUSE_ANNOTATIONS.replicas];
  if (state === 'false' || state === '') return null;
  if (state === undefined && untilText === undefined && countText === undefined) return null;
  const until = untilText === undefined ? null : parseInstant(untilText.trim());
  if (until !== null && until <= now) return null;
  const replicas = countText === undefined ? null : readCount(countText.trim());
  // A count to be kept is meant for both directions.
  const direction = replicas === null ? (DIRECTIONS.get(state ?? 'true') ?? 'both') : 'both';
  const reason = oneLine(annotations[PAUSE_ANNOTATIONS.reason] ?? '');
  const facts = [
    `${SUBJECTS[direction]} is paused by annotation${until === null ? '' : ` until ${formatInstant(until)}`}`,
    ...(replicas === null ? [] : [`kept at ${replicas}`]),
    ...(reason === '' ? [] : [reason]),
    ...doubtsOf(annotations, { isDirection: DIRECTIONS.has(state ?? 'true'), until, replicas }),
  ];
  return { by: 'annotation', direction, until, replicas, message: facts.join('; ') };
}

const DIRECTIONS: ReadonlyMap<string, Pause['direction']> = new Map([
  ['true', 'both'],
  ['scale-up', 'scale-up'],
  ['scale-down', 'scale-down'],
]);

const SUBJECTS = { both: 'scaling', 'scale-up': 'scale-up', 'scale-down': 'scale-down' } as const;

/** What was written and could not be read, and what it is taken for. */
function doubtsOf(
  annotations: Annotations,
  read: { readonly isDirection: boolean } & Pick<Pause, 'until' | 'replicas'>,
): readonly string[] {
  const { paused, until, replicas } = PAUSE_ANNOTATIONS;
  const doubt = (name: string, isRead: boolean, meaning: string): readonly string[] => {
    const text = annotations[name];
    return text === undefined || isRead ? [] : [`${name} ${JSON.stringify(oneLine(text, 60))} is ${meaning}`];
  };
  return [
    ...doubt(paused, read.isDirection, 'read as "true"'),
    ...doubt(until, read.until !== null, 'no RFC 3339 time: no end'),
    ...doubt(replicas, read.replicas !== null, 'no count: the present one stays'),
  ];
}

/** Printable text of one line, whatever a person has written. */
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
