import type { Instant } from '../units/time.js';
import type { Outcome } from './cycle-record.js';
import type { LimitName } from '../decision/decision.js';

interface AboutScaler {
  readonly at: Instant;
  readonly namespace: string;
  readonly name: string;
}

/** Something that whoever watches the service wants to hear of at once. */
export type ServiceEvent =
  | (AboutScaler & {
      readonly type: 'decision';
      readonly outcome: Outcome;
      readonly reason: string | null;
      readonly limits: readonly LimitName[];
    })
  | (AboutScaler & {
      readonly type: 'failure';
      /** A condition's type, `change`, or TYPE/IDENTITY of a metric. */
      readonly subject: string;
      /** false: it is over. */
      readonly failing: boolean;
      readonly message: string;
    })
  | { readonly type: 'reload'; readonly at: Instant; readonly scalers: number; readonly errors: number };

/** An event with the number it goes by in this process. */
export interface NumberedEvent {
  readonly id: string;
  readonly event: ServiceEvent;
}

/** What happens, to those who listen, and the last of it to those who come back. */
export interface EventFeed {
  readonly publish: (event: ServiceEvent) => void;
  /** Calls `listener` with each event from now on; the answer ends it. A listener must not throw. */
  readonly subscribe: (listener: (event: NumberedEvent) => void) => () => void;
  /** What came after the event of this id; null where that is not known any more, or was never ours. */
  readonly since: (id: string) => readonly NumberedEvent[] | null;
  /** Of the newest event, or where there is none yet, of the one before the first. */
  readonly lastId: () => string;
}

/** Events that are kept for those who come back. */
const KEPT = 500;

/** A feed without events. `run` tells this process from others: an id of theirs is none of ours. */
export function createEventFeed(run: string, kept = KEPT): EventFeed {
  const listeners = new Set<(event: NumberedEvent) => void>();
  const last: NumberedEvent[] = [];
  let count = 0;
  const idOf = (number: number): string => `${run}-${number}`;
  return {
    publish: (event) => {
      count += 1;
      const numbered = { id: idOf(count), event };
      last.push(numbered);
      if (last.length > kept) last.shift();
      for (const listener of [...listeners]) listener(numbered);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    since: (id) => {
      if (id === idOf(count)) return [];
      const index = last.findIndex((one) => one.id === id);
      if (index >= 0) return last.slice(index + 1);
      // The one just before the first that is kept has dropped out, but nothing behind it is lost.
      return id === idOf(count - last.length) ? [...last] : null;
    },
    lastId: () => idOf(count),
  };
}
