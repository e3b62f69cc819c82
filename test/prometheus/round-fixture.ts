import type { Answer } from '../../src/prometheus/answers/answer.js';
import type { PrometheusServer } from '../../src/prometheus/client/client.js';
import type { SourceConfig } from '../../src/prometheus/data-source/source-config.js';
import { createMetricSource } from '../../src/prometheus/metric-source.js';
import type { QueryReport } from '../../src/units/failure.js';
import type { QueryOptions } from '../../src/prometheus/client/request.js';
import type { MetricSpec, Scaler } from '../../src/scaler/spec.js';
import type { Clock } from '../../src/units/clock.js';
import { aClient, aScaler, aSource, at } from '../support/builders.js';
import { answersByKey, realClock, startRound } from './fakes.js';

type Respond = (query: string, options: QueryOptions) => Answer | Promise<Answer>;

export const due = (
  metrics: readonly MetricSpec[],
  namespace = 'shop',
  name = 'web',
  syncPeriodSeconds = 15,
): Scaler => {
  const scaler = aScaler(metrics, namespace, name);
  return { ...scaler, spec: { ...scaler.spec, syncPeriodSeconds } };
};

const resourceQueries = {
  cpu: 'sum by (namespace, pod, container) (rate(cpu_seconds_total{namespace=~"$namespaces"}[$window]))',
  memory: 'sum by (namespace, pod, container) (memory_bytes{namespace=~"$namespaces"})',
};

/** Rounds of a data source that answers with `respond`. */
export function setUp(respond: Respond, overrides: Partial<SourceConfig> = {}, clock: Clock = realClock) {
  const asked: string[] = [];
  const deadlinesMs: number[] = [];
  const reports: QueryReport[] = [];
  let startTimes = 0;
  const server: PrometheusServer = {
    query: async (query, options) => {
      asked.push(query);
      deadlinesMs.push(options.timeoutMs);
      return respond(query, options);
    },
    startTime: () => {
      startTimes += 1;
      return Promise.resolve(at(-99));
    },
  };
  const metrics = createMetricSource({
    sources: new Map([['default', aSource({ resourceQueries, ...overrides })]]),
    clock,
    onQuery: (report) => reports.push(report),
    createClient: (config) => aClient(config, server),
  });
  const start = (...scalers: readonly Scaler[]) => {
    metrics.setScalers(scalers);
    return answersByKey(scalers, startRound(metrics, scalers));
  };
  return { start, asked, deadlinesMs, reports, startTimeCount: () => startTimes };
}
