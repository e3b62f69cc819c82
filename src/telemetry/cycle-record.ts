import type { Condition, Decision } from '../decision/decision.js';
import type { Snapshot } from '../decision/snapshot.js';
import type { Scaler } from '../scaler/spec.js';
import type { Instant } from '../units/time.js';

/** Everything one cycle of one scaler leaves behind. Metrics, log, events and API read it; nothing is computed twice. */
export interface CycleRecord {
  readonly scaler: Scaler;
  /** The instant of the round. */
  readonly at: Instant;
  /** Null where the target or its pods could not be read; `conditions` then say why. */
  readonly snapshot: Snapshot | null;
  readonly decision: Decision | null;
  readonly outcome: Outcome;
  /** Why the count is what it is, where a pause or its end says so. Absent: the decision's own reason. */
  readonly reason?: string | undefined;
  /** The decision's and the loop's (FailedGetScale, Held, ...). A type that is left out keeps its last one. */
  readonly conditions: readonly Condition[];
  /** In force for this scaler, by the document or by annotations of the target; null: none. */
  readonly pause: Pause | null;
  /** In force for this scaler, by the document or the command line. */
  readonly dryRun: boolean;
  /** Absent: nobody takes our values back. */
  readonly conflictingWriter?: ConflictingWriter | undefined;
  /** Absent: no dry run, or no HPA on the target that has said what it wants. */
  readonly shadow?: Shadow | undefined;
  /** When the target was last scaled, also by an earlier process; null: not known. Absent: as after the cycle before. */
  readonly lastScales?: Readonly<Record<Direction, Instant | null>> | undefined;
  readonly seconds: PhaseSeconds;
}

/** What a person has stopped, in the document or by annotations of the target. */
export interface Pause {
  /** Who says so: annotations of the target, the document, or both. */
  readonly by: 'annotation' | 'document' | 'both';
  readonly direction: 'both' | 'scale-up' | 'scale-down';
  /** When it ends by itself; null: when it is taken back. */
  readonly until: Instant | null;
  /** The count that the target is kept at meanwhile; null: the one it has. */
  readonly replicas: number | null;
  /** Who says so, until when, why, and what could not be read. */
  readonly message: string;
}

/** A dry run beside an HPA. */
export interface Shadow {
  /** `HorizontalPodAutoscaler shop/web`, or the ScaledObject that owns it. */
  readonly beside: string;
  readonly theirReplicas: number;
  /** Our desired replicas less theirs. */
  readonly difference: number;
}

/** A person or a pipeline that sets other replicas whenever promscaler has set its own. It is reported, not fought. */
export interface ConflictingWriter {
  /** By `managedFields`: `kubectl`, `argocd-controller`. Empty where that is not known. */
  readonly managers: readonly string[];
  /** RFC 3339. */
  readonly since: string;
  /** One sentence. */
  readonly message: string;
}

/** Seconds from the start to the end of each phase, at least 0. */
export interface PhaseSeconds {
  readonly observe: number;
  readonly decide: number;
  readonly act: number;
}

/**
 * What became of the decision.
 * - none: there was nothing to change, or nothing was decided
 * - patched: the server answered that the count is now `to`
 * - replaced: the PATCH went through, but the server's answer names another count (`to`) than was asked for
 * - dry-run, paused, held: a change was due and held back (held: another autoscaler, a degraded state store)
 * - conflict: the target changed meanwhile, nothing was patched
 * - failed: the PATCH failed, or its answer was lost
 */
export type OutcomeKind =
  'none' | 'patched' | 'replaced' | 'dry-run' | 'paused' | 'held' | 'conflict' | 'failed';

export interface Outcome {
  readonly kind: OutcomeKind;
  /** Replicas before the change; null where they are not known. */
  readonly from: number | null;
  /** Replicas asked for, or answered by the server; null where nothing was decided. */
  readonly to: number | null;
  /** One sentence; empty where `kind` says it all. Holds no secret. */
  readonly message: string;
}

/** The sentence of a cycle; null where nothing was decided. */
export function reasonOf({ reason, decision }: CycleRecord): string | null {
  return reason ?? decision?.reason ?? null;
}

/** The limits of what was to be carried out: those of a decision that a pause has replaced are none. */
export function limitsOf({ pause, decision }: CycleRecord): Decision['limits'] {
  return decision === null || (pause?.replicas ?? null) !== null ? [] : decision.limits;
}

/** The outcome of a cycle that had nothing to change. */
export function noChange(replicas: number | null): Outcome {
  return { kind: 'none', from: replicas, to: replicas, message: '' };
}

export type Direction = 'up' | 'down';

/** Which way an outcome has moved the target; null where it did not. */
export function rescaleDirection(outcome: Outcome): Direction | null {
  const { kind, from, to } = outcome;
  if ((kind !== 'patched' && kind !== 'replaced') || from === null || to === null || from === to) return null;
  return to > from ? 'up' : 'down';
}
