import type { ScalerName } from '../scaler/spec.js';
import { formatInstant, type Instant } from '../units/time.js';

type Direction = 'both' | 'scale-up' | 'scale-down';

/** A pause of the scaling of a target: who has requested it, in which direction, and until when. */
export interface Pause {
  readonly by: 'annotation' | 'document' | 'both';
  readonly direction: Direction;
  /** When the pause ends automatically; null: it lasts until a user removes it. */
  readonly until: Instant | null;
  /** The fixed count during the pause; null: the current count is kept. */
  readonly replicas: number | null;
  /**
   * The direction that the annotations of the target pause, and the end of that pause; null: the annotations pause
   * nothing.
   */
  readonly annotated: { readonly direction: Direction; readonly until: Instant | null } | null;
  /**
   * Further clauses of the message: the fixed count, the user's reason, invalid annotations, and the field of the
   * document. They are a list because a user's text may contain any separator.
   */
  readonly notes: readonly string[];
}

const SUBJECTS = { both: 'scaling', 'scale-up': 'scale-up', 'scale-down': 'scale-down' } as const;

/** Returns the whole message: `scaling is paused by annotation until 2026-01-01T12:00:00Z; kept at 3; load test`. */
export function pauseMessage({ annotated, notes }: Pause): string {
  const subject =
    annotated === null ? [] : [`${SUBJECTS[annotated.direction]} is ${byAnnotation(annotated)}`];
  return [...subject, ...notes].join('; ');
}

/** Returns the message without the end of the pause: `by annotation; kept at 3; load test`. */
export function pauseCause({ annotated, notes }: Pause): string {
  return [...(annotated === null ? [] : [sourceOf(annotated.direction)]), ...notes].join('; ');
}

/** Returns the reason for a count that a pause sets: `paused by annotation, kept at 3, load test`. */
export function pauseReason({ annotated, notes }: Pause): string {
  return [...(annotated === null ? [] : [byAnnotation(annotated)]), ...notes].join(', ');
}

/**
 * Returns the end of a message about a pause in dry run, which does not pause the other autoscaler of the target.
 * Empty: no other autoscaler is known. `noAutoscaler` says that nothing scales the target; null: an autoscaler does, or
 * that is unknown.
 */
export function besideDryRun(other: OtherAutoscaler | null, noAutoscaler: string | null): string {
  const what = noAutoscaler ?? (other === null ? null : describeOther(other));
  return what === null ? '' : `; in dry run, ${what}`;
}

/** An HPA, a ScaledObject or another Scaler. */
export interface OtherAutoscaler {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /**
   * Why the HPA has no desired replicas and therefore does not scale; unset: it has desired replicas, or this is a
   * Scaler.
   */
  readonly whyNoCount?: string | undefined;
  /** Another HPA or ScaledObject with the same target; unset: there is none. */
  readonly second?: Omit<OtherAutoscaler, 'whyNoCount' | 'second' | 'scaler'> | undefined;
  /**
   * A Scaler with the same target that is not in dry run, and that patches nothing because of this HPA or ScaledObject;
   * unset: there is none.
   */
  readonly scaler?: ScalerName | undefined;
}

export function nameOtherScaler({ kind, namespace, name }: OtherAutoscaler): string {
  return `${kind} ${namespace}/${name}`;
}

/** Returns what another autoscaler does while the scaler is in dry run. */
export function describeOther(other: OtherAutoscaler): string {
  const who = nameOtherScaler(other);
  const what =
    other.whyNoCount === undefined
      ? `${who} scales the target`
      : `${who} has the same target, but no desired replicas: ${other.whyNoCount}`;
  const { scaler } = other;
  if (scaler === undefined) return what;
  return `${what}; ${nameOtherScaler({ kind: 'Scaler', ...scaler })} has the same target, and patches nothing`;
}

/**
 * Returns the effect of another autoscaler of the target: it `scales` the target, or nothing does because the HPA has
 * no desired replicas.
 */
export function conflictWith(
  other: OtherAutoscaler,
  { scales, target }: { readonly scales: string; readonly target: string },
): string {
  return other.whyNoCount === undefined ? scales : `nothing scales ${target}: ${describeOther(other)}`;
}

function byAnnotation({ until }: NonNullable<Pause['annotated']>): string {
  return `paused by annotation${until === null ? '' : ` until ${formatInstant(until)}`}`;
}

function sourceOf(direction: Direction): string {
  return direction === 'both' ? 'by annotation' : `${SUBJECTS[direction]} is paused by annotation`;
}
