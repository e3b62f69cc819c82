import { formatTime } from '../simulation/faults.js';
import type { ApiRecord } from '../simulation/log.js';
import { type History, plansWithin, scalerOf } from './history.js';
import { describeWrite, type Found, type Invariant } from './violation.js';

/** A decision may be in flight for this long: two slow requests, and a late 504. */
const IN_FLIGHT_MS = 30_000;
const HPA_SEEN_MS = 5000;
/** After this time, what was lost by a watch has been listed. */
const RELISTED_MS = 180_000;

function patches(history: History): readonly ApiRecord[] {
  return history.records.filter(
    (record) => record.kind === 'api' && record.subresource === 'scale' && record.method === 'PATCH',
  ) as readonly ApiRecord[];
}

function bodyOf({ body }: ApiRecord): {
  readonly uid: string | null;
  readonly resourceVersion: string | null;
  readonly replicas: number | null;
} {
  const { metadata, spec } = body as {
    metadata?: { uid?: string; resourceVersion?: string };
    spec?: { replicas?: number };
  };
  return {
    uid: metadata?.uid ?? null,
    resourceVersion: metadata?.resourceVersion ?? null,
    replicas: spec?.replicas ?? null,
  };
}

const withinBounds: Invariant = {
  id: 'I1',
  text: 'every accepted write is within [min, max] of a document in effect at its decision',
  check: (history) =>
    patches(history).flatMap((record): readonly Found[] => {
      const { replicas } = bodyOf(record);
      const scaler = scalerOf(record);
      const plans = plansWithin(history, scaler, record.sentMs - IN_FLIGHT_MS, record.sentMs);
      if (replicas === null || plans.length === 0) return [];
      const isWithin = plans.some(
        ({ minReplicas, maxReplicas }) =>
          Number.isInteger(replicas) && replicas >= minReplicas && replicas <= maxReplicas,
      );
      const message = `${record.process} asked for ${replicas} replicas of ${scaler}, outside its bounds`;
      return isWithin ? [] : [{ atMs: record.sentMs, message, scaler, process: record.process }];
    }),
};

const noIdlePatch: Invariant = {
  id: 'I8',
  text: 'no PATCH when nothing changes: no PATCH requests the current count',
  check: (history) =>
    patches(history).flatMap((record): readonly Found[] => {
      const { replicas, uid, resourceVersion } = bodyOf(record);
      const { live } = record;
      if (live === null || replicas !== live.replicas) return [];
      // A failed precondition means that the count changed after it was read.
      const isStale =
        (uid ?? live.uid) !== live.uid || (resourceVersion ?? live.resourceVersion) !== live.resourceVersion;
      if (isStale) return [];
      const scaler = scalerOf(record);
      const message = `${record.process} asked for ${replicas} replicas of ${scaler}, which it had`;
      return [{ atMs: record.sentMs, message, scaler, process: record.process }];
    }),
};

const preconditions: Invariant = {
  id: 'I9',
  text: 'every PATCH has uid and resourceVersion as preconditions, and none is accepted for another object',
  check: (history) =>
    patches(history).flatMap((record): readonly Found[] => {
      const { uid, resourceVersion } = bodyOf(record);
      const scaler = scalerOf(record);
      const at = { atMs: record.sentMs, scaler, process: record.process };
      if (uid === null || uid === '' || resourceVersion === null || resourceVersion === '')
        return [{ ...at, message: `${record.process} sent a PATCH of ${scaler} without preconditions` }];
      if (record.written !== null && record.written.uid !== uid)
        return [{ ...at, message: `a PATCH for ${uid} was accepted on ${record.written.uid}` }];
      return [];
    }),
};

const deletedScaler: Invariant = {
  id: 'I28',
  text: 'a deleted scaler stops writing to its target within one period after the reload',
  check: (history) =>
    patches(history).flatMap((record): readonly Found[] => {
      const scaler = scalerOf(record);
      const { syncPeriodSeconds } = history.targets.find((target) => target.scaler === scaler)?.plan ?? {
        syncPeriodSeconds: 15,
      };
      const graceMs = syncPeriodSeconds * 1000;
      if (plansWithin(history, scaler, record.sentMs - graceMs, record.sentMs).length > 0) return [];
      const message = `${record.process} sent a PATCH of ${scaler}, which has no document any more`;
      return [{ atMs: record.sentMs, message, scaler, process: record.process }];
    }),
};

const otherAutoscaler: Invariant = {
  id: 'I30',
  text: 'nothing is written to a target once another autoscaler of it is visible',
  check: (history) => {
    const spans = history.faults.flatMap((fault) =>
      fault.kind === 'cluster' && fault.what.mode === 'hpa-appears' ? [fault] : [],
    );
    return history.writes.flatMap((write): readonly Found[] => {
      const span = spans.find(
        ({ target, startMs, endMs }) =>
          write.scaler.endsWith(`/${target}`) &&
          write.decidedMs > startMs + HPA_SEEN_MS &&
          write.atMs < endMs,
      );
      if (span === undefined || isUnreadable(history, span.startMs, write.atMs)) return [];
      const message = `${describeWrite(write)}, although an HPA exists since ${formatTime(span.startMs)}`;
      return [{ atMs: write.atMs, message, scaler: write.scaler, process: write.process }];
    });
  },
};

/** Returns whether HPAs could not be listed and watched: an unreadable HPA cannot be respected. */
function isUnreadable(history: History, fromMs: number, toMs: number): boolean {
  return history.faults.some(
    (fault) =>
      fault.kind === 'api' &&
      ['all', 'list', 'watch', 'hpa'].includes(fault.group) &&
      fault.startMs < toMs &&
      fault.endMs + RELISTED_MS > fromMs,
  );
}

export const WRITE_INVARIANTS: readonly Invariant[] = [
  withinBounds,
  noIdlePatch,
  preconditions,
  deletedScaler,
  otherAutoscaler,
];
