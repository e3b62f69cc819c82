import type { Condition } from '../../decision/result/condition.js';
import type { PodFacts } from '../../decision/proposals/settled-pods.js';
import { EMPTY_STATE, type State, type ReactiveCount } from '../../decision/snapshot/snapshot.js';
import type { ClusterPod } from '../../kubernetes/api/types.js';
import { intendedCounts, type Intent, type StoredCapacities } from '../../kubernetes/state/state-entry.js';
import { NO_HOLDS, type ScalerHolds } from '../../prometheus/recovery-hold.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Direction } from '../../telemetry/cycle-record.js';
import { type Instant, laterOf } from '../../units/time.js';
import { NO_REVERSALS, type WriterWatch } from './conflicting-writer.js';
import type { PodStarts } from './pod-starts.js';
import { bucketOf, STATE_BUCKETS } from '../../kubernetes/state/state-key.js';

/** What a cycle keeps for the next cycle of the same scaler. Immutable: each cycle returns a new value. */
export interface Memory {
  readonly uid: string | null;
  readonly state: State;
  /**
   * The time that is assumed for the last scale-up or scale-down if the real time is unknown; null: none. A time in
   * `state` is assumed if it equals this time.
   */
  readonly assumedAt: Instant | null;
  /** The last known changes of replicas, for the directions whose time in `state` is assumed; absent: none is known. */
  readonly knownScales?: LastScales | undefined;
  readonly holds: ScalerHolds;
  /**
   * The stored intent of a PATCH whose result is unknown; null: there is none. The PATCH was sent by this process, an
   * earlier process or another replica.
   */
  readonly unresolved: Intent | null;
  /** Whether `unresolved` may be missing from the state store. */
  readonly isUnannounced: boolean;
  /** The count that an admission webhook set (`got`) instead of the requested count (`wanted`); null: none. */
  readonly override: { readonly wanted: number; readonly got: number } | null;
  readonly writer: WriterWatch;
  /** Since when pods have been missing; null: all desired pods are ready. */
  readonly shortfall: Shortfall | null;
  /**
   * The pods as last listed. The object is the same as long as no pod has changed. Absent: pods were not listed yet.
   */
  readonly podFacts?: PodFacts<ClusterPod> | undefined;
  /** Only for documents that use the pod start time; absent: no start has been seen. */
  readonly podStarts?: PodStarts | undefined;
  /** Only for documents with a forecast; absent: no decision with a forecast was made yet. */
  readonly forecastMarks?: ForecastMarks | undefined;
  /** Only for documents with `capacity.auto`; absent: nothing was measured. */
  readonly capacities?: StoredCapacities | undefined;
  /** The document of the last cycle that read its target; absent: there was no such cycle. */
  readonly scaler?: Scaler | undefined;
  /**
   * The conditions of the last record. The list is the same as long as no condition has changed. Absent: there is no
   * record yet.
   */
  readonly conditions?: readonly Condition[] | undefined;
  /** Whether a pause was in effect in the last cycle; absent: false. */
  readonly wasPaused?: boolean | undefined;
  /** Whether a cycle was in dry run after the last change that was accepted or checked; absent: false. */
  readonly wasDryRun?: boolean | undefined;
  /** `spec.replicas` in the last cycle, if that cycle was in dry run; otherwise absent. */
  readonly dryRunReplicas?: number | undefined;
  /**
   * Since when nothing has scaled the target of a dry run: its HPA has no desired replicas, or the autoscaler from
   * which the document was made is gone. Absent: an HPA scales the target, or none is known.
   */
  readonly unscaledSince?: Instant | undefined;
  readonly isRestored: boolean;
  /**
   * Whether the stored entry is still to be merged, because the first read of the state store failed; absent: false.
   */
  readonly isUnmerged?: boolean | undefined;
  /** The text of the entry of this scaler in the state store, as last read or written; null: none. */
  readonly stored: string | null;
  readonly isUnsaved: boolean;
}

export type LastScales = Readonly<Record<Direction, Instant | null>>;

/** A period in which a target has fewer ready pods than `spec.replicas`. */
export interface Shortfall {
  readonly since: Instant;
  /** `spec.replicas` of the target. If it grows, `since` restarts, because the additional pods need time to start. */
  readonly wanted: number;
}

/**
 * Returns the memory of a scaler whose past is unknown. The target is assumed to have just been scaled in both
 * directions: both forbidden windows start, and the first decision keeps the current count for a stabilization window.
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
 * Returns a mutable copy. The caller sets its fields and then passes it on as immutable. The fields are listed for
 * speed: each cycle makes two copies, and a spread takes V8 ten times as long.
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
    dryRunReplicas: memory.dryRunReplicas,
    unscaledSince: memory.unscaledSince,
    isRestored: memory.isRestored,
    isUnmerged: memory.isUnmerged,
    stored: memory.stored,
    isUnsaved: memory.isUnsaved,
  };
  return copy;
}

/**
 * Returns the memory at the start of another term of this process. Keeps only what the state store also contains,
 * because the next read of the store merges both.
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

/** Returns when any process last scaled the target up and down. Assumed times are not included. */
export function lastScales(memory: Memory): LastScales {
  const { state, assumedAt, knownScales } = memory;
  return {
    up: state.lastScaleUp === assumedAt ? (knownScales?.up ?? null) : state.lastScaleUp,
    down: state.lastScaleDown === assumedAt ? (knownScales?.down ?? null) : state.lastScaleDown,
  };
}

/** Returns the state after a change, which starts the forbidden window of its direction. */
export function withChange(state: State, change: number, at: Instant): State {
  const { lastScaleUp, lastScaleDown } = state;
  return {
    ...state,
    lastScaleUp: change > 0 ? laterOf(lastScaleUp, at) : lastScaleUp,
    lastScaleDown: change < 0 ? laterOf(lastScaleDown, at) : lastScaleDown,
  };
}

/**
 * Returns the state after an intent with an unknown result: each change that the PATCH may have made starts the
 * forbidden window of its direction.
 */
export function withIntent(state: State, intent: Intent, at: Instant): State {
  return intendedCounts(intent).reduce((after, count) => withChange(after, count - intent.from, at), state);
}

/**
 * Returns the state after a decision that was not applied: it has the recommendation of the decision, but not the
 * change. In the state of a forecast, `reactive` becomes `replicas`, the current count. Above 0 replicas,
 * `zeroedBySelf` becomes false, because another client may set the next 0.
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

interface ForecastMarks {
  /** The replicas after the last cycle. */
  readonly replicas: number;
  /** The quarter of an hour in which the state was stored last. */
  readonly quarter: number;
}

const QUARTER_MS = 900_000;

/**
 * Returns the number of the quarter of an hour that contains `now`. Quarters start at different times for different
 * ConfigMaps. All scalers of a ConfigMap have the same quarters and are stored with one write, so a service makes at
 * most 64 such writes an hour.
 */
export function quarterOf(scaler: Scaler, now: Instant): number {
  return Math.floor((now + (bucketOf(scaler) * QUARTER_MS) / STATE_BUCKETS) / QUARTER_MS);
}

/**
 * Sets `reactive`, the count without a forecast, to a count that was not set by a decision. Otherwise the difference
 * between the two would be charged to the forecast.
 */
export function rebased<S extends State>(state: S, replicas: number): S {
  const { forecast, lastScaleUp, lastScaleDown, scaleEvents } = state;
  if (forecast === undefined || forecast.reactive.replicas === replicas) return state;
  const reactive: ReactiveCount = { replicas, lastScaleUp, lastScaleDown, scaleEvents };
  return { ...state, forecast: { ...forecast, reactive } };
}

/** Returns the forecast state of the later decision. */
export function laterForecast(
  { forecast: a }: Pick<State, 'forecast'>,
  { forecast: b }: Pick<State, 'forecast'>,
): Pick<State, 'forecast'> {
  const later = a !== undefined && b !== undefined && a.at < b.at ? b : (a ?? b);
  return later === undefined ? {} : { forecast: later };
}
