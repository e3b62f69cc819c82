import type { CycleRecord } from './cycle-record.js';
import type { Ledger, ScalerStatus } from './ledger.js';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import { logCycle } from './run-log.js';

/** The one door for what cycles leave behind. */
export interface Recorder {
  /** Into the ledger, the metrics and, where something changed, the log. Gives the scaler's status before and after. */
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
  readonly metrics: Metrics;
  readonly log: Log;
}): Recorder {
  const { ledger, metrics, log } = parts;
  return {
    record: (record) => {
      const change = ledger.add(record);
      const { observe, decide, act } = record.seconds;
      metrics.observeSync(observe + decide + act);
      logCycle(log, change.before, change.after);
      return change;
    },
    remove: (key) => ledger.remove(key),
  };
}
