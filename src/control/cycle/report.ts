import type { CycleRecord, OutcomeKind } from '../../telemetry/cycle-record.js';
import { eventsOfCycle } from '../../telemetry/feed-events.js';
import { driftEvents, kubernetesEvents } from './kubernetes-events.js';
import type { Log } from '../../units/log.js';
import { logCycle } from '../../telemetry/cycle-log.js';
import { isQuiet } from '../../telemetry/ledger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import type { Outages } from '../../telemetry/outages.js';
import type { Records } from '../../telemetry/records.js';
import type { CycleOutput, CycleReportPorts, Recorder } from './types.js';

/** Outcomes for which a request was sent to the API server. */
const SENT: ReadonlySet<OutcomeKind> = new Set(['patched', 'replaced', 'failed']);

/**
 * Reports a cycle to ledger, metrics, log, Events and `onCycle`. A cycle that was canceled by the end of its term is
 * reported only if it sent a change of replicas: its canceled queries are not failures. If recording fails, logs the
 * error: the caller must not lose the memory of the cycle.
 */
export function reportCycle(
  output: CycleOutput,
  { isCanceled }: { readonly isCanceled: boolean },
  ports: CycleReportPorts,
): void {
  const { record, target } = output;
  ports.onEnd?.(record.at);
  if (isCanceled && !SENT.has(record.outcome.kind)) return;
  try {
    const { before, after } = ports.recorder.add(record);
    const events = [...driftEvents(before?.record ?? null, record)];
    if (!isQuiet(before, after)) {
      const standing = before === null ? null : { ...before.record, conditions: before.conditions };
      events.push(...kubernetesEvents(standing, record));
    }
    for (const event of events) ports.sendEvent(target, event, after.key);
    ports.onCycle?.(output);
  } catch (error) {
    ports.log.error('failed to record cycle', { scaler: record.scaler.key, error });
  }
  // If the term has ended during the cycle, the result is logged, but its metrics are removed: only the leader may
  // expose metrics of a scaler.
  if (!ports.isLeading()) ports.recorder.remove(record.scaler.key);
}

/** Creates the recorder, which passes each record to ledger, chart points, metrics, log and event feed. */
export function createRecorder(
  parts: Omit<Records, 'sentEvents'> & {
    readonly sentEvents: Pick<Records['sentEvents'], 'remove'>;
    readonly metrics: Metrics;
    readonly log: Log;
    readonly outages: Pick<Outages, 'attribute' | 'isAttributed' | 'takeAttributed' | 'forget'>;
    /** Called with each record and with the previous one of its scaler. */
    readonly onRecord?: ((record: CycleRecord, before: CycleRecord | null) => void) | undefined;
  },
): Recorder {
  const { ledger, archive, chartPoints, feed, sentEvents, metrics, log, onRecord, outages } = parts;
  return {
    add: (record) => {
      const change = ledger.add(record);
      const { before, after } = change;
      // The newest snapshot is in the ledger. The snapshot is archived when a cycle with another result follows.
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
      sentEvents.remove(key);
      outages.forget(key);
    },
  };
}
