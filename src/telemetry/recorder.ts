import type { CycleRecord } from './cycle-record.js';
import type { EventFeed } from './event-feed.js';
import type { ChartPoints } from './chart-points.js';
import type { Ledger, ScalerStatus } from './ledger.js';
import type { Log } from '../units/log.js';
import { NO_OUTAGES, type Outages } from './outages.js';
import type { Metrics } from './metrics.js';
import { logCycle } from './cycle-log.js';
import { eventsOfCycle } from './service-events.js';
import type { SentEvents } from './sent-events.js';
import type { SnapshotArchive } from './snapshot-archive.js';

export interface Recorder {
  /**
   * Adds a record to ledger, chart points and metrics, and a change to log and feed. Returns the status before and
   * after.
   */
  readonly record: (record: CycleRecord) => {
    readonly before: ScalerStatus | null;
    readonly after: ScalerStatus;
  };
  readonly remove: (key: string) => void;
}

export function createRecorder(parts: {
  readonly ledger: Ledger;
  readonly archive: SnapshotArchive;
  readonly chartPoints: ChartPoints;
  readonly feed: EventFeed;
  /** Unset: Events are not kept. */
  readonly sentEvents?: Pick<SentEvents, 'remove'>;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Unset: each failure is attributed to its scaler. */
  readonly outages?: Pick<Outages, 'attribute' | 'isAttributed' | 'takeAttributed' | 'forget'>;
  /** Called with each record and the previous one of its scaler. */
  readonly onRecord?: ((record: CycleRecord, before: CycleRecord | null) => void) | undefined;
}): Recorder {
  const {
    ledger,
    archive,
    chartPoints,
    feed,
    sentEvents,
    metrics,
    log,
    onRecord,
    outages = NO_OUTAGES,
  } = parts;
  return {
    record: (record) => {
      const change = ledger.add(record);
      const { before, after } = change;
      // The ledger contains the newest snapshot. It is archived when a different result follows.
      if (before !== null && before.record.snapshot !== null && after.count === 1)
        archive.keep(after.key, before.record.snapshot);
      chartPoints.add(record);
      const { observe, decide, act } = record.seconds;
      metrics.observeSync(observe + decide + act);
      logCycle({ log, outages }, before, after);
      for (const event of eventsOfCycle(before, after)) feed.publish(event);
      onRecord?.(record, before?.record ?? null);
      return change;
    },
    remove: (key) => {
      ledger.remove(key);
      archive.remove(key);
      chartPoints.remove(key);
      sentEvents?.remove(key);
      outages.forget(key);
    },
  };
}
