import {
  createMetricSource,
  type MetricSource,
  type MetricSourceOptions,
} from '../prometheus/metric-source.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { ClockWarnings, Outages } from '../telemetry/outages.js';
import type { ServiceHealth } from '../telemetry/service-health.js';
import type { Facts, Log } from '../units/log.js';

export type OnFault = (message: string, error: unknown, facts?: Facts) => void;

interface SourceOptions extends Pick<MetricSourceOptions, 'clock' | 'createRangeClient'> {
  readonly createClient?: MetricSourceOptions['createClient'];
  readonly log: Log;
}

interface SourceParts {
  readonly sources: MetricSourceOptions['sources'];
  readonly metrics: Metrics;
  readonly health: ServiceHealth;
  readonly outages: Outages;
  readonly clockWarnings: ClockWarnings;
  readonly onFault: OnFault;
}

/** Creates the metric source, and reports the result of each query to metrics, health and outages. */
export function openMetricSource(
  { clock, log, createClient, createRangeClient }: SourceOptions,
  { sources, metrics, health, outages, clockWarnings, onFault }: SourceParts,
): MetricSource {
  return createMetricSource({
    sources,
    clock,
    onQuery: (report) => {
      metrics.observeQuery(report);
      health.observeQuery(report);
      outages.observeQuery(report);
      const { source, clockAheadSeconds } = report;
      if (clockAheadSeconds !== null) clockWarnings.sourceClockAhead(source, clockAheadSeconds);
    },
    onFault: (error) => onFault('query failed: internal error', error),
    onOverLimit: metrics.countOverLimitQuery,
    seeksDuplicates: true,
    onDuplicates: metrics.setDuplicates,
    onSeries: metrics.countSeries,
    onRecognized: ({ name, flavor }) =>
      log.warn('flavor of data source is detected only by its responses; set flavor in the config', {
        source: name,
        set: `prometheus.${name}.flavor: ${flavor}`,
      }),
    ...(createClient === undefined ? {} : { createClient }),
    createRangeClient,
    onHistoryQuery: metrics.countHistoryQuery,
  });
}
