import { describe, expect, it } from '@jest/globals';
import { capacityQuery, createCapacityWatch } from '../../../src/prometheus/queries/capacity-watch.js';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { externalMetric, scalerOf, T0 } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';

const AUTO = { served: { query: 'sum(rate(served_total{app="$name"}[2m]))' } };
const scalerNamed = (name: string, capacity: object = { auto: AUTO }): Scaler =>
  scalerOf({
    scaleTargetRef: { name },
    maxReplicas: 20,
    metrics: [
      { external: { metric: { name: 'rps' }, query: 'sum(rps)', target: { averageValue: 8 }, capacity } },
    ],
  });
const answered = (value: number, more: Partial<Answer> = {}): Answer =>
  ({
    class: 'value',
    series: [
      { labels: { promscaler_part: 'day-1' }, value },
      { labels: { promscaler_part: 'recent' }, value: NaN },
    ],
    evaluatedAt: T0,
    ...more,
  }) as Answer;
const FAILED: Answer = { class: 'failed', reason: 'timeout', message: 'timeout after 30 s' };

function setUp(answer: () => Answer = () => answered(9)) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const faults: unknown[] = [];
  const watch = createCapacityWatch({ clock, onFault: (error) => faults.push(error) });
  /** Rounds of 15 s. */
  const rounds = async (count: number, scalers: readonly Scaler[]): Promise<number> => {
    const before = asked.length;
    for (let round = 0; round < count; round += 1) {
      watch.read(scalers, (_, text) => {
        asked.push(text);
        return Promise.resolve(answer());
      });
      await clock.advanceAndSettle(15_000);
    }
    expect(faults).toEqual([]);
    return asked.length - before;
  };
  const valueOf = (scaler: Scaler): unknown => {
    const [metric] = scaler.spec.metrics;
    return metric === undefined ? undefined : watch.readingOf(scaler, metric)?.days[0];
  };
  return { clock, asked, rounds, valueOf };
}

describe('the readings of capacity.auto', () => {
  it('are one query an hour, of the scalers that have it', async () => {
    const { rounds, valueOf } = setUp();
    const [web, plain] = [scalerNamed('web'), scalerNamed('plain', { query: 'max(capacity)' })];

    expect(await rounds(240, [web, plain])).toBe(1);
    expect(await rounds(1, [web, plain])).toBe(1);
    expect([valueOf(web), valueOf(plain)]).toEqual([9, undefined]);
  });

  it('begin within 20 rounds for 100 scalers, at most 5 in a round', async () => {
    const { rounds, valueOf } = setUp();
    const scalers = Array.from({ length: 100 }, (_, index) => scalerNamed(`web${index}`));

    expect(await rounds(1, scalers)).toBe(5);
    expect(await rounds(19, scalers)).toBe(95);
    expect(scalers.every((scaler) => valueOf(scaler) === 9)).toBe(true);
    expect(await rounds(200, scalers)).toBe(0);
  });

  it('are shared by scalers with the same query', async () => {
    const { rounds, valueOf } = setUp();
    const [one, other] = [scalerNamed('web'), scalerNamed('web')];

    expect(await rounds(40, [one, other])).toBe(1);
    expect([valueOf(one), valueOf(other)]).toEqual([9, 9]);
  });

  it.each([
    ['fails', FAILED],
    ['finds no series', { class: 'missing', message: 'no series' } as const],
    ['is partial', answered(5, { class: 'partial', why: 'warnings' })],
  ])('stay for a day while the query %s, which is repeated after 5 minutes', async (_, bad) => {
    let answer = answered(9);
    const { rounds, valueOf } = setUp(() => answer);
    const web = scalerNamed('web');
    await rounds(2, [web]);
    answer = bad;

    expect(await rounds(260, [web])).toBe(2);
    expect(valueOf(web)).toBe(9);
    await rounds(5760 - 264, [web]);
    expect(valueOf(web)).toBe(9);
    await rounds(4, [web]);
    expect(valueOf(web)).toBeUndefined();
  });

  it('of an edited query start again', async () => {
    const { rounds, valueOf } = setUp();
    await rounds(1, [scalerNamed('web')]);
    const edited = scalerNamed('web', { auto: { served: { query: 'sum(rate(done_total[2m]))' } } });

    expect(valueOf(edited)).toBeUndefined();
    expect(await rounds(1, [edited])).toBe(1);
  });
});

describe('the query of capacity.auto', () => {
  const textOf = (errorsQuery?: string): string => {
    const autoCapacity = {
      mode: 'Observe',
      servedQuery: 'sum(x) # all',
      ...(errorsQuery === undefined ? {} : { errorsQuery }),
    } as const;
    return capacityQuery(scalerNamed('web'), { ...externalMetric(), autoCapacity });
  };

  it('has a limit only with errors or a backlog', () => {
    expect(textOf()).not.toContain('"limit"');
    expect(textOf('sum(e)')).toContain('"limit"');
  });

  it('ends each query with a new line, because of comments', () => {
    expect(textOf()).toContain('(sum(sum(x) # all\n) / (');
  });
});
