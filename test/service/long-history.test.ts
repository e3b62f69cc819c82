import { describe, expect, it } from '@jest/globals';
import { buildPoints } from '../../src/service/long-history.js';
import type { HistorySeries } from '../../src/service/long-history.js';
import { historyQueries } from '../../src/service/long-history.js';
import { openLongHistory } from '../../src/service/long-history.js';
import type { RangeAnswer, RangeSeries } from '../../src/prometheus/answers/classify.js';
import type { RangeQuery } from '../../src/prometheus/client/range-client.js';
import { checkSyntax } from '../../src/promql/syntax.js';
import type { LongAnswer } from '../../src/server/pages/long-history.js';
import type { ScalerPoints } from '../../src/telemetry/chart-points.js';
import { onAbort } from '../../src/units/abort.js';
import { formatInstant } from '../../src/units/time.js';
import { aSource, at, T0 } from '../support/builders.js';
import { ManualClock, settle } from '../support/manual-clock.js';
import { CPU, QUEUE, scaler } from '../telemetry/record-builder.js';

const WEB = scaler('web', [CPU, QUEUE]);
const RANGE = { start: at(0), end: at(180), stepSeconds: 60 };

function series(
  labels: Readonly<Record<string, string>>,
  values: Readonly<Record<number, number>>,
): RangeSeries {
  return {
    labels,
    points: Object.entries(values).map(([second, value]) => [T0 + Number(second) * 1000, value]),
  };
}

const matrix = (...all: readonly RangeSeries[]): RangeAnswer => ({ class: 'matrix', series: all });

describe('the queries of a history', () => {
  it('name each column of counts, and count no replica of promscaler twice', () => {
    const { counts, values } = historyQueries({ namespace: 'shop', name: 'web' }, 900);

    expect(counts.split(' or ')[0]).toBe(
      'label_replace(max by (cluster) (promscaler_current_replicas{namespace="shop",scaler="web"}), "column", "currentReplicas", "", "")',
    );
    expect(counts.split(' or ')).toHaveLength(6);
    expect(values).toBe(
      'sum by (cluster, metric, type) (sum_over_time(promscaler_metric_value{namespace="shop",scaler="web"}[900s])) / sum by (cluster, metric, type) (count_over_time(promscaler_metric_value{namespace="shop",scaler="web"}[900s]))',
    );
  });

  it.each([
    [1, '[120s]'],
    [120, '[120s]'],
    [121, '[121s]'],
  ])('of a step of %i s have the window %s', (step, window) => {
    expect(historyQueries({ namespace: 'a', name: 'b' }, step).targets).toContain(window);
  });

  it('select metrics by their names, whatever characters these have', () => {
    const { counts, values, targets } = historyQueries({ namespace: 'shop', name: 'web' }, 60, [
      'app/cpu',
      'a.b|c"',
    ]);

    expect(values).toContain(
      'promscaler_metric_value{namespace="shop",scaler="web",metric=~"app/cpu|a\\\\.b\\\\|c\\""}[120s]',
    );
    expect(counts).not.toContain('metric=~');
    expect([counts, values, targets].flatMap((query) => checkSyntax(query))).toEqual([]);
  });

  it.each(['a"} or vector(1) #', 'back\\', 'line\nbreak', '`', '$x{{y}}', '"'])(
    'quote the name %j, which stays one string',
    (name) => {
      const queries = Object.values(historyQueries({ namespace: name, name }, 60)) as readonly string[];

      expect(queries.flatMap((query) => checkSyntax(query))).toEqual([]);
      for (const query of queries)
        expect(query.replaceAll(JSON.stringify(name), '')).not.toContain('vector(1)');
    },
  );
});

const build = (given: HistorySeries): Promise<ScalerPoints> =>
  buildPoints(WEB, RANGE, given, () => Promise.resolve());

describe('the points of a history', () => {
  it('are one per step, with null where there is no sample, between the first and the last number', async () => {
    const { points, keptFrom } = await build({
      counts: [
        series({ column: 'currentReplicas' }, { 60: 0, 180: 4 }),
        series({ column: 'readyPods' }, { 60: 0 }),
      ],
      values: [series({ metric: 'cpu', type: 'Resource' }, { 60: 0, 120: 55.5 })],
      targets: [series({ metric: 'queue-depth', type: 'External' }, { 180: 30 })],
    });

    expect(keptFrom).toBeNull();
    expect(points).toEqual([
      { at: at(60), counts: [0, null, null, null, null, 0], values: [0, null, null, null] },
      { at: at(120), counts: [null, null, null, null, null, null], values: [55.5, null, null, null] },
      { at: at(180), counts: [4, null, null, null, null, null], values: [null, null, null, 30] },
    ]);
  });

  it('take the larger of two series of a column, and nothing that is no count, number or metric of the document', async () => {
    const { points } = await build({
      counts: [
        series({ column: 'maxReplicas' }, { 0: 5, 60: 7, [-60]: 9, 240: 9 }),
        series({ column: 'maxReplicas', cluster: 'a' }, { 0: 6, 60: 2 }),
        series({ column: 'minReplicas' }, { 0: -1, 60: 1.5 }),
        series({ column: '__proto__' }, { 0: 1 }),
      ],
      values: [
        series({ metric: 'cpu', type: 'Resource' }, { 0: NaN, 60: Infinity }),
        series({ metric: 'cpu', type: 'External' }, { 0: 1 }),
      ],
      targets: [],
    });

    expect(points.map(({ counts }) => counts)).toEqual([
      [null, null, null, null, 6, null],
      [null, null, null, null, 7, null],
    ]);
    expect(points.flatMap(({ values }) => values)).toEqual(Array(8).fill(null));
  });
});

interface Asked extends RangeQuery {
  readonly answer: (answer: RangeAnswer) => void;
}

function opened() {
  const clock = new ManualClock();
  const asked: Asked[] = [];
  let running = 0;
  let most = 0;
  const history = openLongHistory({
    source: aSource(),
    scalers: () => [WEB],
    clock,
    createClient: (source) => {
      expect([source.maxConcurrentQueries, source.maxAnswerBytes]).toEqual([1, 8_388_608]);
      return {
        queryRange: (query, { signal }) =>
          new Promise<RangeAnswer>((resolve) => {
            most = Math.max(most, (running += 1));
            const answer = (one: RangeAnswer): void => {
              running -= 1;
              resolve(one);
            };
            asked.push({ ...query, answer });
            const canceled = { class: 'failed', reason: 'canceled', message: 'canceled' } as const;
            if (signal !== undefined) onAbort(signal, () => answer(canceled));
          }),
      };
    },
  });
  /** Answers the queries in their order, each after it was sent. */
  const answerAll = async (...answers: readonly RangeAnswer[]): Promise<void> => {
    for (const answer of answers) {
      await settle();
      asked.at(-1)?.answer(answer);
    }
    await settle();
  };
  return { clock, asked, history, answerAll, most: () => most };
}

const COUNTS = matrix(series({ column: 'currentReplicas' }, { 0: 3 }));
const FAILED: RangeAnswer = { class: 'failed', reason: 'connection', message: 'prometheus:9090: refused' };

async function whyOf(answer: Promise<LongAnswer>): Promise<string | null> {
  const read = await answer;
  return 'why' in read ? read.why : null;
}

describe('reading a history', () => {
  it('finds the documents in effect', () => {
    const { history } = opened();

    expect([history.find('shop/web'), history.find('shop/other')]).toEqual([WEB, null]);
  });

  it('sends three queries of the range, one after the other; without series of metrics their columns are null', async () => {
    const { asked, history, answerAll, most } = opened();

    const answer = history.read(WEB, RANGE);
    await answerAll(COUNTS, matrix(), matrix());

    expect(await answer).toMatchObject({
      points: { points: [{ counts: [3, null, null, null, null, null], values: [null, null, null, null] }] },
    });
    expect(asked.map(({ start, end, stepSeconds }) => ({ start, end, stepSeconds }))).toEqual([
      RANGE,
      RANGE,
      RANGE,
    ]);
    expect(most()).toBe(1);
  });

  it.each([
    [20, 3],
    [21, 5],
    [41, 7],
  ])('of %i metrics sends %i queries, each counted, and has the values of all', async (count, queries) => {
    const metrics = Array.from({ length: count }, (_, index) => ({ ...QUEUE, identity: `m${index}` }));
    const wide = scaler('web', metrics);
    const reasons: (string | null)[] = [];
    const history = openLongHistory({
      source: aSource(),
      scalers: () => [wide],
      clock: new ManualClock(),
      onQuery: (reason) => reasons.push(reason),
      createClient: () => ({
        queryRange: ({ query }) => {
          const wanted = metrics.filter(
            ({ identity }) => !query.includes('metric=~') || new RegExp(`["|]${identity}["|]`).test(query),
          );
          const found = wanted.map(({ identity: metric }) => series({ metric, type: 'External' }, { 0: 7 }));
          return Promise.resolve(query.includes('column') ? COUNTS : matrix(...found));
        },
      }),
    });

    const answer = await history.read(wide, RANGE);

    expect(reasons).toEqual(new Array(queries).fill(null));
    expect(answer).toMatchObject({ points: { points: [{ values: new Array(2 * count).fill(7) }] } });
  });

  it('counts a query that failed with its reason', async () => {
    const reasons: (string | null)[] = [];
    const history = openLongHistory({
      source: aSource(),
      scalers: () => [WEB],
      clock: new ManualClock(),
      onQuery: (reason) => reasons.push(reason),
      createClient: () => ({ queryRange: () => Promise.resolve(FAILED) }),
    });

    await history.read(WEB, RANGE);

    expect(reasons).toEqual(['connection']);
  });

  it('asks once for equal requests within 30 s', async () => {
    const { clock, asked, history, answerAll } = opened();
    const both = [history.read(WEB, RANGE), history.read(WEB, RANGE)];
    await answerAll(COUNTS, matrix(), matrix());
    await Promise.all(both);

    await clock.advanceAndSettle(29_999);
    await history.read(WEB, RANGE);
    expect(asked).toHaveLength(3);

    await clock.advanceAndSettle(1);
    void history.read(WEB, RANGE);
    await settle();
    expect(asked).toHaveLength(4);
  });

  it('asks again for a document with another metric', async () => {
    const { asked, history, answerAll } = opened();
    const first = history.read(WEB, RANGE);
    await answerAll(COUNTS, matrix(), matrix());
    await first;

    void history.read(scaler('web', [CPU]), RANGE);
    await settle();

    expect(asked).toHaveLength(4);
  });

  it('says why the data source failed, and asks again 5 s later', async () => {
    const { clock, asked, history, answerAll } = opened();
    const answer = history.read(WEB, RANGE);
    await answerAll(FAILED);

    expect(await whyOf(answer)).toBe('the data source `default` failed: prometheus:9090: refused');
    await clock.advanceAndSettle(4999);
    void history.read(WEB, RANGE);
    await settle();
    expect(asked).toHaveLength(1);

    await clock.advanceAndSettle(1);
    void history.read(WEB, RANGE);
    await settle();
    expect(asked).toHaveLength(2);
  });

  it('says that there are no series and what to do', async () => {
    const { history, answerAll } = opened();
    const answer = history.read(WEB, RANGE);
    await answerAll(matrix(), matrix(), matrix(), matrix());

    expect(await whyOf(answer)).toBe(
      'the data source `default` has no series of shop/web in this range: configure Prometheus to scrape /metrics of promscaler with honorLabels: true',
    );
  });

  it('says when the series begin that are younger than the last point', async () => {
    const { asked, clock, history, answerAll } = opened();
    const answer = history.read(WEB, { start: at(-1800), end: at(-900), stepSeconds: 900 });
    const young = series({ column: 'currentReplicas' }, { [-450]: 3, [-441]: 3 });
    await answerAll(matrix(), matrix(), matrix(), matrix(young));

    expect(await whyOf(answer)).toBe(
      `the series of shop/web in the data source \`default\` begin at ${formatInstant(at(-450))}, after the last point of this range (${formatInstant(at(-900))}). The next point is at ${formatInstant(at(0))}. Choose a shorter range`,
    );
    expect(asked.at(-1)).toMatchObject({ start: at(-900), end: clock.now(), stepSeconds: 9 });
  });

  it('says why the query for young series failed', async () => {
    const { history, answerAll } = opened();
    const answer = history.read(WEB, RANGE);
    await answerAll(matrix(), matrix(), matrix(), FAILED);

    expect(await whyOf(answer)).toBe('the data source `default` failed: prometheus:9090: refused');
  });

  it.each([
    ['a', 'b', 'the data source `default` has series of shop/web from several clusters (a, b)'],
    ['a', 'a', null],
    ['a', '', null],
  ])('of the clusters %j and %j: %s', async (one, other, why) => {
    const { history, answerAll } = opened();
    const answer = history.read(WEB, RANGE);
    const count = (cluster: string): RangeSeries =>
      series({ column: 'currentReplicas', ...(cluster === '' ? {} : { cluster }) }, { 0: 1 });
    await answerAll(matrix(count(one), count(other)), matrix(), matrix());

    expect((await whyOf(answer))?.split(':')[0] ?? null).toBe(why);
  });

  it('ends after 10 s, also for a request that waits for another one', async () => {
    const { clock, asked, history } = opened();
    const first = history.read(WEB, RANGE);
    const second = history.read(WEB, { ...RANGE, stepSeconds: 30 });
    await clock.advanceAndSettle(10_000);

    expect([await whyOf(first), await whyOf(second)]).toEqual(
      Array(2).fill('the data source `default` did not answer within 10 s: retry later'),
    );
    expect(asked).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('refuses the 17th request that waits', async () => {
    const { clock, history } = opened();
    const ranges = Array.from({ length: 17 }, (_, index) => ({ ...RANGE, stepSeconds: index + 1 }));
    const answers = ranges.map((range) => history.read(WEB, range));

    expect(await whyOf(answers[16] ?? Promise.reject(new Error()))).toBe(
      'too many histories are being read from Prometheus: retry later',
    );
    await clock.advanceAndSettle(10_000);
  });

  it('explains that there is no data source `default`', async () => {
    const history = openLongHistory({
      source: null,
      scalers: () => [],
      clock: new ManualClock(),
      createClient: () => {
        throw new Error('never called');
      },
    });

    expect(await whyOf(history.read(WEB, RANGE))).toMatch(/add this data source to the service config$/);
  });
});
