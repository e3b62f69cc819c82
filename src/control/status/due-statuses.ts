import type { ObjectVerdict } from '../../config/add-objects.js';
import type { ScalerObject } from '../../kubernetes/scaler-objects/scaler-object.js';
import type { ScalerStore } from '../../kubernetes/scaler-objects/scaler-store.js';
import { scalerKey } from '../../scaler/spec.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';
import { takeTurns } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import { statusDifference } from './object-status.js';
import type { ObjectStatus } from './object-status.js';
import { statusOf } from './status-of.js';

/** A status that is to be written. */
export interface DueStatus {
  readonly key: string;
  readonly object: ScalerObject;
  readonly wanted: ObjectStatus;
}

/** Which objects show something else than they should, and when each may be written. */
export interface DueStatuses {
  /**
   * At most so many: urgent ones first, of the same urgency those that were written longest ago. Lets others have a turn
   * every 10 ms.
   */
  readonly next: (most: number) => Promise<readonly DueStatus[]>;
  /** Notes a write and what the object is since. */
  readonly written: (one: DueStatus, answer: ScalerObject) => void;
  /** Leaves an object alone for so many milliseconds, unless it changes before. */
  readonly hold: (key: string, ms: number) => void;
  readonly holdNamespace: (namespace: string, ms: number) => void;
  readonly isHeld: (namespace: string) => boolean;
}

export interface DueStatusesPorts {
  readonly store: Pick<ScalerStore, 'list'>;
  readonly verdictOf: (key: string) => ObjectVerdict | null;
  readonly lastOf: (key: string) => ScalerStatus | null;
  readonly clock: Clock;
}

/** A change of words or metrics alone is looked at, and written, so often at most, for each scaler. */
const LATER_MS = 60_000;

interface Seen extends DueStatus {
  readonly verdict: ObjectVerdict;
  readonly last: ScalerStatus | null;
  readonly lookedMs: number;
  urgency: 'none' | 'later' | 'soon';
  /** Null: not by this process. */
  writtenMs: number | null;
  heldUntilMs: number;
  /** What was written last, and what the server has made of it: sent again, it would make the same of it. */
  kept: { readonly sent: string; readonly shown: string } | null;
}

/** Looks at everything there is whenever it is asked; computes anew only where there is news. */
export function createDueStatuses(ports: DueStatusesPorts): DueStatuses {
  const { store, verdictOf, lastOf, clock } = ports;
  const seen = new Map<string, Seen>();
  const heldNamespaces = new Map<string, number>();

  /** Null: it was not judged yet, or another version of it was. */
  const look = (key: string, object: ScalerObject, isFresh: boolean): Seen | null => {
    const verdict = verdictOf(key);
    if (verdict?.specText !== object.specText) return null;
    const last = lastOf(key);
    const before = seen.get(key);
    const isSameDocument = before?.object === object && isSameVerdict(before.verdict, verdict);
    if (isSameDocument && before.last === last) return before;
    const lookedMs = clock.monotonicMs();
    if (isSameDocument) {
      if (!isFresh && lookedMs - before.lookedMs < LATER_MS && isSameNews(before.last, last)) return before;
    }
    const wanted = statusOf({ object, verdict, last, now: clock.now() });
    const isSame = before?.object.uid === object.uid;
    const next: Seen = {
      key,
      object,
      verdict,
      last,
      lookedMs,
      wanted,
      urgency: statusDifference(object.status, wanted),
      writtenMs: isSame ? before.writtenMs : null,
      heldUntilMs: before?.object === object ? before.heldUntilMs : 0,
      kept: isSame ? before.kept : null,
    };
    if (isKept(next)) next.urgency = 'none';
    seen.set(key, next);
    return next;
  };

  const isHeld = (namespace: string): boolean => clock.monotonicMs() < (heldNamespaces.get(namespace) ?? 0);

  const isDue = ({ urgency, writtenMs, heldUntilMs, object }: Seen): boolean => {
    if (urgency === 'none') return false;
    const nowMs = clock.monotonicMs();
    if (nowMs < heldUntilMs || isHeld(object.namespace)) return false;
    return urgency === 'soon' || writtenMs === null || nowMs - writtenMs >= LATER_MS;
  };

  const findDue = async (): Promise<readonly Seen[]> => {
    const present = new Set<string>();
    const due: Seen[] = [];
    // 10,000 statuses take a second to compute: a cycle must not wait for that.
    const nextTurn = takeTurns(clock);
    for (const object of store.list()) {
      const key = scalerKey(object);
      present.add(key);
      const one = look(key, object, false);
      if (one !== null && isDue(one)) due.push(one);
      await nextTurn();
    }
    for (const key of seen.keys()) if (!present.has(key)) seen.delete(key);
    return due;
  };

  return {
    next: async (most) => {
      const due = [...(await findDue())].sort(byUrgency).slice(0, most);
      return due.flatMap(({ key, object }) => look(key, object, true) ?? []).filter(isDue);
    },
    written: ({ key, wanted }, answer) => {
      const one = seen.get(key);
      if (one === undefined) return;
      one.writtenMs = clock.monotonicMs();
      one.urgency = 'none';
      one.kept = { sent: JSON.stringify(wanted), shown: JSON.stringify(answer.status) };
    },
    hold: (key, ms) => {
      const one = seen.get(key);
      if (one !== undefined) one.heldUntilMs = clock.monotonicMs() + ms;
    },
    holdNamespace: (namespace, ms) => void heldNamespaces.set(namespace, clock.monotonicMs() + ms),
    isHeld,
  };
}

/** Each reading of the documents gives new verdicts; most of them say what they said before. */
function isSameVerdict(a: ObjectVerdict, b: ObjectVerdict): boolean {
  return a.specText === b.specText && a.scaler === b.scaler && a.problems === b.problems;
}

/** Whether two cycles differ in words and metrics alone. */
function isSameNews(a: ScalerStatus | null, b: ScalerStatus | null): boolean {
  if (a === null || b === null || a.record.scaler !== b.record.scaler) return false;
  const [before, after] = [a.record.decision, b.record.decision];
  return (
    before?.currentReplicas === after?.currentReplicas &&
    before?.desiredReplicas === after?.desiredReplicas &&
    a.lastRescale === b.lastRescale &&
    a.conditions.length === b.conditions.length &&
    a.conditions.every(({ type, status, reason }, index) => {
      const other = b.conditions[index];
      return type === other?.type && status === other.status && reason === other.reason;
    })
  );
}

function isKept({ kept, wanted, object }: Seen): boolean {
  if (kept === null) return false;
  return kept.sent === JSON.stringify(wanted) && kept.shown === JSON.stringify(object.status);
}

function byUrgency(a: Seen, b: Seen): number {
  if (a.urgency !== b.urgency) return a.urgency === 'soon' ? -1 : 1;
  return (a.writtenMs ?? -1) - (b.writtenMs ?? -1);
}
