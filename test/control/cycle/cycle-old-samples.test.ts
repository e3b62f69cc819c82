import { describe, expect, it } from '@jest/globals';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import type { SourceConfig } from '../../../src/prometheus/data-source/source-config.js';
import { addSeconds } from '../../../src/units/time.js';
import { aClient, aSource } from '../../support/builders.js';
import { startRound } from '../../prometheus/fakes.js';
import { answerOf, Fixture } from '../fixture.js';

const RANGE_SECONDS = 120;
const INTERVAL_SECONDS = 15;

/**
 * A server whose newest sample is `lag` seconds old. The default load is 80, which is 8 replicas; as with
 * Prometheus, a rate over samples that have ended falls in a straight line.
 */
class LateFixture extends Fixture {
  lag = 0;
  override load = 80;
  asked: string[] = [];
  readonly #source: ReturnType<typeof createMetricSource>;

  constructor(spec: Readonly<Record<string, unknown>>, source: Partial<SourceConfig> = {}) {
    super(spec);
    this.#source = createMetricSource({
      sources: new Map([['default', aSource(source)]]),
      clock: this.clock,
      onQuery: () => undefined,
      createClient: (config) =>
        aClient(config, {
          query: (query) => {
            this.asked.push(query);
            return Promise.resolve(this.#answer(query));
          },
          startTime: () => Promise.resolve(addSeconds(this.clock.now(), -86_400)),
        }),
    });
  }

  #answer(query: string) {
    const now = this.clock.now();
    const seconds = now / 1000;
    if (query.includes('up')) return { class: 'missing', message: 'no series' } as const;
    if (query.startsWith('quantile')) return answerOf(INTERVAL_SECONDS, now);
    if (query.startsWith('max')) {
      const series = query.split(' or ').map((part, index) => ({
        labels: index === 0 ? {} : { promscaler_start: '1' },
        value: seconds - Math.max(this.lag, offsetOf(part)),
      }));
      return { class: 'value', series, evaluatedAt: now } as const;
    }
    const covered = Math.max(0, RANGE_SECONDS - Math.max(0, this.lag - INTERVAL_SECONDS / 2));
    return answerOf(this.load * (covered / RANGE_SECONDS), now);
  }

  override async nextCycle() {
    this.clock.advance(15_000);
    this.cluster.statusReplicas = this.cluster.specReplicas;
    return this.cycle({ answers: startRound(this.#source, [this.scaler]) });
  }
}

function offsetOf(query: string): number {
  return Number(/offset (\d+)ms/.exec(query)?.[1] ?? 0) / 1000;
}

async function start(
  spec: Readonly<Record<string, unknown>> = {},
  fields: { readonly external?: object; readonly source?: Partial<SourceConfig> } = {},
): Promise<LateFixture> {
  const fixture = new LateFixture(
    {
      metrics: [
        {
          external: {
            metric: { name: 'load' },
            query: 'sum(rate(load[2m]))',
            target: { averageValue: 10 },
            ...fields.external,
          },
        },
      ],
      ...spec,
    },
    fields.source,
  );
  fixture.cluster.specReplicas = 8;
  for (let round = 0; round < 40; round += 1) await fixture.nextCycle();
  fixture.asked = [];
  return fixture;
}

describe.each([
  ['stabilization 0', { downscaleStabilizationSeconds: 0 }],
  ['the default stabilization', { downscaleStabilizationSeconds: 300 }],
])('samples that are late, with %s', (_, spec) => {
  it.each([20, 60, 115])('%d s: 8 replicas stay for 20 minutes', async (lag) => {
    const fixture = await start(spec);
    fixture.lag = lag;

    for (let round = 0; round < 80; round += 1) await fixture.nextCycle();

    expect(fixture.cluster.specReplicas).toBe(8);
  });

  it('scale down once they are recent again: 4 replicas for half of the load', async () => {
    const fixture = await start(spec);
    fixture.lag = 60;
    for (let round = 0; round < 80; round += 1) await fixture.nextCycle();
    fixture.lag = 0;
    fixture.load = 40;

    for (let round = 0; round < 25; round += 1) await fixture.nextCycle();

    expect(fixture.cluster.specReplicas).toBe(4);
  });
});

describe('a maximum age of samples', () => {
  it.each([
    ['of the document: 60 s', { maxSampleAgeSeconds: 60 }, {}, 60],
    ['of the data source: 60 s', {}, { maxSampleAgeSeconds: 60 }, 60],
    [
      'of the document before that of the data source',
      { maxSampleAgeSeconds: 60 },
      { maxSampleAgeSeconds: 0 },
      60,
    ],
  ])('%s: the count falls at 60 s, not at 61 s', async (_, external, source, age) => {
    const [allowed, old] = [await start({}, { external, source }), await start({}, { external, source })];
    [allowed.lag, old.lag] = [age, age + 1];

    for (let round = 0; round < 4; round += 1) await Promise.all([allowed.nextCycle(), old.nextCycle()]);

    expect([allowed.cluster.specReplicas, old.cluster.specReplicas]).toEqual([5, 8]);
  });

  it('of 0 s turns the check off', async () => {
    const fixture = await start({}, { external: { maxSampleAgeSeconds: 0 } });
    fixture.lag = 100;

    await fixture.nextCycle();

    expect(fixture.cluster.specReplicas).toBe(2);
    expect(new Set(fixture.asked)).toEqual(new Set(['sum(rate(load[2m]))']));
  });
});

describe('a lowered maximum of 6', () => {
  it.each([
    ['lowers 8 replicas without a query for ages if the metric asks for 8', 0, 1],
    ['lowers 8 replicas to 6, not to 5, if the samples are old', 60, 4],
  ])('%s', async (_, lag, queries) => {
    const fixture = await start();
    const { spec } = fixture.scaler;
    fixture.scaler = { ...fixture.scaler, spec: { ...spec, maxReplicas: 6 } };
    fixture.lag = lag;

    for (let round = 0; round < 3; round += 1) await fixture.nextCycle();

    expect(fixture.cluster.specReplicas).toBe(6);
    expect(new Set(fixture.asked).size).toBe(queries);
  });
});

describe('rounds that do not scale down', () => {
  it('query no ages', async () => {
    const fixture = await start();

    for (let round = 0; round < 3; round += 1) await fixture.nextCycle();

    expect(new Set(fixture.asked)).toEqual(new Set(['sum(rate(load[2m]))']));
  });
});
