import type { CycleRecord } from './cycle-record.js';
import type { EventFeed } from './event-feed.js';
import type { History } from './history.js';
import type { Ledger, ScalerStatus } from './ledger.js';
import type { Log } from '../units/log.js';
import type { Metrics } from './metrics.js';
import { logCycle } from './run-log.js';
import { eventsOfCycle } from './service-events.js';
import type { SnapshotArchive } from './snapshot-archive.js';

/** The one door for what cycles leave behind. */
export interface Recorder {
  /** Into ledger, history, metrics and, where something changed, log and feed. Gives the scaler's status before and after. */
  readonly record: (record: CycleRecord) => {
    readonly before: ScalerStatus | null;
    readonly after: ScalerStatus;
  };
  /** Forgets a scaler (`NAMESPACE/NAME`) whose document is gone. */
  readonly remove: (key: string) => void;
}

/** A recorder over the parts it is given. */
export function createRecorder(parts: {
  readonly ledger: Ledger;
  readonly archive: SnapshotArchive;
  readonly history: History;
  readonly feed: EventFeed;
  readonly metrics: Metrics;
  readonly log: Log;
}): Recorder {
  const { ledger, archive, history, feed, metrics, log } = parts;
  return {
    record: (record) => {
      const change = ledger.add(record);
      const { before, after } = change;
      // The ledger holds the newest snapshot itself: one is packed when a cycle that came to something else follows.
      if (before !== null && before.record.snapshot !== null && after.history[0]?.count === 1)
        archive.keep(after.key, before.record.snapshot);
      history.add(record);
      const { observe, decide, act } = record.seconds;
      metrics.observeSync(observe + decide + act);
      logCycle(log, before, after);
      for (const event of eventsOfCycle(before, after)) feed.publish(event);
      return change;
    },
    remove: (key) => {
      ledger.remove(key);
      archive.remove(key);
      history.remove(key);
    },
  };
}
