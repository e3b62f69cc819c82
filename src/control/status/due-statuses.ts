import type { ObjectVerdict } from '../../config/object-set.js';
import type { ScalerObject } from '../../kubernetes/scaler-objects/scaler-object.js';
import type { ScalerStore } from '../../kubernetes/scaler-objects/scaler-store.js';
import { scalerKey } from '../../scaler/spec.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';
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
  /** At most so many: urgent ones first, of the same urgency those that were written longest ago. */
  readonly next: (most: number) => readonly DueStatus[];
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

/** A change of words or metrics alone is written so often at most, for each scaler. */
const LATER_MS = 60_000;

interface Seen {
  object: ScalerObject;
  verdict: ObjectVerdict;
  last: ScalerStatus | null;
  wanted: ObjectStatus;
  urgency: 'none' | 'later' | 'soon';
  /** Null: not by this process. */
  writtenMs: number | null;
  heldUntilMs: number;
  /** What was written last, and what the server has made of it: sent again, it would make the same of it. */
  kept: { readonly sent: string; readonly shown: string } | null;
}

/** Looks at everything there is whenever it is asked; computes anew only what has another object, verdict or cycle. */
export function createDueStatuses({ store, verdictOf, lastOf, clock }: DueStatusesPorts): DueStatuses {
  const seen = new Map<string, Seen>();
  const heldNamespaces = new Map<string, number>();

  const look = (key: string, object: ScalerObject): Seen | null => {
    const verdict = verdictOf(key);
    // Not judged yet, or another version of it was.
    if (verdict?.specText !== object.specText) return null;
    const last = lastOf(key);
    const before = seen.get(key);
    if (before?.object === object && before.last === last && isSameVerdict(before.verdict, verdict))
      return before;
    const wanted = statusOf({ object, verdict, last, now: clock.now() });
    const isSame = before?.object.uid === object.uid;
    const next: Seen = {
      object,
      verdict,
      last,
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

  const isDue = ({ urgency, writtenMs, heldUntilMs, object }: Seen, nowMs: number): boolean => {
    if (urgency === 'none' || nowMs < heldUntilMs) return false;
    if (isHeld(object.namespace)) return false;
    return urgency === 'soon' || writtenMs === null || nowMs - writtenMs >= LATER_MS;
  };

  return {
    next: (most) => {
      const nowMs = clock.monotonicMs();
      const present = new Set<string>();
      const due: (DueStatus & Seen)[] = [];
      for (const object of store.list()) {
        const key = scalerKey(object);
        present.add(key);
        const one = look(key, object);
        if (one !== null && isDue(one, nowMs)) due.push({ ...one, key });
      }
      for (const key of seen.keys()) if (!present.has(key)) seen.delete(key);
      return due.sort(byUrgency).slice(0, most);
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

function isKept({ kept, wanted, object }: Seen): boolean {
  if (kept === null) return false;
  return kept.sent === JSON.stringify(wanted) && kept.shown === JSON.stringify(object.status);
}

function byUrgency(a: Seen, b: Seen): number {
  if (a.urgency !== b.urgency) return a.urgency === 'soon' ? -1 : 1;
  return (a.writtenMs ?? -1) - (b.writtenMs ?? -1);
}
