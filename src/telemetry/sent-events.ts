import type { Instant } from '../units/time.js';

interface SentEvent {
  /** When the Event was last written. */
  readonly at: Instant;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/**
 * The Kubernetes Events that this process has written about each scaler. They are about its target or its Scaler
 * object.
 */
export interface SentEvents {
  /** Adds an Event for `NAMESPACE/NAME`. If an equal Event is stored, its count is increased instead. */
  readonly add: (key: string, event: Omit<SentEvent, 'count'>) => void;
  /** Returns the Events, newest first. */
  readonly read: (key: string) => readonly SentEvent[];
  readonly remove: (key: string) => void;
}

interface EventLimits {
  /** Maximum number of Events per scaler. Default: 50. */
  readonly perScaler?: number;
  /**
   * Maximum number of Events of all scalers. They share it equally, but each may have at least 3. Default: 10,000,
   * which is about 5 MB.
   */
  readonly total?: number;
}

const MIN_PER_SCALER = 3;
const LONGEST_MESSAGE = 1000;

export function createSentEvents({ perScaler = 50, total = 10_000 }: EventLimits = {}): SentEvents {
  const byScaler = new Map<string, readonly SentEvent[]>();
  const maxEvents = (): number =>
    Math.min(perScaler, Math.max(MIN_PER_SCALER, Math.floor(total / Math.max(1, byScaler.size))));
  return {
    add: (key, event) => {
      const message = event.message.slice(0, LONGEST_MESSAGE);
      const isSame = (one: SentEvent): boolean =>
        one.type === event.type && one.reason === event.reason && one.message === message;
      const before = byScaler.get(key) ?? [];
      const count = (before.find(isSame)?.count ?? 0) + 1;
      const others = before.filter((one) => !isSame(one));
      byScaler.set(key, [{ ...event, message, count }, ...others].slice(0, maxEvents()));
    },
    read: (key) => byScaler.get(key) ?? [],
    remove: (key) => void byScaler.delete(key),
  };
}
