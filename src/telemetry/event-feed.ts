import type { Instant } from '../units/time.js';
import type { Outcome } from './cycle-record.js';
import type { LimitName } from '../decision/result/limit-names.js';

interface ScalerEvent {
  readonly at: Instant;
  readonly namespace: string;
  readonly name: string;
}

export type ServiceEvent =
  | (ScalerEvent & {
      readonly type: 'decision';
      readonly outcome: Outcome;
      readonly reason: string | null;
      readonly limits: readonly LimitName[];
    })
  | (ScalerEvent & {
      readonly type: 'failure';
      /**
       * What fails: the type of a condition, `change` (of replicas), `ConflictingWriter`, or TYPE/IDENTITY of a metric.
       */
      readonly subject: string;
      /** False: the failure has ended. */
      readonly failing: boolean;
      readonly message: string;
    })
  | (ScalerEvent & {
      /** A nightly back-test recommends a different change than the previous back-test. */
      readonly type: 'recommendation';
      readonly message: string;
    })
  | { readonly type: 'reload'; readonly at: Instant; readonly scalers: number; readonly errors: number };

export interface NumberedEvent {
  readonly id: string;
  readonly event: ServiceEvent;
}

export interface EventFeed {
  readonly publish: (event: ServiceEvent) => void;
  /** Calls `listener` with each new event. Returns a function that unsubscribes. `listener` must not throw. */
  readonly subscribe: (listener: (event: NumberedEvent) => void) => () => void;
  /**
   * Returns the events after this ID. Null: the ID is unknown, its event was dropped, or it comes from another process.
   */
  readonly since: (id: string) => readonly NumberedEvent[] | null;
  /** Returns the ID of the newest event, or an ID that precedes the first event if there is none. */
  readonly lastId: () => string;
}

/** Maximum number of events that are kept for clients that reconnect. */
const MAX_EVENTS = 500;

/** Creates a feed. `run` is a part of each ID, and is unique to this process. */
export function createEventFeed(run: string, maxEvents = MAX_EVENTS): EventFeed {
  const listeners = new Set<(event: NumberedEvent) => void>();
  const last: NumberedEvent[] = [];
  let count = 0;
  const idOf = (number: number): string => `${run}-${number}`;
  return {
    publish: (event) => {
      count += 1;
      const numbered = { id: idOf(count), event };
      last.push(numbered);
      if (last.length > maxEvents) last.shift();
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
      // The event with this ID was dropped, but all later events are still kept.
      return id === idOf(count - last.length) ? [...last] : null;
    },
    lastId: () => idOf(count),
  };
}
