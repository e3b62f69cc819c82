import type { ApiRecord } from '../simulation/log.js';
import { SIMULATION_START_MS } from '../simulation/process.js';
import { type History, scalerOf } from './history.js';
import { describeWrite, type Found, type Invariant } from './violation.js';

/** D of reliability.md, W10, and the latency to the server and back. */
const INTENT_MS = 5000 + 100;
/** A change may be detected this much later: a lost answer is resolved after a minute. */
const LEARNED_MS = 600_000;

/** A PATCH without an answer has ended by then. */
const PATCH_OVER_MS = 60_000;

/** A stored entry of a scaler, as far as other processes may rely on it. */
interface Entry {
  readonly record: ApiRecord;
  readonly atMs: number;
  readonly intent: { readonly from: number; readonly to: number } | null;
  readonly lastScaleUp: string | null;
  readonly lastScaleDown: string | null;
}

/** Returns the writes that reached the ConfigMaps. */
function storedWrites(history: History): readonly ApiRecord[] {
  return history.records.filter(
    (record) => record.kind === 'api' && record.resource === 'configmaps' && record.written !== null,
  ) as readonly ApiRecord[];
}

/** Returns the entries of a scaler that were stored, in the order of arrival. */
function entriesOf(stored: readonly ApiRecord[], scaler: string): readonly Entry[] {
  const key = scaler.replace('/', '.');
  const entries: Entry[] = [];
  for (const record of stored) {
    if (record.written === null) continue;
    const text = (record.body as { data?: Record<string, string | null> }).data?.[key];
    if (text === undefined || text === null) continue;
    const { intent, lastScaleUp, lastScaleDown } = JSON.parse(text) as Partial<Entry>;
    entries.push({
      record,
      atMs: record.written.atMs,
      intent: intent ?? null,
      lastScaleUp: lastScaleUp ?? null,
      lastScaleDown: lastScaleDown ?? null,
    });
  }
  return entries.sort((a, b) => a.atMs - b.atMs);
}

const intentFirst: Invariant = {
  id: 'I6',
  text: 'an intent with the same counts is stored at most 5 s before each accepted write; strictly before each scale-down',
  check: (history) => {
    if (!history.isDurable) return [];
    const stored = storedWrites(history);
    return history.targets.flatMap(({ scaler }) => {
      const entries = entriesOf(stored, scaler);
      const writes = history.writes.filter((write) => write.scaler === scaler);
      return writes.flatMap((write): readonly Found[] => {
        const { sentMs } = write.record;
        const isAnnounced = entries.some(
          ({ intent, atMs, record }) =>
            intent?.to === write.to &&
            intent.from === write.from &&
            record.process === write.process &&
            atMs <= sentMs &&
            sentMs - record.sentMs <= INTENT_MS,
        );
        const mayGoWithout = write.to > write.from && isStoreFailing(history, sentMs);
        if (isAnnounced || mayGoWithout) return [];
        const message = `${describeWrite(write)} without an intent`;
        return [{ atMs: write.atMs, message, scaler, process: write.process }];
      });
    });
  },
};

/** Returns whether nothing can be stored: only then, a scale-up continues without its intent (W11). */
function isStoreFailing(history: History, atMs: number): boolean {
  return history.faults.some(
    (fault) =>
      fault.kind === 'api' &&
      ['all', 'state'].includes(fault.group) &&
      fault.startMs < atMs &&
      fault.endMs + 60_000 > atMs,
  );
}

/** Returns whether a wall clock was set or a machine suspended, which also shifts remembered times (F48). */
function isClockSet(history: History, fromMs: number, toMs: number): boolean {
  return history.faults.some(
    ({ kind, what, startMs, endMs }) =>
      kind === 'cluster' &&
      (what.mode === 'clock-jump' || what.mode === 'suspended') &&
      [startMs, endMs].some((atMs) => atMs > fromMs - LEARNED_MS && atMs <= toMs),
  );
}

/**
 * Returns whether a time is that of a PATCH without an answer: the process may count it as applied, at the latest
 * possible time (W12).
 */
function isAssumed(history: History, scaler: string, { atMs, lastScaleUp, lastScaleDown }: Entry): boolean {
  const times = [lastScaleUp, lastScaleDown].map((time) =>
    time === null ? NaN : Date.parse(time) - SIMULATION_START_MS,
  );
  return history.records.some(
    (record) =>
      record.kind === 'api' &&
      record.subresource === 'scale' &&
      record.method === 'PATCH' &&
      record.status === null &&
      scalerOf(record) === scaler &&
      record.sentMs < atMs &&
      times.some(
        (time) => time >= record.sentMs - INTENT_MS && time <= record.sentMs + PATCH_OVER_MS + INTENT_MS,
      ),
  );
}

const timesOfChanges: Invariant = {
  id: 'I7',
  text: 'an entry stored without a change of replicas, or a PATCH without an answer, never changes the times of the last changes',
  check: (history) => {
    if (!history.isDurable) return [];
    const stored = storedWrites(history);
    return history.targets.flatMap(({ scaler, replicas }) =>
      entriesOf(stored, scaler).flatMap((entry, index, entries): readonly Found[] => {
        const before = entries[index - 1];
        if (before === undefined) return [];
        const isSame =
          before.lastScaleUp === entry.lastScaleUp && before.lastScaleDown === entry.lastScaleDown;
        const isChanged = replicas.some(
          ({ atMs }) =>
            atMs <= entry.atMs && atMs > Math.min(before.atMs, entry.atMs - LEARNED_MS) - LEARNED_MS,
        );
        if (isSame || isChanged || isClockSet(history, before.atMs, entry.atMs)) return [];
        if (isAssumed(history, scaler, entry)) return [];
        const message = `the last changes of ${scaler} became others without a change`;
        return [{ atMs: entry.atMs, message, scaler, process: entry.record.process }];
      }),
    );
  },
};

export const STATE_INVARIANTS: readonly Invariant[] = [intentFirst, timesOfChanges];
