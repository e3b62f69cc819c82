import { boundsInForce } from '../decision/limits/bounds.js';
import type { TargetFailure } from '../decision/failing.js';
import { type OtherAutoscaler, type Pause, pauseMessage } from '../decision/pause.js';
import type { Condition } from '../decision/result/condition.js';
import type { Decision } from '../decision/result/decision.js';
import type { ConflictingWriter } from '../decision/state.js';
import type { Snapshot } from '../decision/snapshot/snapshot.js';
import type { Scaler } from '../scaler/spec.js';
import { type Instant, instantOrNull } from '../units/time.js';

/** The record of one cycle of a scaler. It is the only source of metrics, log, events and API. */
export interface CycleRecord {
  readonly scaler: Scaler;
  /** When the round of the cycle began. */
  readonly at: Instant;
  /** The input of the decision; null: the target or its pods could not be read, and `conditions` say why. */
  readonly snapshot: Snapshot | null;
  readonly decision: Decision | null;
  readonly outcome: Outcome;
  /**
   * The reason of the count, if it differs from the reason of the decision: during a pause with a fixed count, and in
   * the first cycle after a pause. Absent: the reason of the decision applies.
   */
  readonly reason?: string | undefined;
  /**
   * The conditions of the decision and of the control loop. If a type is missing, the condition of the previous record
   * remains.
   */
  readonly conditions: readonly Condition[];
  /** The pause by the document or by annotations of the target; null: there is none. */
  readonly pause: Pause | null;
  /** Whether the document or the command line requests a dry run. */
  readonly dryRun: boolean;
  /** Absent: no other client has recently overwritten the replicas set by promscaler several times. */
  readonly conflictingWriter?: ConflictingWriter | undefined;
  /**
   * Another autoscaler of the target. It conflicts with this scaler; in a dry run, the decision is compared with it.
   * Absent: there is none.
   */
  readonly otherScaler?: OtherAutoscaler | undefined;
  /** Says that nothing scales the target of a dry run, and why. Absent: an autoscaler does, or that is unknown. */
  readonly noAutoscaler?: string | undefined;
  /** Why the target could not be read. Absent: it was read. */
  readonly targetFailure?: TargetFailure | undefined;
  /**
   * The comparison with an HPA. Absent: the cycle was not a dry run, or no HPA with desired replicas scales the target.
   */
  readonly shadow?: Shadow | undefined;
  /** When any process last scaled the target; null: unknown. Absent: unchanged since the previous cycle. */
  readonly lastScales?: Readonly<Record<Direction, Instant | null>> | undefined;
  readonly seconds: PhaseSeconds;
}

/** Returns a pause as JSON, for the API and the decision record. */
export function pauseToJson(pause: Pause | null): {
  readonly by: Pause['by'];
  readonly direction: Pause['direction'];
  readonly until: string | null;
  readonly replicas: number | null;
  readonly message: string;
} | null {
  if (pause === null) return null;
  const { by, direction, until, replicas } = pause;
  return { by, direction, until: instantOrNull(until), replicas, message: pauseMessage(pause) };
}

export interface Shadow {
  /** The other autoscaler, such as `HorizontalPodAutoscaler shop/web`, or the ScaledObject that owns that HPA. */
  readonly beside: string;
  readonly theirReplicas: number;
  readonly difference: number;
}

interface PhaseSeconds {
  readonly observe: number;
  readonly decide: number;
  readonly act: number;
}

/**
 * The result of a decision.
 * - none: there was nothing to change, or no decision
 * - patched: the response has the count `to`
 * - replaced: the PATCH was accepted, but the response has another count (`to`) than requested
 * - dry-run, paused, held: a change was prevented (held: by another autoscaler or an unusable state store)
 * - conflict: the target has changed since the decision, and nothing was patched
 * - failed: the PATCH failed, or its response was lost
 */
export type OutcomeKind =
  'none' | 'patched' | 'replaced' | 'dry-run' | 'paused' | 'held' | 'conflict' | 'failed';

export interface Outcome {
  readonly kind: OutcomeKind;
  readonly from: number | null;
  /** The replicas in the response to the PATCH, otherwise the requested replicas; null: there was no decision. */
  readonly to: number | null;
  /** What happened; may be empty. Contains no secrets. */
  readonly message: string;
}

/** Returns the reason of the count; null: there is no decision. */
export function reasonOf({ reason, decision }: CycleRecord): string | null {
  return reason ?? decision?.reason ?? null;
}

/** Returns the fixed count of a pause, otherwise the desired count of the decision; null: there is no decision. */
export function desiredReplicasOf({ pause, decision }: CycleRecord): number | null {
  return decision === null ? null : (pause?.replicas ?? decision.desiredReplicas);
}

/**
 * Returns the limits of the decision. Empty in a pause with a fixed count, because that count replaces the decision.
 */
export function limitsOf({ pause, decision }: CycleRecord): Decision['limits'] {
  return decision === null || (pause?.replicas ?? null) !== null ? [] : decision.limits;
}

/** Returns the bounds in effect. If there is no decision, the document and its schedules determine them. */
export function boundsOf({
  decision,
  scaler,
  at,
}: CycleRecord): Pick<Decision, 'minReplicas' | 'maxReplicas'> {
  return decision ?? boundsInForce(scaler.spec, at);
}

/** Returns the outcome `none`. */
export function noChange(replicas: number | null): Outcome {
  return { kind: 'none', from: replicas, to: replicas, message: '' };
}

export type Direction = 'up' | 'down';

/** Returns the direction of a change; null: the replicas did not change. */
export function rescaleDirection(outcome: Outcome): Direction | null {
  const { kind, from, to } = outcome;
  if ((kind !== 'patched' && kind !== 'replaced') || from === null || to === null || from === to) return null;
  return to > from ? 'up' : 'down';
}

/** Returns whether a change was prevented on purpose, by a dry run, a pause or a hold. */
export function isHeldBack({ kind }: Outcome): boolean {
  return kind === 'dry-run' || kind === 'paused' || kind === 'held';
}

export function isSameOutcome(a: Outcome | undefined, b: Outcome): boolean {
  return a?.kind === b.kind && a.from === b.from && a.to === b.to;
}

export interface Agreement {
  /** The other autoscaler, such as `HorizontalPodAutoscaler shop/web`. */
  readonly beside: string;
  /** The time of the first cycle that was compared. */
  readonly since: Instant;
  /** How many cycles were compared. */
  readonly rounds: number;
  /** In how many of the compared cycles promscaler and the HPA wanted the same replicas. */
  readonly same: number;
  /** The largest difference, or the last of several equal differences; null: there was none. */
  readonly largest: LargestDifference | null;
}

interface LargestDifference {
  readonly at: Instant;
  readonly desiredReplicas: number;
  readonly theirReplicas: number;
  /** The reason of promscaler's decision. */
  readonly reason: string;
}

/**
 * Adds a cycle to the comparison. The comparison starts again if the spec changes or another HPA is compared. A cycle
 * without a comparison changes nothing.
 */
export function agreementAfter(
  before: { readonly scaler: Scaler; readonly agreement: Agreement | null } | null,
  record: CycleRecord,
): Agreement | null {
  const { shadow, at } = record;
  const known = before !== null && isSameSpec(before.scaler, record.scaler) ? before.agreement : null;
  if (shadow === undefined) return known;
  const { beside, theirReplicas, difference } = shadow;
  const start = { beside, since: at, rounds: 0, same: 0, largest: null };
  const counted = known?.beside === beside ? known : start;
  const rounds = counted.rounds + 1;
  if (difference === 0) return { ...counted, rounds, same: counted.same + 1 };
  const { largest } = counted;
  const isLarger =
    largest === null || Math.abs(difference) >= Math.abs(largest.desiredReplicas - largest.theirReplicas);
  const found = {
    at,
    desiredReplicas: theirReplicas + difference,
    theirReplicas,
    reason: reasonOf(record) ?? '',
  };
  return { ...counted, rounds, largest: isLarger ? found : largest };
}

/** Compares the contents of two specs, because a reload creates a new object even for an unchanged document. */
export function isSameSpec(a: Scaler, b: Scaler): boolean {
  return a === b || JSON.stringify(a.document.spec) === JSON.stringify(b.document.spec);
}
