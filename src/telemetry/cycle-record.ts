import { boundsInForce } from '../decision/limits/scheduled-bounds.js';
import { type Pause, pauseMessage } from '../decision/pause.js';
import type { Condition } from '../decision/result/condition.js';
import type { Decision } from '../decision/result/decision.js';
import type { Snapshot } from '../decision/snapshot/snapshot.js';
import type { Scaler } from '../scaler/spec.js';
import { type Instant, instantOrNull } from '../units/time.js';

/** The record of a cycle of a scaler. It is the only source of metrics, log, events and API. */
export interface CycleRecord {
  readonly scaler: Scaler;
  /** The start of the round. */
  readonly at: Instant;
  /** Null if the target or its pods could not be read; `conditions` explain why. */
  readonly snapshot: Snapshot | null;
  readonly decision: Decision | null;
  readonly outcome: Outcome;
  /** Reason of the count during a pause and in the first cycle after it. Absent: the reason of the decision. */
  readonly reason?: string | undefined;
  /** Conditions of the decision and the control loop. An absent type keeps its last condition. */
  readonly conditions: readonly Condition[];
  /** Set by the document or by annotations of the target. */
  readonly pause: Pause | null;
  /** Set by the document or the command line. */
  readonly dryRun: boolean;
  /** Absent: no other client overwrites the replicas set by promscaler. */
  readonly conflictingWriter?: ConflictingWriter | undefined;
  /** Another autoscaler of the target: a conflict or, in a dry run, the one to compare with. Absent: none. */
  readonly otherScaler?: OtherAutoscaler | undefined;
  /** Absent: no dry run, or no HPA with desired replicas on the target. */
  readonly shadow?: Shadow | undefined;
  /** When the target was last scaled, by any process; null: unknown. Absent: as after the previous cycle. */
  readonly lastScales?: Readonly<Record<Direction, Instant | null>> | undefined;
  readonly seconds: PhaseSeconds;
}

/** Returns a pause as the API and the decision record show it. */
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

/** An HPA, a ScaledObject or a Scaler. */
export interface OtherAutoscaler {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Shadow {
  /** The other autoscaler, for example `HorizontalPodAutoscaler shop/web` or the ScaledObject that owns the HPA. */
  readonly beside: string;
  readonly theirReplicas: number;
  readonly difference: number;
}

/** Another client that overwrites the replicas set by promscaler. promscaler reports it and continues. */
export interface ConflictingWriter {
  /** Names in `managedFields`, such as `kubectl` and `argocd-controller`. Empty: unknown. */
  readonly managers: readonly string[];
  /** RFC 3339. */
  readonly since: string;
  readonly message: string;
}

interface PhaseSeconds {
  readonly observe: number;
  readonly decide: number;
  readonly act: number;
}

/**
 * The result of a decision.
 * - none: nothing to change, or no decision
 * - patched: the response has the count `to`
 * - replaced: the PATCH was accepted, but the response has another count (`to`) than requested
 * - dry-run, paused, held: a change was prevented (held: by another autoscaler or an unusable state store)
 * - conflict: the target has changed since the decision, nothing was patched
 * - failed: the PATCH failed, or its response was lost
 */
export type OutcomeKind =
  'none' | 'patched' | 'replaced' | 'dry-run' | 'paused' | 'held' | 'conflict' | 'failed';

export interface Outcome {
  readonly kind: OutcomeKind;
  readonly from: number | null;
  /** Replicas requested or in the response; null: no decision. */
  readonly to: number | null;
  /** May be empty. Contains no secrets. */
  readonly message: string;
}

/** Returns null if there is no decision. */
export function reasonOf({ reason, decision }: CycleRecord): string | null {
  return reason ?? decision?.reason ?? null;
}

/** Returns the fixed count of a pause, or the count of the decision; null: there is no decision. */
export function desiredReplicasOf({ pause, decision }: CycleRecord): number | null {
  return decision === null ? null : (pause?.replicas ?? decision.desiredReplicas);
}

/** Returns the limits of the decision; none in a pause with a fixed count, which replaces the decision. */
export function limitsOf({ pause, decision }: CycleRecord): Decision['limits'] {
  return decision === null || (pause?.replicas ?? null) !== null ? [] : decision.limits;
}

/** Returns the bounds in effect. Without a decision, only the document determines them. */
export function boundsOf({
  decision,
  scaler,
  at,
}: CycleRecord): Pick<Decision, 'minReplicas' | 'maxReplicas'> {
  return decision ?? boundsInForce(scaler.spec, at);
}

/** Returns a shared object for each count, because the record of each scaler keeps one. */
export function noChange(replicas: number | null): Outcome {
  const known = unchanged.get(replicas);
  if (known !== undefined) return known;
  const outcome: Outcome = { kind: 'none', from: replicas, to: replicas, message: '' };
  if (unchanged.size < MOST_UNCHANGED) unchanged.set(replicas, outcome);
  return outcome;
}

const unchanged = new Map<number | null, Outcome>();
const MOST_UNCHANGED = 1000;

export type Direction = 'up' | 'down';

/** Returns null if the replicas did not change. */
export function rescaleDirection(outcome: Outcome): Direction | null {
  const { kind, from, to } = outcome;
  if ((kind !== 'patched' && kind !== 'replaced') || from === null || to === null || from === to) return null;
  return to > from ? 'up' : 'down';
}

/** Returns whether a change was prevented on purpose. */
export function isHeldBack({ kind }: Outcome): boolean {
  return kind === 'dry-run' || kind === 'paused' || kind === 'held';
}

export function isSameOutcome(a: Outcome | undefined, b: Outcome): boolean {
  return a?.kind === b.kind && a.from === b.from && a.to === b.to;
}
