import { EMPTY_STATE, type ScaleEvent, type State, metricKey } from '../../decision/snapshot/snapshot.js';
import { joinEvents } from '../../kubernetes/state/scale-events.js';
import {
  type Intent,
  type StoredEntry,
  storedFailing,
  storedMetricKey,
  type StoredState,
} from '../../kubernetes/state/state-entry.js';
import type { StateReading } from '../../kubernetes/state/state-store.js';
import type { ScalerSpec } from '../../scaler/spec.js';
import { type Instant, laterOf } from '../../units/time.js';
import { afterOwnWrite } from './conflicting-writer.js';
import {
  laterForecast,
  freshMemory,
  keptIn,
  lastScales,
  type LastScales,
  type Memory,
  withIntent,
} from './memory.js';
import { areAlike, hasAuto, laterCapacities } from './measured-capacity.js';

/**
 * Returns the memory after a read of the state store. The first read restores the stored state. If there is no entry,
 * the last scaling is assumed when the ConfigMap was created, or now if the store is unusable. A later read merges the
 * state that another replica has written: it keeps the later of two times, and the events of both. Source:
 * reliability.md, D7 and W11.
 */
export function restoreMemory(
  memory: Memory,
  reading: StateReading,
  { now, spec }: { readonly now: Instant; readonly spec: ScalerSpec },
): Memory {
  if (!memory.isRestored && memory.uid !== null && reading.text !== null && reading.text === memory.stored)
    // This process wrote the entry in its last term, so nothing is merged: its memory is complete. The times in memory
    // were also shifted when the wall clock was set, unlike the stored times.
    return { ...memory, isRestored: true };
  if (!memory.isRestored) {
    const first = joinTerms(firstMemory(reading, { now, spec }), memory);
    // The text may be of an earlier read. It is not kept, because its entry is not merged yet.
    if (reading.kind === 'unusable') return { ...first, isRestored: true, isUnmerged: true, stored: null };
    return { ...first, isRestored: true, stored: reading.text };
  }
  if (reading.kind === 'unusable') return memory;
  if (memory.isUnmerged !== true) {
    if (reading.text === memory.stored) return memory;
    if (reading.kind === 'entry' && reading.isOwn) {
      const isAllStored = isStored(memory, reading.entry, spec);
      const isUnannounced = memory.isUnannounced && !isAllStored;
      return { ...memory, isUnannounced, stored: reading.text, isUnsaved: !isAllStored };
    }
  }
  const merged = reading.kind === 'entry' ? mergeEntry(memory, reading.entry, spec) : memory;
  return { ...merged, isUnmerged: undefined, stored: reading.text, isUnsaved: true };
}

/**
 * Merges the stored state with the memory of an earlier term of this process. Both are needed, because times in memory
 * were shifted when the wall clock was set, and stored times were not. If there is an entry, it determines which
 * metrics fail and who set a 0.
 */
function joinTerms(first: Memory, earlier: Memory): Memory {
  if (earlier.uid === null || (first.uid !== null && first.uid !== earlier.uid)) return first;
  const { unresolved, lost } = joinChanges(first, earlier);
  const state = lost === null ? earlier.state : withIntent(earlier.state, lost, lost.at);
  const lastScaleUp = laterOf(first.state.lastScaleUp, state.lastScaleUp);
  const lastScaleDown = laterOf(first.state.lastScaleDown, state.lastScaleDown);
  const { assumedAt } = earlier;
  const isStillAssumed = assumedAt !== null && [lastScaleUp, lastScaleDown].includes(assumedAt);
  return {
    ...first,
    uid: earlier.uid,
    assumedAt: isStillAssumed ? assumedAt : first.assumedAt,
    ...(isStillAssumed ? { knownScales: laterScales(lastScales(first), lastScales(earlier)) } : {}),
    state: {
      ...(first.uid === null ? state : first.state),
      ...laterForecast(state, first.state),
      lastScaleUp,
      lastScaleDown,
      scaleEvents: joinEvents(state.scaleEvents, first.state.scaleEvents),
    },
    unresolved,
    capacities: laterCapacities(first.capacities, earlier.capacities),
    isUnannounced: first.unresolved === null && unresolved !== null && earlier.isUnannounced,
    isUnsaved: earlier.isUnsaved,
  };
}

/**
 * Returns the unresolved change to keep. An entry has only one change. A second change is returned as `lost`; null:
 * there is none. If the entry lacks the change of the earlier term, another replica has resolved that change, unless
 * the change was never stored or the entry cannot be read.
 */
function joinChanges(
  { uid, unresolved: stored }: Memory,
  { unresolved: known, isUnannounced }: Memory,
): { readonly unresolved: Intent | null; readonly lost: Intent | null } {
  if (known === null) return { unresolved: stored, lost: null };
  const isEntryRead = uid !== null;
  if (stored === null) return { unresolved: isEntryRead && !isUnannounced ? null : known, lost: null };
  if (isSameChange(stored, known)) return { unresolved: known, lost: null };
  return { unresolved: stored, lost: isUnannounced ? known : null };
}

function isSameChange(a: Intent, b: Intent): boolean {
  return a.epoch === b.epoch && a.to === b.to && a.resourceVersion === b.resourceVersion;
}

function firstMemory(
  reading: StateReading,
  { now, spec }: { readonly now: Instant; readonly spec: ScalerSpec },
): Memory {
  const fresh = freshMemory(now, null);
  switch (reading.kind) {
    case 'off':
    case 'unusable':
      return fresh;
    case 'none': {
      const since = reading.since ?? now;
      const state = { ...EMPTY_STATE, lastScaleUp: since, lastScaleDown: since };
      return { ...fresh, state, assumedAt: since };
    }
    case 'entry': {
      const { entry } = reading;
      const { uid, intent, lastScaleUp, lastScaleDown, scaleEvents, zeroedBySelf, capacities } = entry;
      const times = { lastScaleUp, lastScaleDown, scaleEvents, failingSince: knownFailing(entry, spec) };
      const state = { ...EMPTY_STATE, ...times, zeroedBySelf, ...keptIn(entry) };
      return { ...fresh, uid, state, assumedAt: reading.since, unresolved: intent, capacities };
    }
    default:
      return reading satisfies never;
  }
}

function mergeEntry(memory: Memory, entry: StoredEntry, spec: ScalerSpec): Memory {
  const { uid, unresolved } = memory;
  // The entry belongs to another object with the same name, which existed before or after this object. Nothing is
  // merged: the next read of the target shows which of the two exists.
  if (uid !== null && uid !== entry.uid) return memory;
  // An entry has only one intent. If the intent of another replica replaces the intent of this process, the forbidden
  // window of the replaced intent is kept.
  const lost = unresolved !== null && entry.intent !== null ? unresolved : null;
  const state = lost === null ? memory.state : withIntent(memory.state, lost, lost.at);
  const { lastScaleUp: up, lastScaleDown: down } = entry;
  return {
    ...memory,
    uid: entry.uid,
    knownScales: laterScales(lastScales(memory), { up, down }),
    state: {
      ...state,
      lastScaleUp: laterOf(state.lastScaleUp, entry.lastScaleUp),
      lastScaleDown: laterOf(state.lastScaleDown, entry.lastScaleDown),
      scaleEvents: joinEvents(state.scaleEvents, entry.scaleEvents),
      zeroedBySelf: state.zeroedBySelf || entry.zeroedBySelf,
      failingSince: failingSinceOf(state, knownFailing(entry, spec)),
      ...keptIn(entry),
      ...keptIn(state),
      ...laterForecast(state, entry),
    },
    unresolved: entry.intent ?? unresolved,
    capacities: laterCapacities(memory.capacities, entry.capacities),
    isUnannounced: memory.isUnannounced && entry.intent === null,
    // Forgets the count that this process set: another replica also writes, so it may have set the next count that is
    // read.
    writer: afterOwnWrite(memory.writer, null),
  };
}

function laterScales(a: LastScales, b: LastScales): LastScales {
  return { up: laterOf(a.up, b.up), down: laterOf(a.down, b.down) };
}

/**
 * Returns since when metrics have failed. For each metric that failed in the last decision of this process, the earlier
 * of the two times is used. Before the first decision of this process, the stored times are used.
 */
function failingSinceOf(
  { recommendations, failingSince }: State,
  theirs: State['failingSince'],
): State['failingSince'] {
  if (recommendations === null) return theirs;
  return new Map(
    [...failingSince].map(([metric, since]) => {
      const stored = theirs.get(metric) ?? since;
      return [metric, stored < since ? stored : since];
    }),
  );
}

/**
 * Returns since when the metrics of an entry have failed, by `metricKey`. Entries have short forms of these keys;
 * entries of earlier releases have the full keys.
 */
function knownFailing({ failingSince }: StoredEntry, { metrics }: ScalerSpec): State['failingSince'] {
  if (failingSince.size === 0) return failingSince;
  return new Map(
    metrics.flatMap((metric) => {
      const key = metricKey(metric);
      const since = failingSince.get(storedMetricKey(key)) ?? failingSince.get(key);
      return since === undefined ? [] : [[key, since] as const];
    }),
  );
}

/**
 * Returns the part of a memory that is stored, with the intent of the next change. Values that the next decisions
 * compute again are not stored. `inactiveSince` is not stored either: after a restart the cooldown starts again, like
 * the stabilization window, which has the same length by default.
 */
export function storedStateOf(
  memory: Memory,
  spec: ScalerSpec,
  { uid, intent = memory.unresolved }: { readonly uid: string; readonly intent?: Memory['unresolved'] },
): StoredState {
  const { scaleEvents, zeroedBySelf, maxReplicasFrom, forecast } = memory.state;
  return {
    uid,
    ...storedTimesOf(memory),
    scaleEvents,
    zeroedBySelf,
    failingSince: storedFailingSince(memory.state, spec),
    intent,
    ...(spec.maxReplicasFrom === null || maxReplicasFrom === undefined ? {} : { maxReplicasFrom }),
    ...(spec.forecast === null || forecast === undefined ? {} : { forecast }),
    capacities: hasAuto(spec) ? memory.capacities : undefined,
  };
}

export function isStateChanged(before: Memory, after: Memory, spec: ScalerSpec): boolean {
  return (
    (before.uid !== null && before.uid !== after.uid) ||
    before.unresolved !== after.unresolved ||
    hasNewEvent(before.state, after.state) ||
    !haveSameTimes(storedFailingSince(before.state, spec), storedFailingSince(after.state, spec)) ||
    before.state.lastScaleUp !== after.state.lastScaleUp ||
    before.state.lastScaleDown !== after.state.lastScaleDown ||
    before.state.zeroedBySelf !== after.state.zeroedBySelf ||
    before.state.maxReplicasFrom !== after.state.maxReplicasFrom ||
    !areAlike(before.capacities, after.capacities)
  );
}

export function isStored(memory: Memory, entry: StoredEntry, spec: ScalerSpec): boolean {
  const { uid, state, unresolved } = memory;
  const { lastScaleUp, lastScaleDown } = storedTimesOf(memory);
  return (
    uid === entry.uid &&
    lastScaleUp === entry.lastScaleUp &&
    lastScaleDown === entry.lastScaleDown &&
    state.zeroedBySelf === entry.zeroedBySelf &&
    state.maxReplicasFrom === entry.maxReplicasFrom &&
    haveSameTimes(storedFailing(storedFailingSince(state, spec)), entry.failingSince) &&
    unresolved?.at === entry.intent?.at &&
    unresolved?.to === entry.intent?.to &&
    !hasNewEvent(entry, state)
  );
}

/**
 * Returns the times to store. An assumed time is stored only if no time is known, because it must not replace a known
 * time.
 */
function storedTimesOf(memory: Memory): Pick<State, 'lastScaleUp' | 'lastScaleDown'> {
  const { up, down } = lastScales(memory);
  return { lastScaleUp: up ?? memory.state.lastScaleUp, lastScaleDown: down ?? memory.state.lastScaleDown };
}

/** Returns whether there is a new event. If events have only expired, nothing is written. */
function hasNewEvent(
  before: { readonly scaleEvents: readonly ScaleEvent[] },
  after: { readonly scaleEvents: readonly ScaleEvent[] },
): boolean {
  const last = after.scaleEvents.at(-1);
  return last !== undefined && last.at !== before.scaleEvents.at(-1)?.at;
}

/**
 * Returns since when metrics have failed, but only for a scaler with a fallback, because only a fallback needs it.
 * Otherwise each outage of Prometheus would write every entry twice.
 */
function storedFailingSince({ failingSince }: State, { fallback }: ScalerSpec): State['failingSince'] {
  return fallback === null ? EMPTY_STATE.failingSince : failingSince;
}

function haveSameTimes(a: State['failingSince'], b: State['failingSince']): boolean {
  return a === b || (a.size === b.size && [...a].every(([metric, at]) => b.get(metric) === at));
}
