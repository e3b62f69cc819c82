import type { RecordConfig } from '../config/resolve-service-config.js';
import { createRotatingFile } from '../files/rotating-file.js';
import { createDecisionRecord } from '../recording/decision-record.js';
import type { DecisionRecord } from '../recording/decision-record.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Clock } from '../units/clock.js';
import type { Log } from '../units/log.js';

/** Returns null if decisions are not recorded. */
export function openRecord(
  config: RecordConfig | null,
  {
    version,
    clock,
    log,
    metrics,
  }: {
    readonly version: string;
    readonly clock: Clock;
    readonly log: Log;
    readonly metrics: Metrics;
  },
): DecisionRecord | null {
  if (config === null) return null;
  const { path, which, maxFileBytes } = config;
  const { append } = createRotatingFile(path, config);
  const report = {
    countWritten: metrics.countRecorded,
    countDropped: metrics.countRecordDropped,
    countWriteError: metrics.countRecordError,
  };
  return createDecisionRecord({ path, which, maxFileBytes, append, version, clock, log, report });
}
