import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import {
  describeFailure,
  INTERNAL_ERROR,
  type Failure,
  type FailureReason,
  isServerFailure,
} from '../../../src/units/failure.js';
import { formatInstant } from '../../../src/units/time.js';
import { createQueryQueue, type SendOptions } from '../../../src/prometheus/source/queue.js';
import type { QueryOptions } from '../../../src/prometheus/client/request.js';
import { aSource } from '../../support/builders.js';
import { ManualClock, settle } from '../../support/manual-clock.js';
import { values } from '../fakes.js';

const VALUE: Answer = values([{ labels: {}, value: 1 }]);
const failure = (reason: FailureReason = 'connection'): Failure => ({
  class: 'failed',
  reason,
  message: 'h: gone',
});

/** A source that answers as the test sets, and records its queries. */
function setUp(first: Answer | 'silent' = failure()) {
  const source = { answer: first, asked: [] as string[], options: [] as QueryOptions[] };
  /** Queries with an answer of their own. */
  const answers = new Map<string, Answer>();
  const waiting: ((answer: Answer) => void)[] = [];
  const faults: unknown[] = [];
  const clock = new ManualClock();
  const queue = createQueryQueue({
    config: aSource({ maxConcurrentQueries: 3 }),
    clock,
    onQuery: () => undefined,
    onFault: (error) => faults.push(error),
    onOverLimit: () => undefined,
    client: {
      query: (query, options) => {
        source.asked.push(query);
        source.options.push(options);
        const answer = answers.get(query) ?? source.answer;
        return answer === 'silent'
          ? new Promise((resolve) => waiting.push(resolve))
          : Promise.resolve(answer);
      },
    },
  });
  const { signal } = new AbortController();
  const ask = (query: string, order: Partial<SendOptions> = {}): Promise<Answer> =>
    queue.query(query, { seconds: 7, signal, round: 1, ...order });
  const round = (number: number, count: number, name = 'q'): Promise<readonly Answer[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => ask(`${name}${index}`, { round: number })));
  const finish = (answer: Answer): void => {
    for (const resolve of waiting.splice(0)) resolve(answer);
  };
  return { source, answers, faults, clock, queue, ask, round, finish };
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

  it('gets all queries in each round while it answers one of nine, whichever fails last', async () => {
    const { source, answers, round } = setUp();
    answers.set('q0', VALUE);

    for (let number = 1; number <= 4; number += 1) await round(number, 9);

    expect(source.asked).toHaveLength(36);
  });

  it('gets all queries in a round after one in which only queries of another period failed', async () => {
    const { source, answers, round } = setUp(VALUE);
    await round(1, 3);
    source.answer = failure();
    await round(2, 12, 'hostile');
    for (const query of ['q0', 'q1', 'q2']) answers.set(query, VALUE);
    source.asked.length = 0;

    const [first, second] = await round(3, 2);

    expect([first, second]).toEqual([VALUE, VALUE]);
  });

  it('is tested with the query that was answered lately, not with the first one', async () => {
    const { source, answers, round } = setUp(VALUE);
    await round(1, 1);
    source.answer = failure();
    answers.set('q0', failure());
    await round(2, 6, 'other');
    source.asked.length = 0;
    answers.set('q0', VALUE);

    await round(3, 4, 'other');

    expect(source.asked).toEqual(['q0', 'other0', 'other1', 'other2', 'other3']);
  });

  it('passes the failure to queries that are not sent, with the time of the first failure since an answer', async () => {
    const { clock, round } = setUp(failure('timeout'));
    const since = clock.now();
    await round(1, 5);
    clock.advance(15_000);

    const [probe, other] = await round(2, 2);

    expect(probe).toEqual({ ...failure('timeout'), since });
    expect(other).toEqual(probe);
    expect(describeFailure({ ...failure('timeout'), source: 'default', since })).toBe(
      `Prometheus has not answered since ${formatInstant(since)}: h: gone`,
    );
  });

  it('has no such time after an answer', async () => {
    const { source, clock, round } = setUp(failure('timeout'));
    await round(1, 6);
    source.answer = VALUE;
    await round(2, 2);
    clock.advance(15_000);
    source.answer = failure('timeout');
    await round(3, 5);

    const [probe] = await round(4, 1);

    expect(probe).toEqual({ ...failure('timeout'), since: clock.now() });
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
  const isOpenAfter = async (answer: Answer | null): Promise<boolean> => {
    const { source, answers, round, ask } = setUp();
    if (answer !== null) answers.set('last', answer);
    await Promise.all([round(1, 5), answer === null ? null : ask('last')]);
    source.asked.length = 0;
    await round(2, 2);
    return source.asked.length === 1;
  };

  it.each([
    ['a value', VALUE],
    ['no series', { class: 'missing', message: 'no series' }],
    ['a result other than a vector', { class: 'invalid', message: 'a matrix' }],
    ['an invalid query', failure('bad_query')],
    ['a query that cannot be executed', failure('execution')],
    ['an answer that is too large', failure('too_large')],
  ] as const)('with %s is one of a working server', async (_name, answer) => {
    expect(await isOpenAfter(answer)).toBe(false);
    expect(await isOpenAfter(null)).toBe(true);
  });

  it('to a canceled query does not count', async () => {
    expect(await isOpenAfter(failure('canceled'))).toBe(true);
  });

  it.each([
    ['timeout', true],
    ['busy', true],
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

describe('an overloaded source', () => {
  it('is asked again after 0.5, 1 and 2 s, at most, while the round lasts', async () => {
    const { source, clock, ask } = setUp(failure('busy'));
    let answer: Answer | null = null;
    void ask('q', { untilMs: 12_000 }).then((one) => (answer = one));
    const counts: number[] = [];
    for (const ms of [0, 499, 1, 999, 1, 1999, 1]) {
      await clock.advanceAndSettle(ms);
      counts.push(source.asked.length);
    }

    expect(counts).toEqual([1, 1, 2, 2, 3, 3, 4]);
    expect(answer).toEqual(failure('busy'));
  });

  it('is not asked again if the round would end before', async () => {
    const { source, clock, ask } = setUp(failure('busy'));

    const answer = ask('q', { untilMs: 1500 });
    await clock.advanceAndSettle(5000);

    expect(await answer).toEqual(failure('busy'));
    expect(source.asked).toHaveLength(2);
  });

  it('answers when it has recovered within the round', async () => {
    const { source, clock, ask } = setUp(failure('busy'));

    const answer = ask('q', { untilMs: 12_000 });
    await clock.advanceAndSettle(400);
    source.answer = VALUE;
    await clock.advanceAndSettle(200);

    expect(await answer).toEqual(VALUE);
  });
});

describe('the time limit of a query', () => {
  it('counts from sending, and ends with the round', async () => {
    const { source, clock, round, ask, finish } = setUp('silent');
    void round(1, 3);
    await settle();
    const late = ask('late', { untilMs: 12_000 });
    const later = ask('later', { untilMs: 9000 });
    await clock.advanceAndSettle(4000);
    source.answer = VALUE;
    finish(VALUE);
    await Promise.all([late, later]);

    expect(source.options.map(({ timeoutMs }) => timeoutMs)).toEqual([7000, 7000, 7000, 7000, 5000]);
  });

  it('without a slot ends with the round: the query is not sent', async () => {
    const { source, clock, round, ask } = setUp();
    source.answer = 'silent';
    void round(1, 3);
    await settle();
    let answer: Answer | null = null;
    void ask('late', { untilMs: 9000 }).then((one) => (answer = one));

    await clock.advanceAndSettle(8999);
    expect(answer).toBeNull();
    await clock.advanceAndSettle(1);

    expect(answer).toEqual({
      class: 'failed',
      reason: 'busy',
      message: 'the query was not sent, because the round had no free slot (maxConcurrentQueries is 3)',
    });
    expect(source.asked).toHaveLength(3);
  });
});

describe('an internal error', () => {
  it('of a query fails the query, and is reported', async () => {
    const { source, faults, ask } = setUp();
    Object.defineProperty(source, 'answer', {
      get: () => {
        throw new TypeError('broken');
      },
    });

    expect(await ask('q')).toEqual(INTERNAL_ERROR);
    expect(faults).toEqual([new TypeError('broken')]);
  });
});
