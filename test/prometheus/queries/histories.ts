import type { LoadAhead } from '../../../src/decision/forecast/propose-forecast.js';
import type { LoadHistory } from '../../../src/decision/snapshot/snapshot.js';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { RangeAnswer } from '../../../src/prometheus/answers/classify.js';
import type { RangeQuery } from '../../../src/prometheus/client/range-client.js';
import type { SourceConfig } from '../../../src/prometheus/data-source/source-config.js';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { aClient, aSource, scalerOf } from '../../support/builders.js';
import { ManualClock, settle } from '../../support/manual-clock.js';
import { startRound, values } from '../fakes.js';

export const DAY_MS = 86_400_000;
export const EXTERNAL = {
  type: 'External',
  external: {
    metric: { name: 'load' },
    query: 'sum(load)',
    target: { type: 'AverageValue', averageValue: 10 },
  },
};
export const CPU = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
};

export const scalerWith = (
  forecast: object | undefined,
  metrics: readonly object[] = [EXTERNAL],
  name = 'web',
): Scaler =>
  scalerOf(
    {
      scaleTargetRef: { name: 'web' },
      maxReplicas: 20,
      metrics,
      ...(forecast === undefined ? {} : { forecast }),
    },
    { name },
  );

export type Respond = (range: RangeQuery) => RangeAnswer;

export const failure = (reason: 'timeout' | 'execution' | 'connection', message: string): RangeAnswer => ({
  class: 'failed',
  reason,
  message,
});

/** A point each minute; `load` of the time of day in minutes. */
export const matrix = (
  { start, end, stepSeconds }: RangeQuery,
  load: (minute: number) => number = () => 100,
  labels: Readonly<Record<string, string>> = {},
): RangeAnswer => {
  const points: [number, number][] = [];
  for (let at: number = start; at <= end; at += stepSeconds * 1000)
    points.push([at, load((at % DAY_MS) / 60_000)]);
  return { class: 'matrix', series: [{ labels, points }] };
};

/** A data source whose range queries are answered with `respond`. */
export class Histories {
  readonly clock = new ManualClock('2026-03-02T12:00:00Z');
  readonly asked: RangeQuery[] = [];
  readonly reasons: (string | null)[] = [];
  respond: Respond = (range) => matrix(range);
  /** Until it resolves, the queries of rounds have no answer. */
  round: Promise<void> | null = null;
  inFlight = 0;
  most = 0;
  readonly #metrics;

  constructor(overrides: Partial<SourceConfig> = {}) {
    const query = async (): Promise<Answer> => {
      await this.round;
      return values([{ labels: {}, value: 50 }], this.clock.now());
    };
    this.#metrics = createMetricSource({
      sources: new Map([['default', aSource(overrides)]]),
      clock: this.clock,
      onQuery: () => undefined,
      onFault: (error) => {
        throw error;
      },
      createClient: (config) => aClient(config, { query, startTime: () => Promise.resolve(null) }),
      createRangeClient: () => ({
        queryRange: async (range) => {
          this.asked.push(range);
          this.most = Math.max(this.most, (this.inFlight += 1));
          await Promise.resolve();
          this.inFlight -= 1;
          return this.respond(range);
        },
      }),
      onHistoryQuery: (_, reason) => this.reasons.push(reason),
    });
  }

  /** Returns what is known of the next hour. */
  ahead(scaler: Scaler): LoadAhead | null {
    return this.#metrics.loadAhead(scaler);
  }

  /** Runs a round, after which the background has `seconds`. Returns what the first scaler knows at its end. */
  async after(seconds: number, ...scalers: readonly Scaler[]): Promise<LoadHistory | undefined> {
    this.#metrics.setScalers(scalers);
    const round = startRound(this.#metrics, scalers);
    await settle();
    const known = scalers.map((scaler) =>
      round.loadHistory(scaler, { now: this.clock.now(), podStartSeconds: 60 }),
    );
    await this.clock.advanceAndSettle(seconds * 1000);
    return known[0];
  }

  seasonQueries(): readonly RangeQuery[] {
    return this.asked.filter(({ query }) => !query.startsWith('max_over_time'));
  }
}
