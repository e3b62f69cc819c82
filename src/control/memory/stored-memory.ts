import { EMPTY_STATE } from '../../decision/snapshot.js';
import type { ScaleEvent, State } from '../../decision/snapshot.js';
import type { Intent, StoredEntry, StoredState } from '../../kubernetes/state/entry.js';
import type { StateReading } from '../../kubernetes/state/store.js';
import type { ScalerSpec } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';
import { afterOwnWrite } from './conflicting-writer.js';
import { freshMemory, lastScales, laterOf, withAnnounced } from './memory.js';
import type { Memory } from './memory.js';

type LastScales = ReturnType<typeof lastScales>;

/**
 * The memory of a scaler after a look at the state store. At the first one it is what is stored; where nothing is, as if
 * it had scaled when the ConfigMap was made, for of the time before that nothing is known; where the store can't be
 * used, or there is none, as if it had scaled just now. Later on, what another replica has stored is taken over: of two
 * times the later, of the events all. Source: reliability.md, D7 and W11.
 */
export function restoreMemory(
  memory: Memory,
  reading: StateReading,
  { now, spec }: { readonly now: Instant; readonly spec: ScalerSpec },
): Memory {
  if (!memory.isRestored) {
    const first = joinTerms(firstMemory(reading, now), memory);
    return { ...first, isRestored: true, stored: reading.text };
  }
  if (reading.text === memory.stored) return memory;
  if (reading.kind === 'entry' && reading.isOwn) {
    return { ...memory, stored: reading.text, isUnsaved: !isStored(memory, reading.entry, spec) };
  }
  const taken = reading.kind === 'entry' ? takeOver(memory, reading.entry) : memory;
  return { ...taken, stored: reading.text, isUnsaved: true };
}

/**
 * What is stored, joined with what this process has known since an earlier term of it: its own times have followed a
 * clock that was set since, those that are stored have not.
 */
function joinTerms(first: Memory, earlier: Memory): Memory {
  if (earlier.uid === null || (first.uid !== null && first.uid !== earlier.uid)) return first;
  const [stored, known] = [first.unresolved, earlier.unresolved];
  const isKnown = stored !== null && known !== null && isSameChange(stored, known);
  const lastScaleUp = laterOf(first.state.lastScaleUp, earlier.state.lastScaleUp);
  const lastScaleDown = laterOf(first.state.lastScaleDown, earlier.state.lastScaleDown);
  const { assumedAt } = earlier;
  const isStillAssumed = assumedAt !== null && [lastScaleUp, lastScaleDown].includes(assumedAt);
  return {
    ...first,
    uid: earlier.uid,
    assumedAt: isStillAssumed ? assumedAt : first.assumedAt,
    ...(isStillAssumed ? { knownScales: laterScales(lastScales(first), lastScales(earlier)) } : {}),
    state: {
      ...first.state,
      lastScaleUp,
      lastScaleDown,
      scaleEvents: unionOf(first.state.scaleEvents, earlier.state.scaleEvents),
    },
    unresolved: isKnown ? known : stored,
    isUnsaved: earlier.isUnsaved,
  };
}

function isSameChange(a: Intent, b: Intent): boolean {
  return a.epoch === b.epoch && a.to === b.to && a.resourceVersion === b.resourceVersion;
}

function firstMemory(reading: StateReading, now: Instant): Memory {
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
      const { uid, intent, lastScaleUp, lastScaleDown, scaleEvents } = reading.entry;
      const { zeroedBySelf, failingSince } = reading.entry;
      const state = { ...EMPTY_STATE, lastScaleUp, lastScaleDown, scaleEvents, zeroedBySelf, failingSince };
      return { ...fresh, uid, state, assumedAt: reading.since, unresolved: intent };
    }
    default:
      return reading satisfies never;
  }
}

/** What was stored by another process, or before this one could read it, over what this one knows. */
function takeOver(memory: Memory, entry: StoredEntry): Memory {
  const { uid, unresolved } = memory;
  // Of another target: one of the two is gone, and the next look at the target tells which.
  if (uid !== null && uid !== entry.uid) return memory;
  // There is a place for one: of ours, the window at least is kept.
  const lost = unresolved !== null && entry.intent !== null ? unresolved : null;
  const state = lost === null ? memory.state : withAnnounced(memory.state, lost, lost.at);
  const { lastScaleUp: up, lastScaleDown: down } = entry;
  return {
    ...memory,
    uid: entry.uid,
    knownScales: laterScales(lastScales(memory), { up, down }),
    state: {
      ...state,
      lastScaleUp: laterOf(state.lastScaleUp, entry.lastScaleUp),
      lastScaleDown: laterOf(state.lastScaleDown, entry.lastScaleDown),
      scaleEvents: unionOf(state.scaleEvents, entry.scaleEvents),
      zeroedBySelf: state.zeroedBySelf || entry.zeroedBySelf,
      failingSince: beginningsOf(state, entry),
    },
    unresolved: entry.intent ?? unresolved,
    // Another replica has written: what is found next may be its value.
    writer: afterOwnWrite(memory.writer, null),
  };
}

/** An assumed time keeps a window closed; when the target was scaled is what is stored and shown. */
function laterScales(a: LastScales, b: LastScales): LastScales {
  return { up: laterOf(a.up, b.up), down: laterOf(a.down, b.down) };
}

function unionOf(ours: readonly ScaleEvent[], theirs: readonly ScaleEvent[]): readonly ScaleEvent[] {
  const known = new Set(ours.map(({ at, change }) => `${at} ${change}`));
  const added = theirs.filter(({ at, change }) => !known.has(`${at} ${change}`));
  return added.length === 0 ? ours : [...ours, ...added].sort((a, b) => a.at - b.at);
}

/** Which metrics fail, the last look of our own tells; since when, whoever saw it first. */
function beginningsOf({ recommendations, failingSince }: State, entry: StoredEntry): State['failingSince'] {
  if (recommendations === null) return entry.failingSince;
  return new Map(
    [...failingSince].map(([metric, since]) => {
      const told = entry.failingSince.get(metric) ?? since;
      return [metric, told < since ? told : since];
    }),
  );
}

/** Whether an entry says what the memory does. */
function isStored(memory: Memory, entry: StoredEntry, spec: ScalerSpec): boolean {
  const { uid, state, unresolved } = memory;
  const { lastScaleUp, lastScaleDown } = storedTimesOf(memory);
  return (
    uid === entry.uid &&
    lastScaleUp === entry.lastScaleUp &&
    lastScaleDown === entry.lastScaleDown &&
    state.zeroedBySelf === entry.zeroedBySelf &&
    haveSameTimes(keptBeginnings(state, spec), entry.failingSince) &&
    unresolved?.at === entry.intent?.at &&
    unresolved?.to === entry.intent?.to &&
    !hasNewEvent(entry, state)
  );
}

/** Whether there is an event that was not there before; those that have grown too old are no difference. */
function hasNewEvent(
  before: { readonly scaleEvents: readonly ScaleEvent[] },
  after: { readonly scaleEvents: readonly ScaleEvent[] },
): boolean {
  const last = after.scaleEvents.at(-1);
  return last !== undefined && last.at !== before.scaleEvents.at(-1)?.at;
}

/**
 * Since when metrics have failed is stored only where a fallback waits for it: else an outage of Prometheus would make
 * two writes of every scaler, for nothing.
 */
function keptBeginnings({ failingSince }: State, { fallback }: ScalerSpec): State['failingSince'] {
  return fallback === null ? EMPTY_STATE.failingSince : failingSince;
}

function haveSameTimes(a: State['failingSince'], b: State['failingSince']): boolean {
  return a === b || (a.size === b.size && [...a].every(([metric, at]) => b.get(metric) === at));
}

/**
 * What is to be stored of a memory whose target has been seen (`uid`), with a change that is about to be made. What
 * the next decisions find out anew is left out, and so is `inactiveSince`: after a restart the cooldown begins again, as
 * the window of stabilization does, which is as long unless the document says otherwise.
 */
export function storedStateOf(
  memory: Memory,
  spec: ScalerSpec,
  { uid, intent = memory.unresolved }: { readonly uid: string; readonly intent?: Memory['unresolved'] },
): StoredState {
  const { scaleEvents, zeroedBySelf } = memory.state;
  const failingSince = keptBeginnings(memory.state, spec);
  return { uid, ...storedTimesOf(memory), scaleEvents, zeroedBySelf, failingSince, intent };
}

/** A time that is assumed is stored only where none is known: it must not take the place of a real one. */
function storedTimesOf(memory: Memory): Pick<State, 'lastScaleUp' | 'lastScaleDown'> {
  const { up, down } = lastScales(memory);
  return { lastScaleUp: up ?? memory.state.lastScaleUp, lastScaleDown: down ?? memory.state.lastScaleDown };
}

/** Whether a cycle has changed anything that is stored. */
export function isStateChanged(before: Memory, after: Memory, spec: ScalerSpec): boolean {
  const fields = ['lastScaleUp', 'lastScaleDown', 'zeroedBySelf'] as const satisfies readonly (keyof State)[];
  return (
    (before.uid !== null && before.uid !== after.uid) ||
    before.unresolved !== after.unresolved ||
    hasNewEvent(before.state, after.state) ||
    !haveSameTimes(keptBeginnings(before.state, spec), keptBeginnings(after.state, spec)) ||
    fields.some((field) => before.state[field] !== after.state[field])
  );
}
