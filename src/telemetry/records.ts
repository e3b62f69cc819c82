import type { Clock } from '../units/clock.js';
import { createEventFeed, type EventFeed } from './event-feed.js';
import { createChartPoints, type ChartPoints } from './chart-points.js';
import { createLedger, type EarlierTimes, type Ledger } from './ledger.js';
import { createSnapshotArchive, type SnapshotArchive } from './snapshot-archive.js';
import type { Instant } from '../units/time.js';

/** What a process remembers about its cycles. Each part limits its own size. */
export interface Records {
  readonly ledger: Ledger;
  readonly archive: SnapshotArchive;
  readonly chartPoints: ChartPoints;
  readonly feed: EventFeed;
  readonly sentEvents: SentEvents;
}

interface RecordsOptions {
  /** False: past snapshots and chart points are not kept, because only the API exposes them. Default: true. */
  readonly hasReaders?: boolean;
  readonly earlierTimes?: (key: string) => EarlierTimes | null;
}

export function createRecords(clock: Clock, options: RecordsOptions = {}): Records {
  const { hasReaders = true, earlierTimes = () => null } = options;
  // The random digits distinguish processes that start in the same millisecond.
  const run = `${clock.now().toString(36)}${Math.floor(clock.random() * 36 ** 4).toString(36)}`;
  return {
    ledger: createLedger({ earlierTimes }),
    archive: hasReaders ? createSnapshotArchive() : EMPTY_ARCHIVE,
    chartPoints: hasReaders ? createChartPoints() : NO_CHART_POINTS,
    feed: createEventFeed(run),
    sentEvents: createSentEvents(),
  };
}

const nothing = (): void => undefined;
const EMPTY_ARCHIVE: SnapshotArchive = { keep: nothing, read: () => null, remove: nothing };
const NO_CHART_POINTS: ChartPoints = {
  add: nothing,
  read: () => null,
  recentReplicas: () => [],
  remove: nothing,
};

interface SentEvent {
  /** When the Event was last written. */
  readonly at: Instant;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/** The Kubernetes Events that this process has written about each scaler: about its target or its Scaler object. */
export interface SentEvents {
  /** Adds an Event for `NAMESPACE/NAME`. If an equal one is stored, it is counted instead. */
  readonly add: (key: string, event: Omit<SentEvent, 'count'>) => void;
  /** Returns the Events, newest first. */
  readonly read: (key: string) => readonly SentEvent[];
  readonly remove: (key: string) => void;
}

interface EventLimits {
  /** Maximum number of Events per scaler. Default: 50. */
  readonly perScaler?: number;
  /**
   * Maximum number of Events of all scalers, which they share equally, but with at least 3 each. Default: 10,000, which
   * is about 5 MB.
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
