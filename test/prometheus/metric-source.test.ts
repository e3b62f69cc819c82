import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import { KEPT } from '../../src/prometheus/source/history-watch.js';
import { UNKNOWN_AGE } from '../../src/prometheus/source/age.js';

import { queryDeadlineSeconds } from '../../src/prometheus/data-source/source-config.js';
import { namespacesPattern } from '../../src/prometheus/data-source/resource-queries.js';
import type { MetricSpec } from '../../src/scaler/spec.js';
import { aSource, at, cpuMetric, externalMetric } from '../support/builders.js';
import { ManualClock, settle } from '../support/manual-clock.js';
import { realClock, values } from './fakes.js';
import { due, setUp } from './round-fixture.js';

const memoryMetric: MetricSpec = { ...cpuMetric, name: 'memory', identity: 'memory' };

const answerOf = (value: number): Answer => values([{ labels: {}, value }]);
const usageOf = (query: string, perNamespace = 1): Answer => {
  const pattern = /namespace=~"([^"]*)"/.exec(query)?.[1] ?? '';
  const series = pattern.split('|').flatMap((namespace) =>
    Array.from({ length: perNamespace }, (_, pod) => ({
      labels: { namespace, pod: `p${pod}`, container: 'app' },
      value: 1,
    })),
  );
  return series.length > 20_000
    ? { class: 'failed', reason: 'too_large', message: 'too many' }
    : values(series);
};

describe('a round', () => {
  it('sends a query once for all scalers that share it', async () => {
    const { start, asked } = setUp(() => answerOf(7));

    const round = start(due([externalMetric()], 'shop', 'a'), due([externalMetric()], 'other', 'b'));

    await expect(round.of('shop/a')).resolves.toEqual([answerOf(7)]);
    await expect(round.of('other/b')).resolves.toEqual([answerOf(7)]);
    expect(asked).toEqual(['sum(queue)']);
  });

  it('sends a guard and a freshness once for all metrics that use them, with variables replaced', async () => {
    const { start, asked } = setUp((query) => (query.startsWith('up') ? answerOf(0) : answerOf(7)));
    const freshness = { query: 'max(timestamp(queue{n="$namespace"}))', maxAgeSeconds: 60 };
    const guarded = externalMetric({ guard: 'up{n="$namespace"}', freshness });

    const round = start(
      due([guarded], 'shop', 'a'),
      due([guarded], 'shop', 'b'),
      due([externalMetric({ query: 'up{n="shop"}' })], 'shop', 'c'),
    );
    const answers = await Promise.all(['shop/a', 'shop/b', 'shop/c'].map((key) => round.of(key)));

    const refused = [{ class: 'missing', message: expect.stringContaining('the guard is not true') }];
    expect(answers).toEqual([refused, refused, [answerOf(0)]]);
    expect(asked.toSorted()).toEqual(['max(timestamp(queue{n="shop"}))', 'sum(queue)', 'up{n="shop"}']);
  });

  it('adds the answers of backlog and capacity to the value, with variables replaced', async () => {
    const { start, asked } = setUp((query) => answerOf(query.startsWith('wait') ? 480 : 8));
    const drained = externalMetric({
      target: { type: 'AverageValue', milli: 4000n },
      backlog: { query: 'wait{n="$namespace"}', drainSeconds: 60 },
      capacityQuery: 'capacity{n="$namespace"}',
    });

    const round = start(due([drained], 'shop', 'a'));

    await expect(round.of('shop/a')).resolves.toEqual([{ ...answerOf(8), backlog: 480, capacity: 8 }]);
    expect(asked.toSorted()).toEqual(['capacity{n="shop"}', 'sum(queue)', 'wait{n="shop"}']);
  });

  it('sends the query again in the next round', async () => {
    const { start, asked } = setUp(() => answerOf(7));
    const scaler = due([externalMetric()]);

    await start(scaler).of('shop/web');
    await start(scaler).of('shop/web');

    expect(asked).toHaveLength(2);
  });

  it('does not repeat a query of an earlier round that is still running', async () => {
    let finish: (answer: Answer) => void = () => undefined;
    const { start, asked } = setUp(() => new Promise((resolve) => (finish = resolve)));
    const scaler = due([externalMetric()]);

    const rounds = [start(scaler), start(scaler)];
    await settle();
    finish(answerOf(7));
    await Promise.all(rounds.map((round) => round.of('shop/web')));

    expect(asked).toHaveLength(1);
  });

  it('sends queries with different variables separately, and returns the answers in the order of the metrics', async () => {
    const { start, asked } = setUp((query) => answerOf(query.length));
    const query = 'q{n="$namespace", d="$name", p=~"$pods"}';
    const metrics = [externalMetric({ query }), externalMetric({ query: 'z', identity: 'z' })];

    const round = start(due(metrics, 'shop', 'web'), due(metrics, 'shop', 'api2'));

    const [first, second] = await round.of('shop/web');
    expect(second).toEqual(answerOf(1));
    expect(first).not.toEqual(second);
    expect(asked.toSorted()).toEqual([
      'q{n="shop", d="api2", p=~"api2-[a-z0-9]+-[a-z0-9]{5}"}',
      'q{n="shop", d="web", p=~"web-[a-z0-9]+-[a-z0-9]{5}"}',
      'z',
    ]);
  });

  it('returns the answer for one scaler while the query of another hangs', async () => {
    const { start } = setUp((query) => (query === 'slow' ? new Promise(() => undefined) : answerOf(1)));

    const round = start(
      due([externalMetric({ query: 'slow' })], 'shop', 'a'),
      due([externalMetric()], 'shop', 'b'),
    );

    await expect(round.of('shop/b')).resolves.toEqual([answerOf(1)]);
  });

  it('has no more than maxConcurrentQueries in flight and still sends all', async () => {
    let inFlight = 0;
    let most = 0;
    const { start, asked } = setUp(
      async () => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await new Promise((resolve) => setImmediate(resolve));
        inFlight -= 1;
        return answerOf(1);
      },
      { maxConcurrentQueries: 3 },
    );
    const scalers = Array.from({ length: 20 }, (_, index) =>
      due([externalMetric({ query: `q${index}` })], 'shop', `s${index}`),
    );

    const round = start(...scalers);
    await Promise.all(scalers.map((_, index) => round.of(`shop/s${index}`)));

    expect([most, asked.length]).toEqual([3, 20]);
  });

  it('fails the queries without a slot in the round, without sending them', async () => {
    let nowMs = 0;
    const { start, asked } = setUp(
      (_query, { timeoutMs }) => {
        nowMs += timeoutMs;
        return { class: 'failed', reason: 'timeout', message: 'late' };
      },
      { maxConcurrentQueries: 1, timeoutSeconds: 1 },
      { ...realClock, monotonicMs: () => nowMs },
    );
    const one = due([externalMetric({ query: 'a' })], 'shop', 'a', 1);
    const two = due([externalMetric({ query: 'b' })], 'shop', 'b', 1);

    const round = start(one, two);
    const answers = (await Promise.all([round.of('shop/a'), round.of('shop/b')])).flat();

    expect(asked).toHaveLength(1);
    expect(answers.map((answer) => answer.class)).toEqual(['failed', 'failed']);
    expect(JSON.stringify(answers)).toContain('the round had no free slot');
  });

  it('reports each query that was sent', async () => {
    const failure: Answer = { class: 'failed', reason: 'timeout', message: 'late' };
    const { start, reports } = setUp((query) => (query === 'bad' ? failure : answerOf(1)));

    const metrics = [externalMetric(), externalMetric({ query: 'bad', identity: 'bad' })];
    await start(due(metrics)).of('shop/web');

    expect(reports.map((report) => report.failure)).toEqual(expect.arrayContaining([failure, null]));
    expect(reports).toHaveLength(2);
    expect(reports.every(({ source, seconds }) => source === 'default' && seconds >= 0)).toBe(true);
  });

  it.each([
    ['value', 0, 0],
    ['value', 2000, 2],
    ['value', -3000, -3],
    ['missing', 0, null],
  ] as const)(
    'reports by a %s of %d ms off how far the clock of the source is ahead',
    async (kind, offMs, ahead) => {
      const now = at(0);
      const missing: Answer = { class: 'missing', message: 'nothing' };
      const value = { ...answerOf(1), evaluatedAt: at(offMs / 1000) };
      const clock = { ...realClock, now: () => now };
      const { start, reports } = setUp(() => (kind === 'value' ? value : missing), {}, clock);

      await start(due([externalMetric()])).of('shop/web');

      expect(reports.map(({ clockAheadSeconds }) => clockAheadSeconds)).toEqual([ahead]);
    },
  );

  it('reads the age of a source once for all concurrent callers', async () => {
    const { start, startTimeCount } = setUp(() => answerOf(1));
    const round = start(due([externalMetric()]));
    const age = { startTime: at(-99), history: KEPT };

    expect(await Promise.all([round.ageOf('default'), round.ageOf('default')])).toEqual([age, age]);
    expect(await round.ageOf('nosuch')).toEqual(UNKNOWN_AGE);
    expect(startTimeCount()).toBe(1);
  });

  it('rejects a metric without a possible query, without sending one', async () => {
    const { start, asked } = setUp(() => answerOf(1), { namespaces: ['shop'] });
    const gpu: MetricSpec = { ...cpuMetric, name: 'gpu', identity: 'gpu' };
    const elsewhere = externalMetric({ source: 'nosuch' });

    const round = start(due([gpu, elsewhere]), due([externalMetric()], 'secret', 'spy'));
    const answers = [...(await round.of('shop/web')), ...(await round.of('secret/spy'))];

    expect(answers.map((answer) => answer.class === 'failed' && answer.message)).toEqual([
      'data source "default" has no resource query for "gpu"',
      'the service config has no data source "nosuch"',
      'namespace secret is not allowed to query data source "default"',
    ]);
    expect(asked).toEqual([]);
  });
});

describe('a query that is rejected as invalid', () => {
  it('is sent again in every fifth round, and at once after a change', async () => {
    const refusal: Answer = { class: 'failed', reason: 'bad_query', message: 'h: parse error' };
    const clock = new ManualClock();
    const { start, asked } = setUp((query) => (query === 'wrong' ? refusal : answerOf(1)), {}, clock);
    const metrics = [externalMetric({ query: 'wrong' }), externalMetric({ query: 'good', identity: 'g' })];
    const scaler = due(metrics);
    const answers: (readonly Answer[])[] = [];
    const askedIn: number[] = [];
    for (let round = 0; round < 11; round += 1) {
      asked.length = 0;
      answers.push(await start(scaler).of('shop/web'));
      expect(asked).toContain('good');
      if (asked.includes('wrong')) askedIn.push(round);
      clock.advance(15_000);
    }

    expect(askedIn).toEqual([0, 5, 10]);
    expect(answers).toEqual(answers.map(() => [refusal, answerOf(1)]));
    await expect(start(due([externalMetric({ query: 'mended' })])).of('shop/web')).resolves.toEqual([
      answerOf(1),
    ]);
  });

  it('is sent in every round if it failed to execute or timed out: that may be temporary', async () => {
    const failure: Answer = { class: 'failed', reason: 'execution', message: 'h: too many samples' };
    const clock = new ManualClock();
    const { start, asked } = setUp(() => failure, {}, clock);
    for (let round = 0; round < 4; round += 1) {
      await start(due([externalMetric()])).of('shop/web');
      clock.advance(15_000);
    }

    expect(asked).toHaveLength(4);
  });
});

describe('a source that does not answer', () => {
  it('gets one query per round, in turn: of three, one always fails', async () => {
    let isBack = false;
    const failure: Answer = { class: 'failed', reason: 'timeout', message: 'late' };
    const { start, asked } = setUp((query) =>
      isBack && !query.includes('cpu_seconds') ? answerOf(1) : failure,
    );
    const metrics = ['a', 'b'].map((query) => externalMetric({ query, identity: query }));
    const scaler = due([cpuMetric, ...metrics]);
    const counts: number[] = [];
    const run = async (): Promise<void> => {
      asked.length = 0;
      await start(scaler).of('shop/web');
      counts.push(asked.length);
    };

    for (let round = 0; round < 6; round += 1) await run();
    isBack = true;
    for (let round = 0; round < 3; round += 1) await run();

    expect(counts.slice(0, 6)).toEqual([3, 3, 1, 1, 1, 1]);
    expect(counts.slice(6)).toContain(3);
    expect(counts.at(-1)).toBe(3);
  });
});

describe('resource queries', () => {
  it('are sent once for each resource, however many scalers and namespaces there are', async () => {
    const { start, asked } = setUp((query) => usageOf(query));

    const round = start(
      due([cpuMetric, memoryMetric], 'shop', 'a'),
      due([cpuMetric], 'shop', 'b'),
      due([cpuMetric], 'pay', 'c'),
    );
    await Promise.all(['shop/a', 'shop/b', 'pay/c'].map((key) => round.of(key)));

    expect(asked.toSorted()).toEqual([
      'sum by (namespace, pod, container) (memory_bytes{namespace=~"shop"})',
      'sum by (namespace, pod, container) (rate(cpu_seconds_total{namespace=~"pay|shop"}[120s]))',
    ]);
  });

  it('are split in halves and sent again if the answer is too large, and sent in batches that fit from then on', async () => {
    const { start, asked } = setUp((query) => usageOf(query, 6000));
    const scalers = ['a', 'b', 'c', 'd', 'e'].map((namespace) => due([cpuMetric], namespace));

    const first = start(...scalers);
    const answers = (await Promise.all(scalers.map(({ namespace }) => first.of(`${namespace}/web`)))).flat();

    expect(answers.map((answer) => answer.class)).toEqual(['value', 'value', 'value', 'value', 'value']);
    expect(asked.map((query) => /"(.*)"/.exec(query)?.[1])).toEqual(['a|b|c|d|e', 'a|b|c', 'd|e']);
    asked.length = 0;

    const second = start(...scalers);
    await Promise.all(scalers.map(({ namespace }) => second.of(`${namespace}/web`)));

    expect(asked.map((query) => /"(.*)"/.exec(query)?.[1])).toEqual(['a|b', 'c|d', 'e']);
  });

  it('are rejected if the answer for two namespaces has no label namespace, but not for one', async () => {
    const { start } = setUp(() => values([{ labels: { pod: 'a' }, value: 1 }]));

    const two = start(due([cpuMetric], 'a'), due([cpuMetric], 'b'));
    const one = start(due([cpuMetric], 'a'));

    await expect(two.of('a/web')).resolves.toMatchObject([{ class: 'invalid' }]);
    await expect(one.of('a/web')).resolves.toMatchObject([{ class: 'value' }]);
  });

  it('stay below 16 KiB each', async () => {
    const { start, asked } = setUp((query) => usageOf(query));
    const scalers = Array.from({ length: 2000 }, (_, index) => due([cpuMetric], `namespace-${index}`));

    await start(...scalers).of('namespace-0/web');

    expect(asked.length).toBeGreaterThan(1);
    expect(Math.max(...asked.map(({ length }) => length))).toBeLessThan(16 * 1024);
  });

  it('match the sorted namespaces and nothing else', () => {
    expect(namespacesPattern(['b', 'a.c'])).toBe('a\\.c|b');
  });
});

describe('queryDeadlineSeconds', () => {
  it.each([
    [10, 15, 7.5],
    [10, 60, 10],
    [10, 20, 10],
    [10, 1, 1],
    [0.5, 60, 1],
  ])('with a timeout of %d s and a period of %d s is %d s', (timeoutSeconds, period, expected) => {
    expect(queryDeadlineSeconds(aSource({ timeoutSeconds }), period)).toBe(expected);
  });
});
