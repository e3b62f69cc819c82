import type { ObjectVerdict } from '../../config/read-objects.js';
import type { ScalerObject, ScalerStore } from '../../kubernetes/scaler-objects.js';
import { scalerKey } from '../../scaler/spec.js';
import { boundsOf } from '../../telemetry/cycle-record.js';
import { haveSameStates } from '../../telemetry/history.js';
import type { LedgerEntry } from '../../telemetry/ledger.js';
import { periodicYield, type Clock } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import { statusDifference } from './stored-status.js';
import type { ObjectStatus } from './stored-status.js';
import { buildObjectStatus } from './object-status.js';

export interface DueStatus {
  readonly key: string;
  readonly object: ScalerObject;
  readonly wanted: ObjectStatus;
  readonly verdict: ObjectVerdict;
}

interface DueStatuses {
  /**
   * Returns two lists of statuses to write: those with changes for which clients wait, and those in which only messages
   * or metric values differ. Both lists are limited, and begin with the status that was computed longest ago. Yields to
   * the event loop every 20 ms.
   */
  readonly next: (limits: { readonly transitions: number; readonly refreshes: number }) => Promise<{
    readonly transitions: readonly DueStatus[];
    readonly refreshes: readonly DueStatus[];
  }>;
  readonly written: (one: DueStatus, answer: ScalerObject) => void;
  /** Delays the next write of an object, unless the object changes first. */
  readonly delay: (key: string, ms: number) => void;
  readonly delayNamespace: (namespace: string, ms: number) => void;
  readonly isDelayed: (namespace: string) => boolean;
}

export interface DueStatusesPorts {
  readonly store: Pick<ScalerStore, 'list'>;
  readonly verdictOf: (key: string) => ObjectVerdict | null;
  readonly lastOf: (key: string) => LedgerEntry | null;
  /** Returns since when the newest version has been rejected; null: unknown. */
  readonly rejectedSince: (key: string) => Instant | null;
  readonly clock: Clock;
}

/** Minimum interval between two writes for a scaler if only messages or metric values have changed. */
const MINOR_INTERVAL_MS = 10_000;

/**
 * Limits the statuses that are computed in one pass: 300 take 30 ms. Most cycles do not change the status, but only a
 * computation shows that.
 */
const MAX_COMPUTED_PER_PASS = 300;

interface CheckedStatus extends DueStatus {
  readonly last: LedgerEntry | null;
  readonly checkedMs: number;
  urgency: 'none' | 'later' | 'soon';
  /** When this process last wrote the status; null: never. */
  writtenMs: number | null;
  delayedUntilMs: number;
  /**
   * The last status that was sent, and what the server stored. Both are needed: the server may prune fields, and
   * sending the pruned fields again would change nothing.
   */
  lastWrite: { readonly sent: string; readonly stored: string } | null;
}

/**
 * Checks all objects on each call, but computes a status only if something has changed. A status in which only messages
 * or metric values have changed waits for `MINOR_INTERVAL_MS`.
 */
export function createDueStatuses(ports: DueStatusesPorts): DueStatuses {
  const { store, verdictOf, lastOf, rejectedSince, clock } = ports;
  const checked = new Map<string, CheckedStatus>();
  const delayedNamespaces = new Map<string, number>();

  /**
   * Returns the status of an object, computed again if necessary; null: this version of the object was not checked yet.
   */
  const check = (key: string, object: ScalerObject, isForced: boolean): CheckedStatus | null => {
    const verdict = verdictOf(key);
    if (verdict?.specText !== object.specText) return null;
    const last = lastOf(key);
    const before = checked.get(key);
    const isSameDocument = before?.object === object && isSameVerdict(before.verdict, verdict);
    if (isSameDocument && before.last === last) return before;
    if (isSameDocument && !isForced && isMinorChange(before.last, last)) {
      if (before.urgency === 'none') before.urgency = 'later';
      return before;
    }
    const wanted = buildObjectStatus({
      object,
      verdict,
      last,
      rejectedSince: rejectedSince(key),
      now: clock.now(),
    });
    const isSame = before?.object.uid === object.uid;
    const next: CheckedStatus = {
      key,
      object,
      verdict,
      last,
      checkedMs: clock.monotonicMs(),
      wanted,
      urgency: statusDifference(object.status, wanted),
      writtenMs: isSame ? before.writtenMs : null,
      delayedUntilMs: before?.object === object ? before.delayedUntilMs : 0,
      lastWrite: isSame ? before.lastWrite : null,
    };
    if (isLastWrite(next)) next.urgency = 'none';
    checked.set(key, next);
    return next;
  };

  const isDelayed = (namespace: string): boolean =>
    clock.monotonicMs() < (delayedNamespaces.get(namespace) ?? 0);

  const isDue = ({ urgency, writtenMs, delayedUntilMs, object }: CheckedStatus): boolean => {
    if (urgency === 'none') return false;
    const nowMs = clock.monotonicMs();
    if (nowMs < delayedUntilMs || isDelayed(object.namespace)) return false;
    return urgency === 'soon' || writtenMs === null || nowMs - writtenMs >= MINOR_INTERVAL_MS;
  };

  const findDue = async (): Promise<readonly CheckedStatus[]> => {
    const present = new Set<string>();
    const due: CheckedStatus[] = [];
    // Yields every 20 ms: 10,000 statuses take about 1 s of CPU time, which must not delay cycles.
    const yieldIfDue = periodicYield(clock);
    for (const object of store.list()) {
      const key = scalerKey(object);
      present.add(key);
      const one = check(key, object, false);
      if (one !== null && isDue(one)) due.push(one);
      await yieldIfDue();
    }
    for (const key of checked.keys()) if (!present.has(key)) checked.delete(key);
    return due;
  };

  return {
    next: async (limits) => {
      const due = await findDue();
      const yieldIfDue = periodicYield(clock);
      const oldest = async (
        urgency: CheckedStatus['urgency'],
        limit: number,
      ): Promise<readonly DueStatus[]> => {
        const found: DueStatus[] = [];
        const waiting = due.filter((one) => one.urgency === urgency).sort(byAge);
        for (const { key, object } of waiting.slice(0, Math.max(limit, MAX_COMPUTED_PER_PASS))) {
          if (found.length === limit) break;
          const one = check(key, object, true);
          if (one !== null && isDue(one)) found.push(one);
          await yieldIfDue();
        }
        return found;
      };
      return {
        transitions: await oldest('soon', limits.transitions),
        refreshes: await oldest('later', limits.refreshes),
      };
    },
    written: ({ key, wanted }, answer) => {
      const one = checked.get(key);
      if (one === undefined) return;
      one.writtenMs = clock.monotonicMs();
      one.urgency = 'none';
      one.lastWrite = { sent: JSON.stringify(wanted), stored: JSON.stringify(answer.status) };
    },
    delay: (key, ms) => {
      const one = checked.get(key);
      if (one !== undefined) one.delayedUntilMs = clock.monotonicMs() + ms;
    },
    delayNamespace: (namespace, ms) => void delayedNamespaces.set(namespace, clock.monotonicMs() + ms),
    isDelayed,
  };
}

/** Compares the fields, because each reload creates new `ObjectVerdict`s, most of them with the same fields. */
function isSameVerdict(a: ObjectVerdict, b: ObjectVerdict): boolean {
  return a.specText === b.specText && a.scaler === b.scaler && a.problems === b.problems;
}

function isMinorChange(a: LedgerEntry | null, b: LedgerEntry | null): boolean {
  if (a === null || b === null || a.record.scaler !== b.record.scaler) return false;
  const [before, after] = [a.record.decision, b.record.decision];
  return (
    a.state.name === b.state.name &&
    isSameBounds(a, b) &&
    before?.currentReplicas === after?.currentReplicas &&
    before?.desiredReplicas === after?.desiredReplicas &&
    a.lastRescale === b.lastRescale &&
    haveSameStates(a.conditions, b.conditions)
  );
}

/** Compares the bounds, because a schedule may change them without a change of the document. */
function isSameBounds(a: LedgerEntry, b: LedgerEntry): boolean {
  const [before, after] = [boundsOf(a.record), boundsOf(b.record)];
  return before.minReplicas === after.minReplicas && before.maxReplicas === after.maxReplicas;
}

function isLastWrite({ lastWrite, wanted, object }: CheckedStatus): boolean {
  if (lastWrite === null) return false;
  return lastWrite.sent === JSON.stringify(wanted) && lastWrite.stored === JSON.stringify(object.status);
}

function byAge(a: CheckedStatus, b: CheckedStatus): number {
  return a.checkedMs - b.checkedMs;
}
