import { EMPTY_STATE } from '../../decision/snapshot/snapshot.js';
import type { ScaleEvent, State } from '../../decision/snapshot/snapshot.js';
import { storedFailing } from '../../kubernetes/state/state-entry.js';
import type { StoredEntry, StoredState } from '../../kubernetes/state/state-entry.js';
import type { ScalerSpec } from '../../scaler/spec.js';
import { lastScales } from './memory.js';
import type { Memory } from './memory.js';

/**
 * Returns the stored part of a memory, with the intent of the next change. Values that the next decisions compute again
 * are not stored. Neither is `inactiveSince`: after a restart the cooldown restarts, like the stabilization window,
 * which has the same default length.
 */
export function storedStateOf(
  memory: Memory,
  spec: ScalerSpec,
  { uid, intent = memory.unresolved }: { readonly uid: string; readonly intent?: Memory['unresolved'] },
): StoredState {
  const { scaleEvents, zeroedBySelf } = memory.state;
  const failingSince = storedFailingSince(memory.state, spec);
  return { uid, ...storedTimesOf(memory), scaleEvents, zeroedBySelf, failingSince, intent };
}

export function isStateChanged(before: Memory, after: Memory, spec: ScalerSpec): boolean {
  return (
    (before.uid !== null && before.uid !== after.uid) ||
    before.unresolved !== after.unresolved ||
    hasNewEvent(before.state, after.state) ||
    !haveSameTimes(storedFailingSince(before.state, spec), storedFailingSince(after.state, spec)) ||
    before.state.lastScaleUp !== after.state.lastScaleUp ||
    before.state.lastScaleDown !== after.state.lastScaleDown ||
    before.state.zeroedBySelf !== after.state.zeroedBySelf
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
    haveSameTimes(storedFailing(storedFailingSince(state, spec)), entry.failingSince) &&
    unresolved?.at === entry.intent?.at &&
    unresolved?.to === entry.intent?.to &&
    !hasNewEvent(entry, state)
  );
}

/** An assumed time is stored only if no time is known: it must not replace a known one. */
function storedTimesOf(memory: Memory): Pick<State, 'lastScaleUp' | 'lastScaleDown'> {
  const { up, down } = lastScales(memory);
  return { lastScaleUp: up ?? memory.state.lastScaleUp, lastScaleDown: down ?? memory.state.lastScaleDown };
}

/** Ignores events that only expired. */
function hasNewEvent(
  before: { readonly scaleEvents: readonly ScaleEvent[] },
  after: { readonly scaleEvents: readonly ScaleEvent[] },
): boolean {
  const last = after.scaleEvents.at(-1);
  return last !== undefined && last.at !== before.scaleEvents.at(-1)?.at;
}

/**
 * Stored only for scalers with a fallback, which need it: otherwise each outage of Prometheus would write every entry
 * twice.
 */
function storedFailingSince({ failingSince }: State, { fallback }: ScalerSpec): State['failingSince'] {
  return fallback === null ? EMPTY_STATE.failingSince : failingSince;
}

function haveSameTimes(a: State['failingSince'], b: State['failingSince']): boolean {
  return a === b || (a.size === b.size && [...a].every(([metric, at]) => b.get(metric) === at));
}
