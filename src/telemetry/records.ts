import type { Clock } from '../units/clock.js';
import { createEventFeed, type EventFeed } from './event-feed.js';
import { createChartPoints, type ChartPoints } from './chart-points.js';
import { createLedger, type EarlierTimes, type Ledger } from './ledger.js';
import { createSnapshotArchive, type SnapshotArchive } from './snapshot-archive.js';
import { createSentEvents, type SentEvents } from './sent-events.js';

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
