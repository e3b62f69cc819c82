import { cleanText } from '../../units/clean-text.js';
import type { ConflictingWriter } from '../../decision/state.js';
import { addSeconds, formatInstant, type Instant, secondsBetween } from '../../units/time.js';

/** Detects other clients that overwrite the replicas set by promscaler. It is not stored, so a restart forgets it. */
export interface WriterWatch {
  /** The count that promscaler last set; null: a different count has been read since then. */
  readonly own: number | null;
  /** The last three times within the window at which another client replaced the count of promscaler, oldest first. */
  readonly reversals: readonly Instant[];
  /** When the first count was replaced. Reset after a window without a replaced count; null: none was replaced. */
  readonly first: Instant | null;
  /** How many counts were replaced since `first`. */
  readonly count: number;
  /** Since when there is a conflict; null: there is none. */
  readonly since: Instant | null;
  /** Other managers of `spec.replicas` in `managedFields`; empty: unknown. */
  readonly managers: readonly string[];
}

export const NO_REVERSALS: WriterWatch = {
  own: null,
  reversals: [],
  first: null,
  count: 0,
  since: null,
  managers: [],
};

interface ReplicasRead {
  readonly replicas: number;
  readonly managers: readonly string[];
  readonly now: Instant;
}

/**
 * Number of reversals within the window that are reported as a conflict. In a reversal, another client replaces a count
 * that promscaler has set. The conflict ends after a window without a reversal. Source: contract.md, section 6.
 */
const CONFLICT_REVERSALS = 3;
const WINDOW_SECONDS = 600;
const OWN_MANAGER = 'promscaler';

/**
 * Returns the state of the detection after a PATCH by promscaler. `replicas` is the count in the response; null:
 * unknown.
 */
export function afterOwnWrite(watch: WriterWatch, replicas: number | null): WriterWatch {
  return watch.own === replicas ? watch : { ...watch, own: replicas };
}

/**
 * Returns the state of the detection after a read. A count that promscaler did not set is a reversal. Each PATCH can be
 * reversed only once.
 */
export function afterRead(given: WriterWatch, { replicas, managers, now }: ReplicasRead): WriterWatch {
  const watch = isOver(given, now) ? { ...NO_REVERSALS, own: given.own } : given;
  if (watch.own === null || watch.own === replicas) return watch;
  const others = managers.filter((manager) => manager !== OWN_MANAGER);
  const recent = watch.reversals.filter((at) => secondsBetween(at, now) <= WINDOW_SECONDS);
  const reversals = [...recent, now].slice(-CONFLICT_REVERSALS);
  return {
    own: null,
    reversals,
    first: watch.first ?? now,
    count: watch.count + 1,
    since: watch.since ?? (reversals.length === CONFLICT_REVERSALS ? now : null),
    managers: others.length === 0 ? watch.managers : others,
  };
}

export function conflictingWriterOf(watch: WriterWatch, now: Instant): ConflictingWriter | null {
  const { first, count, since, managers, reversals } = watch;
  const last = reversals.at(-1);
  if (first === null || since === null || last === undefined || isOver(watch, now)) return null;
  const who = managers.length === 0 ? 'another client' : cleanText(managers.join(', '));
  return {
    managers,
    since: formatInstant(since),
    count,
    last: formatInstant(last),
    until: formatInstant(addSeconds(last, WINDOW_SECONDS)),
    message: `${who} changed spec.replicas after promscaler ${count} times since ${formatInstant(first)}, last at ${formatInstant(last)}: allow only one client to set spec.replicas`,
  };
}

function isOver({ reversals }: WriterWatch, now: Instant): boolean {
  const last = reversals.at(-1);
  return last !== undefined && secondsBetween(last, now) > WINDOW_SECONDS;
}
