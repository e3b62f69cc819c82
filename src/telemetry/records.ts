import type { Clock } from '../units/clock.js';
import { createEventFeed } from './event-feed.js';
import type { EventFeed } from './event-feed.js';
import { createChartPoints } from './chart-points.js';
import type { ChartPoints } from './chart-points.js';
import { createLedger } from './ledger.js';
import type { Ledger } from './ledger.js';
import { createSentEvents } from './sent-events.js';
import type { SentEvents } from './sent-events.js';
import { createSnapshotArchive } from './snapshot-archive.js';
import type { SnapshotArchive } from './snapshot-archive.js';

/** All records that a process keeps about its cycles. Each part limits its own size. */
export interface Records {
  readonly ledger: Ledger;
  readonly archive: SnapshotArchive;
  readonly chartPoints: ChartPoints;
  readonly feed: EventFeed;
  readonly sentEvents: SentEvents;
}

/** `hasReaders`: false drops past snapshots and chart points, which only the API exposes. */
export function createRecords(clock: Clock, { hasReaders = true } = {}): Records {
  // Random digits distinguish processes that start in the same millisecond.
  const run = `${clock.now().toString(36)}${Math.floor(clock.random() * 36 ** 4).toString(36)}`;
  return {
    ledger: createLedger(),
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
