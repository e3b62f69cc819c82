import type { Condition } from '../../decision/result/condition.js';
import type { PodFacts } from '../../decision/proposals/settled-pods.js';
import { EMPTY_STATE } from '../../decision/snapshot/snapshot.js';
import type { State } from '../../decision/snapshot/snapshot.js';
import type { ClusterPod } from '../../kubernetes/api/types.js';
import { intendedCounts } from '../../kubernetes/state/state-entry.js';
import type { Intent, StoredCapacities } from '../../kubernetes/state/state-entry.js';
import { NO_HOLDS } from '../../prometheus/recovery-hold.js';
import type { ScalerHolds } from '../../prometheus/recovery-hold.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Direction } from '../../telemetry/cycle-record.js';
import { type Instant, laterOf } from '../../units/time.js';
import { NO_REVERSALS } from './conflicting-writer.js';
import type { WriterWatch } from './conflicting-writer.js';
import { type ForecastMarks, rebased } from './forecast-memory.js';
import type { PodStarts } from './pod-starts.js';

/** State of a scaler between two cycles. Immutable: each cycle returns a new value. */
export interface Memory {
  readonly uid: string | null;
  readonly state: State;
  /** Assumed start of a window after a scaling at an unknown time. An equal time in `state` is an assumption, too. */
  readonly assumedAt: Instant | null;
  /** The last known scalings, if `state` contains an assumed time instead; absent: none is known. */
  readonly knownScales?: LastScales | undefined;
  readonly holds: ScalerHolds;
  /** Intent of a PATCH with an unknown result, sent by this process, an earlier one or another replica. */
  readonly unresolved: Intent | null;
  /** Whether `unresolved` may never have been in the state store. */
  readonly isUnannounced: boolean;
  /** The count that an admission webhook set (`got`) instead of the requested one (`wanted`). */
  readonly override: { readonly wanted: number; readonly got: number } | null;
  readonly writer: WriterWatch;
  /** Null while all desired pods are ready. */
  readonly shortfall: Shortfall | null;
  /** Facts of the pods as last listed: the same object as long as no pod has changed. Absent: not listed yet. */
  readonly podFacts?: PodFacts<ClusterPod> | undefined;
  /** Only for documents that use the pod start time; absent: no start was seen. */
  readonly podStarts?: PodStarts | undefined;
  /** Only for documents with a forecast; absent: none was decided yet. */
  readonly forecastMarks?: ForecastMarks | undefined;
  /** Only for documents with `capacity.auto`; absent: nothing was measured. */
  readonly capacities?: StoredCapacities | undefined;
  /** The document of the last cycle that read its target; absent: there was none. */
  readonly scaler?: Scaler | undefined;
  /** The conditions of the last record: the same list as long as none has changed. Absent: no record yet. */
  readonly conditions?: readonly Condition[] | undefined;
  /** Whether a pause was in effect in the last cycle; absent: false. */
  readonly wasPaused?: boolean | undefined;
  /** Whether the last cycle was a dry run and no change was accepted or checked since; absent: false. */
  readonly wasDryRun?: boolean | undefined;
  readonly isRestored: boolean;
  /** The stored entry on which this memory is based; null: none. */
  readonly stored: string | null;
  readonly isUnsaved: boolean;
}

export type LastScales = Readonly<Record<Direction, Instant | null>>;

/** A period in which a target has fewer ready pods than `spec.replicas`. */
export interface Shortfall {
  readonly since: Instant;
  /** `spec.replicas` of the target. When it grows, the period restarts, because new pods need time to start. */
  readonly wanted: number;
}

/**
 * Returns the memory of a scaler with an unknown past, as if it had been scaled in both directions now: both windows
 * restart, and the first decision seeds stabilization with the current count.
 */
export function freshMemory(now: Instant, uid: string | null): Memory {
  const state = { ...EMPTY_STATE, lastScaleUp: now, lastScaleDown: now };
  return {
    uid,
    state,
    assumedAt: now,
    holds: NO_HOLDS,
    unresolved: null,
    isUnannounced: false,
    override: null,
    writer: NO_REVERSALS,
    shortfall: null,
    isRestored: false,
    stored: null,
    isUnsaved: false,
  };
}

/**
 * Returns a mutable copy, whose fields the caller sets before it passes the copy on. Each cycle makes two, and a spread
 * of all fields takes V8 ten times as long.
 */
export function copyMemory(memory: Memory): { -readonly [field in keyof Memory]: Memory[field] } {
  const copy: { [field in keyof Required<Memory>]: Memory[field] } = {
    uid: memory.uid,
    state: memory.state,
    assumedAt: memory.assumedAt,
    knownScales: memory.knownScales,
    holds: memory.holds,
    unresolved: memory.unresolved,
    isUnannounced: memory.isUnannounced,
    override: memory.override,
    writer: memory.writer,
    shortfall: memory.shortfall,
    podFacts: memory.podFacts,
    podStarts: memory.podStarts,
    forecastMarks: memory.forecastMarks,
    capacities: memory.capacities,
    scaler: memory.scaler,
    conditions: memory.conditions,
    wasPaused: memory.wasPaused,
    wasDryRun: memory.wasDryRun,
    isRestored: memory.isRestored,
    stored: memory.stored,
    isUnsaved: memory.isUnsaved,
  };
  return copy;
}

/**
 * Returns the memory at the start of another term of this process. It keeps what is stored, to be compared with the
 * state store, and drops everything else.
 */
export function forNewTerm(memory: Memory, now: Instant): Memory {
  const { uid, stored, unresolved, isUnannounced, isUnsaved, assumedAt, knownScales, capacities } = memory;
  if (uid === null) return freshMemory(now, null);
  const { lastScaleUp, lastScaleDown, scaleEvents, zeroedBySelf, failingSince } = memory.state;
  const times = { lastScaleUp, lastScaleDown, scaleEvents, failingSince };
  const state = { ...EMPTY_STATE, ...times, zeroedBySelf, ...keptIn(memory.state) };
  const known = knownScales === undefined ? {} : { knownScales };
  return {
    ...freshMemory(now, uid),
    state,
    assumedAt,
    ...known,
    stored,
    unresolved,
    isUnannounced,
    isUnsaved,
    capacities,
  };
}

export function keptIn({
  maxReplicasFrom,
  forecast,
}: Pick<State, 'maxReplicasFrom' | 'forecast'>): Pick<State, 'maxReplicasFrom' | 'forecast'> {
  return {
    ...(maxReplicasFrom === undefined ? {} : { maxReplicasFrom }),
    ...(forecast === undefined ? {} : { forecast }),
  };
}

export function forNewTarget(memory: Memory, now: Instant, uid: string | null): Memory {
  const { isRestored, stored } = memory;
  return { ...freshMemory(now, uid), isRestored, stored, isUnsaved: true };
}

/** Returns when any process last scaled the target. Assumed times are not included. */
export function lastScales(memory: Memory): LastScales {
  const { state, assumedAt, knownScales } = memory;
  return {
    up: state.lastScaleUp === assumedAt ? (knownScales?.up ?? null) : state.lastScaleUp,
    down: state.lastScaleDown === assumedAt ? (knownScales?.down ?? null) : state.lastScaleDown,
  };
}

/** Starts the window of the direction of the change. */
export function withChange(state: State, change: number, at: Instant): State {
  const { lastScaleUp, lastScaleDown } = state;
  return {
    ...state,
    lastScaleUp: change > 0 ? laterOf(lastScaleUp, at) : lastScaleUp,
    lastScaleDown: change < 0 ? laterOf(lastScaleDown, at) : lastScaleDown,
  };
}

/**
 * Returns the state after an intent that may have been applied: every change that it may have caused starts its window.
 */
export function withIntent(state: State, intent: Intent, at: Instant): State {
  return intendedCounts(intent).reduce((after, count) => withChange(after, count - intent.from, at), state);
}

/**
 * Returns the state after a decision that was not applied: it keeps the recommendation, not the change, also for the
 * count without a forecast. Above 0 replicas `zeroedBySelf` is false, because the next 0 may be set by another client.
 */
export function withoutChange(decided: State, before: State, replicas: number): State {
  const state = {
    ...decided,
    lastScaleUp: before.lastScaleUp,
    lastScaleDown: before.lastScaleDown,
    scaleEvents: before.scaleEvents,
    zeroedBySelf: before.zeroedBySelf && replicas === 0,
  };
  return rebased(state, replicas);
}
