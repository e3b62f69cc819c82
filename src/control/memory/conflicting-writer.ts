import type { ConflictingWriter } from '../../telemetry/cycle-record.js';
import { formatInstant, secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';

/** What is known of others who replace the replicas that promscaler has set. In memory only. */
export interface WriterWatch {
  /** The count that our last PATCH has left, while it is not known to be another one; else null. */
  readonly own: number | null;
  /** When ours was found replaced, the oldest first: the last three, of the time that counts. */
  readonly reversals: readonly Instant[];
  /** Since when there have been too many; null: there are not. */
  readonly since: Instant | null;
  /** Who else set `spec.replicas`, by `managedFields`; empty where that is not known. */
  readonly managers: readonly string[];
}

/** Nothing was set, nothing replaced. */
export const NO_REVERSALS: WriterWatch = { own: null, reversals: [], since: null, managers: [] };

/** A look at the target's count. */
export interface Look {
  readonly replicas: number;
  readonly managers: readonly string[];
  readonly now: Instant;
}

/** So many reversals, */
const CONFLICT_REVERSALS = 3;
/** within so long, are a conflict; so long without one ends it. Source: contract.md, section 6. */
const WINDOW_SECONDS = 600;
/** The field manager of our own PATCHes. */
const OWN_MANAGER = 'promscaler';

/** After a PATCH of ours that left this count; null: its outcome is not known. */
export function afterOwnWrite(watch: WriterWatch, replicas: number | null): WriterWatch {
  return watch.own === replicas ? watch : { ...watch, own: replicas };
}

/** After a look: another count than ours is a reversal, once for each of our PATCHes. The same value where nothing is new. */
export function afterLook(given: WriterWatch, { replicas, managers, now }: Look): WriterWatch {
  const watch = isOver(given, now) ? { ...NO_REVERSALS, own: given.own } : given;
  if (watch.own === null || watch.own === replicas) return watch;
  const others = managers.filter((manager) => manager !== OWN_MANAGER);
  const recent = watch.reversals.filter((at) => secondsBetween(at, now) <= WINDOW_SECONDS);
  const reversals = [...recent, now].slice(-CONFLICT_REVERSALS);
  return {
    own: null,
    reversals,
    since: watch.since ?? (reversals.length === CONFLICT_REVERSALS ? now : null),
    managers: others.length === 0 ? watch.managers : others,
  };
}

/** Who takes our values back again and again; null where nobody does. */
export function conflictingWriterOf(watch: WriterWatch, now: Instant): ConflictingWriter | null {
  const { since, managers } = watch;
  if (since === null || isOver(watch, now)) return null;
  const who = managers.length === 0 ? 'another client' : managers.join(', ');
  const message = `${who} changed spec.replicas after promscaler three times within ten minutes: allow only one of them to set it`;
  return { managers, since: formatInstant(since), message };
}

function isOver({ reversals }: WriterWatch, now: Instant): boolean {
  const last = reversals.at(-1);
  return last !== undefined && secondsBetween(last, now) > WINDOW_SECONDS;
}
