import { describe, expect, it } from '@jest/globals';
import type { Answer, FailureReason } from '../../../src/prometheus/answers/answer.js';
import { createBreaker, isServerFailure } from '../../../src/prometheus/client/breaker.js';
import { createQueryQueue } from '../../../src/prometheus/query-queue.js';
import type { QueryOptions } from '../../../src/prometheus/requests/request-options.js';
import { aSource } from '../../support/builders.js';
import { ManualClock, settle } from '../../support/manual-clock.js';
import { values } from '../fakes.js';

const VALUE: Answer = values([{ labels: {}, value: 1 }]);
const failure = (reason: FailureReason = 'connection'): Answer => ({
  class: 'failed',
  reason,
  message: 'h: gone',
});

/** A source that answers as the test sets, and records its queries. */
function setUp(first: Answer = failure()) {
  const source = { answer: first as Answer | 'silent', asked: [] as string[], options: [] as QueryOptions[] };
  const waiting: ((answer: Answer) => void)[] = [];
  const queue = createQueryQueue({
    config: aSource({ maxConcurrentQueries: 3 }),
    clock: new ManualClock(),
    onQuery: () => undefined,
    client: {
      query: (query, options) => {
        source.asked.push(query);
        source.options.push(options);
        const { answer } = source;
        return answer === 'silent'
          ? new Promise((resolve) => waiting.push(resolve))
          : Promise.resolve(answer);
      },
      startTime: () => Promise.resolve(null),
    },
  });
  const { signal } = new AbortController();
  const round = (number: number, count: number, name = 'q'): Promise<readonly Answer[]> =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        queue.ask(`${name}${index}`, { seconds: 7, signal, round: number }),
      ),
    );
  const finish = (answer: Answer): void => {
    for (const resolve of waiting.splice(0)) resolve(answer);
  };
  return { source, round, finish };
}

describe('a source that fails', () => {
  it('gets all queries in the round of the failure, and after 5 failures one query in each further round', async () => {
    const { source, round } = setUp();

    await round(1, 5);
    await round(2, 8);
    await round(3, 8);

    expect(source.asked).toEqual(['q0', 'q1', 'q2', 'q3', 'q4', 'q0', 'q0']);
  });

  it('gets all queries again after 4 failures', async () => {
    const { source, round } = setUp();

    await round(1, 4);
    await round(2, 4);

    expect(source.asked).toHaveLength(8);
  });

  it('gets all queries again if it answered one of many', async () => {
    const { source, round } = setUp();
    await round(1, 9);
    source.answer = VALUE;
    await round(2, 1);
    source.answer = failure();

    await round(3, 4);
    source.asked.length = 0;
    await round(4, 9);

    expect(source.asked).toHaveLength(9);
  });

  it('passes the reason of the failure to queries that are not sent', async () => {
    const { round } = setUp(failure('timeout'));
    await round(1, 5);

    const [probe, other] = await round(2, 2);

    expect(probe).toEqual(failure('timeout'));
    expect(other).toEqual({
      class: 'failed',
      reason: 'timeout',
      message: 'not sent: 6 consecutive queries have failed, so only one query per round is sent (h: gone)',
    });
  });

  it('misses no round when it recovers: the other queries wait for the first and are sent then, 3 at a time', async () => {
    const { source, round, finish } = setUp();
    await round(1, 5);
    source.asked.length = 0;
    source.answer = 'silent';

    const answers = round(2, 6);
    await settle();
    expect(source.asked).toEqual(['q0']);
    finish(VALUE);
    await settle();
    expect(source.asked).toHaveLength(4);
    source.answer = VALUE;
    finish(VALUE);

    expect(await answers).toEqual(Array.from({ length: 6 }, () => VALUE));
  });

  it('gets no retry of a query after 5 failures', async () => {
    const { source, round } = setUp();

    await round(1, 5);
    await round(2, 1);

    expect(source.options.map(({ mayRetry }) => mayRetry)).toEqual([true, true, true, true, true, false]);
  });

  it('treats a round that began earlier like the current one', async () => {
    const { source, round } = setUp();
    await round(7, 5);
    source.asked.length = 0;

    await round(8, 1);
    await round(7, 2, 'late');

    expect(source.asked).toEqual(['q0']);
  });
});

describe('an answer', () => {
  const isOpenAfter = async (answers: readonly Answer[]): Promise<boolean> => {
    const breaker = createBreaker();
    answers.forEach((answer) => breaker.learn(answer));
    const asked: number[] = [];
    const ask = (index: number) => (): Promise<Answer> => {
      asked.push(index);
      return Promise.resolve(failure());
    };
    await Promise.all([breaker.run(1, ask(0)), breaker.run(1, ask(1))]);
    return asked.length === 1;
  };
  const five = Array.from({ length: 5 }, () => failure());

  it.each([
    ['a value', VALUE],
    ['no series', { class: 'missing', message: 'no series' }],
    ['a result other than a vector', { class: 'invalid', message: 'a matrix' }],
    ['an invalid query', failure('bad_query')],
    ['a query that cannot be executed', failure('execution')],
    ['an answer that is too large', failure('too_large')],
  ] as const)('with %s is one of a working server', async (_name, answer) => {
    expect(await isOpenAfter([...five, answer])).toBe(false);
    expect(await isOpenAfter(five)).toBe(true);
  });

  it('to a canceled query does not count', async () => {
    expect(await isOpenAfter([...five.slice(1), failure('canceled')])).toBe(false);
    expect(await isOpenAfter([...five, failure('canceled')])).toBe(true);
  });

  it.each([
    ['timeout', true],
    ['connection', true],
    ['unauthorized', true],
    ['rate_limited', true],
    ['server_error', true],
    ['bad_answer', true],
    ['bad_query', false],
    ['execution', false],
    ['too_large', false],
    ['canceled', false],
  ] as const)('that failed with %s is a server failure: %p', (reason, expected) => {
    expect(isServerFailure(reason)).toBe(expected);
  });
});
