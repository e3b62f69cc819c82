import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import type { QueryQueue } from '../../src/prometheus/query-queue.js';
import { createSourceAges, KEPT, type SourceAge } from '../../src/prometheus/source-age.js';
import type { Instant } from '../../src/units/time.js';
import { at } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { values } from './fakes.js';

const targets = (count: number): Answer => values([{ labels: {}, value: count }]);
const none: Answer = { class: 'missing', message: 'no series' };
const failure: Answer = { class: 'failed', reason: 'timeout', message: 'late' };

/** A source with these answers in order, repeating the last; start times likewise, null: it reports no start time. */
function setUp(answers: readonly Answer[], startTimes: readonly (Instant | null)[] = [null]) {
  const clock = new ManualClock();
  const asked: string[] = [];
  let starts = 0;
  const queue: QueryQueue = {
    ask: (query) => {
      asked.push(query);
      return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1] ?? none);
    },
    startTime: () => {
      starts += 1;
      return Promise.resolve(startTimes[Math.min(starts, startTimes.length) - 1] ?? null);
    },
  };
  const ages = createSourceAges({ queue, clock });
  const read = (periodSeconds = 15): Promise<SourceAge> =>
    ages.read({ periodSeconds, round: 1, signal: new AbortController().signal });
  const states = async (count: number): Promise<readonly string[]> => {
    const all: string[] = [];
    for (let index = 0; index < count; index += 1) {
      clock.advance(15_000);
      all.push((await read()).history.state);
    }
    return all;
  };
  return { clock, asked, read, states, startCount: () => starts };
}

describe('the age of a source', () => {
  it('is its start time if it reports one, without any query', async () => {
    const { read, asked } = setUp([none], [at(-50)]);

    await expect(read()).resolves.toEqual({ startTime: at(-50), history: KEPT });
    expect(asked).toEqual([]);
  });

  it.each([
    [1, 120],
    [40, 120],
    [60, 150],
    [300, 510],
  ])(
    'is queried for data from 60 s before the last round that may have been answered: period %i s, offset %i s',
    async (period, offset) => {
      const { read, asked } = setUp([targets(9)]);

      await read(period);

      expect(asked).toEqual([`count(up offset ${offset}s)`]);
    },
  );

  it.each([
    ['nothing is left', none, 'lost'],
    ['4 of 10 targets are left', targets(4), 'lost'],
    ['5 of 10 targets are left', targets(5), 'kept'],
    ['11 of 10 targets are left', targets(11), 'kept'],
    ['it cannot be queried', failure, 'unknown'],
    ['it answers in part', { ...targets(9), class: 'partial', why: 'x' } as Answer, 'unknown'],
    ['it answers NaN', targets(NaN), 'unknown'],
  ])('with %s is %s', async (_, answer, state) => {
    const { states } = setUp([targets(10), answer]);

    await expect(states(2)).resolves.toEqual(['kept', state]);
  });

  it('is lost while no target remains, and kept when all targets have returned', async () => {
    const { states } = setUp([targets(10), none, none, targets(3), targets(9)]);

    await expect(states(5)).resolves.toEqual(['kept', 'lost', 'lost', 'lost', 'kept']);
  });

  it('remembers when a loss was detected, and why, after the data has returned', async () => {
    const { states, read } = setUp([targets(10), none, none, targets(10)]);
    await states(4);

    // The second reading detects it, at 30 s.
    const why = 'the source has lost earlier data (0 of 10 targets are left)';
    await expect(read()).resolves.toEqual({
      startTime: null,
      history: { state: 'kept', loss: { at: at(30), why } },
    });
  });

  it('remembers a partial loss of targets, which the next reading no longer detects', async () => {
    const { states, read } = setUp([targets(10), targets(3)]);

    await expect(states(3)).resolves.toEqual(['kept', 'lost', 'kept']);
    await expect(read()).resolves.toMatchObject({ history: { loss: { at: at(30) } } });
  });

  it.each([
    [15, 15],
    [15, 60],
    [60, 60],
    [60, 90],
    [300, 450],
  ])(
    'detects a loss between two answers, at a period of %i s the second %i s later, although its scrapers send 59 s again',
    async (period, later) => {
      const clock = new ManualClock();
      let sinceMs = -Infinity;
      const ages = createSourceAges({
        clock,
        queue: {
          ask: (query) => {
            const offset = Number(/offset (\d+)s/.exec(query)?.[1]);
            return Promise.resolve(clock.monotonicMs() - offset * 1000 < sinceMs ? none : targets(10));
          },
          startTime: () => Promise.resolve(null),
        },
      });
      const read = (): Promise<SourceAge> =>
        ages.read({ periodSeconds: period, round: 1, signal: new AbortController().signal });
      await read();
      sinceMs = clock.monotonicMs() - 59_000;
      clock.advance(later * 1000);

      await expect(read()).resolves.toMatchObject({ history: { state: 'lost' } });
    },
  );

  it('is unknown while a source that once reported its start time reports none, and the query for its data fails, too', async () => {
    const { states } = setUp([failure], [at(-9000), null]);

    await expect(states(3)).resolves.toEqual(['kept', 'unknown', 'unknown']);
  });

  it('is unknown if a source that once reported its start time reports none and has no earlier data', async () => {
    const { states } = setUp([none], [at(-9000), null, null, at(-9000)]);

    await expect(states(4)).resolves.toEqual(['kept', 'unknown', 'unknown', 'kept']);
  });

  it('is kept if a source that once reported its start time reports none, but has earlier data', async () => {
    const { states, asked } = setUp([targets(10)], [at(-9000), null]);

    await expect(states(2)).resolves.toEqual(['kept', 'kept']);
    expect(asked).toEqual(['count(up offset 120s)']);
  });

  it.each([
    ['its targets', [targets(10), failure], [null]],
    ['its start time', [failure], [at(-9000), null]],
  ])('is unknown for an hour at most, after a source reported %s', async (_, answers, startTimes) => {
    const { states } = setUp(answers, startTimes);

    const all = await states(250);

    expect(all[0]).toBe('kept');
    expect(all.slice(1, 241)).toEqual(Array(240).fill('unknown'));
    expect(all.slice(241)).toEqual(Array(9).fill('kept'));
  });

  it('is not unknown if the source never answered the query', async () => {
    await expect(setUp([failure]).states(3)).resolves.toEqual(['kept', 'kept', 'kept']);
  });

  it('is queried for data from before a series of failures, in which a loss would not show', async () => {
    const failures = [failure, failure, failure, failure];
    const { states, asked } = setUp([targets(10), ...failures, none, targets(10)]);

    // 5 rounds and 60 s before the answer, instead of 60 s and 60 s.
    await expect(states(7)).resolves.toEqual(['kept', ...Array<string>(4).fill('unknown'), 'lost', 'kept']);
    expect(asked.slice(4)).toEqual([
      'count(up offset 120s)',
      'count(up offset 135s)',
      'count(up offset 120s)',
    ]);
  });

  it('is lost if no target remains after 20 minutes of failures', async () => {
    const { states } = setUp([targets(10), ...Array<Answer>(80).fill(failure), none]);

    expect((await states(83)).slice(80)).toEqual(['unknown', 'lost', 'lost']);
  });

  it('detects another loss after the data had returned', async () => {
    const { states, read } = setUp([targets(10), none, none, targets(10), none, none]);
    await states(6);

    await expect(read()).resolves.toMatchObject({ history: { state: 'lost', loss: { at: at(75) } } });
  });

  it('does not detect the gap of an earlier loss again, which is in the range of a longer period', async () => {
    const { clock, states, read } = setUp([targets(10), none, targets(10), none, none]);
    await states(3);
    clock.advance(15_000);

    await expect(read(300)).resolves.toMatchObject({ history: { state: 'lost', loss: { at: at(30) } } });
    await expect(read(15)).resolves.toMatchObject({ history: { state: 'lost', loss: { at: at(60) } } });
  });

  it.each([3600, -3600])('has the time of a loss after the clock was set by %i s', async (seconds) => {
    const { clock, states, read } = setUp([targets(10), none, targets(10)]);
    await states(2);
    clock.jump(seconds);

    await expect(read()).resolves.toMatchObject({ history: { loss: { at: at(30 + seconds) } } });
  });

  it('is kept if there were never targets, and after 15 minutes without them', async () => {
    await expect(setUp([none]).states(3)).resolves.toEqual(['kept', 'kept', 'kept']);

    const { states } = setUp([targets(10), none]);
    const all = await states(70);

    expect(all.lastIndexOf('lost')).toBe(60);
    expect(all.slice(61)).toEqual(Array(9).fill('kept'));
  });

  it('is read once for concurrent callers, and again for a caller after the query was sent', async () => {
    const { read, clock, startCount } = setUp([none], [at(0), at(10)]);
    const together = [read(), read(), read()];
    await Promise.resolve();
    await Promise.resolve();
    const later = [read(), read()];

    const first = await Promise.all(together);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    clock.advance(100);
    const second = await Promise.all(later);

    expect(first.map(({ startTime }) => startTime)).toEqual([at(0), at(0), at(0)]);
    expect(second.map(({ startTime }) => startTime)).toEqual([at(10), at(10)]);
    expect(startCount()).toBe(2);
  });
});
