import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../src/prometheus/answer.js';
import type { QueryQueue } from '../../src/prometheus/query-queue.js';
import { createSourceAges, KEPT, type SourceAge } from '../../src/prometheus/source-age.js';
import type { Instant } from '../../src/units/time.js';
import { at } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { values } from './fakes.js';

const targets = (count: number): Answer => values([{ labels: {}, value: count }]);
const none: Answer = { class: 'missing', message: 'no series' };
const failure: Answer = { class: 'failed', reason: 'timeout', message: 'late' };

/** A source with these answers in order, then always the last one; null for a start time: it reports none. */
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
    'is asked of data from 60 s before the last round that may have been answered: period %i s, offset %i s',
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
    ['it cannot be asked', failure, 'unknown'],
    ['it answers in part', { ...targets(9), class: 'partial', why: 'x' } as Answer, 'unknown'],
    ['it answers NaN', targets(NaN), 'unknown'],
  ])('where %s is %s', async (_, answer, state) => {
    const { states } = setUp([targets(10), answer]);

    await expect(states(2)).resolves.toEqual(['kept', state]);
  });

  it('is lost while nothing is left, and kept when all targets have returned', async () => {
    const { states } = setUp([targets(10), none, none, targets(3), targets(9)]);

    await expect(states(5)).resolves.toEqual(['kept', 'lost', 'lost', 'lost', 'kept']);
  });

  it('keeps when a loss was detected, and why, after the data has returned', async () => {
    const { states, read } = setUp([targets(10), none, none, targets(10)]);
    await states(4);

    // Detected by the second reading, at 30 s.
    const why = 'the source has lost earlier data (0 of 10 targets are left)';
    await expect(read()).resolves.toEqual({
      startTime: null,
      history: { state: 'kept', loss: { at: at(30), why } },
    });
  });

  it('keeps a partial loss of targets, which the next reading no longer detects', async () => {
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
    'finds a loss between two answers, at a period of %i s the second %i s later, though its scrapers send 59 s again',
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

  it.each([3600, -3600])('knows the age of a loss after the clock was set by %i s', async (seconds) => {
    const { clock, states, read } = setUp([targets(10), none, targets(10)]);
    await states(2);
    clock.jump(seconds);

    await expect(read()).resolves.toMatchObject({ history: { loss: { at: at(30 + seconds) } } });
  });

  it('is kept if there never were targets, and after 15 minutes without them', async () => {
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
