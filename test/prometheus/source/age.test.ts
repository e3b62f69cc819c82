import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { PrometheusServer } from '../../../src/prometheus/client/client.js';
import type { Store } from '../../../src/prometheus/client/engine.js';
import { KEPT } from '../../../src/prometheus/source/history-watch.js';
import { createSourceAges, type SourceAge } from '../../../src/prometheus/source/age.js';
import type { Instant } from '../../../src/units/time.js';
import { at } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { values } from '../fakes.js';

/** The number of targets at the time of the reading before, as it is known now, and at the time of this one. */
type Counts = readonly [earlier: number, recent: number];

const none: Answer = { class: 'missing', message: 'no series' };
const failure: Answer = { class: 'failed', reason: 'timeout', message: 'late' };

function answerOf(given: Answer | Counts, evaluatedAt: Instant): Answer {
  if ('class' in given) return given;
  const [earlier, recent] = given;
  const both = [
    { labels: { at: 'before' }, value: earlier },
    { labels: {}, value: recent },
  ];
  return values(
    both.filter(({ value }) => value !== 0),
    evaluatedAt,
  );
}

interface Given {
  readonly startTimes?: readonly (Instant | null)[];
  readonly stores?: readonly (readonly Store[] | null)[];
  readonly scrapeIntervalSeconds?: number;
}

/** A server with these answers in order, repeating the last; start times and stores likewise. */
function setUp(
  answers: readonly (Answer | Counts)[],
  { startTimes = [null], stores = [null], scrapeIntervalSeconds = 30 }: Given = {},
) {
  const clock = new ManualClock();
  const asked: string[] = [];
  let starts = 0;
  const server: PrometheusServer = {
    query: (query) => {
      asked.push(query);
      const given = answers[Math.min(asked.length, answers.length) - 1] ?? none;
      return Promise.resolve(answerOf(given, clock.now()));
    },
    startTime: () => {
      starts += 1;
      return Promise.resolve(startTimes[Math.min(starts, startTimes.length) - 1] ?? null);
    },
    stores: () => Promise.resolve(stores[Math.min(starts, stores.length) - 1] ?? null),
  };
  const ages = createSourceAges({ servers: [server], clock, scrapeIntervalSeconds });
  const read = (): Promise<SourceAge> => ages.read(new AbortController().signal);
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

const start: Counts = [0, 10];
const same: Counts = [10, 10];

describe('the age of a server', () => {
  it('is its start time if it reports one, without any query', async () => {
    const { read, asked } = setUp([none], { startTimes: [at(-50)] });

    await expect(read()).resolves.toEqual({ startTime: at(-50), history: KEPT });
    expect(asked).toEqual([]);
  });

  it.each([
    [15, 120],
    [40, 120],
    [60, 150],
    [120, 240],
  ])(
    'is queried with the targets of a past that no marker changes any more, at a scrape interval of %i s: %i s ago',
    async (scrapeIntervalSeconds, offset) => {
      const { states, asked } = setUp([start, same], { scrapeIntervalSeconds });

      await states(2);

      const time = (at(15 - offset) / 1000).toFixed(3);
      expect(asked).toEqual([
        `count(up offset ${offset}s)`,
        `label_replace(count(up @ ${time}), "at", "before", "", "") or count(up offset ${offset}s)`,
      ]);
    },
  );

  it.each<readonly [string, Answer | Counts, string]>([
    ['nothing is left', none, 'lost'],
    ['8 of 10 targets are left', [8, 8], 'lost'],
    ['9 of 10 targets are left', [9, 9], 'lost'],
    ['10 of 10 targets are left, and 3 were there later', [10, 3], 'kept'],
    ['11 of 10 targets are left', [11, 11], 'kept'],
    ['it cannot be queried', failure, 'unknown'],
    [
      'it answers in part',
      { ...values([{ labels: {}, value: 9 }]), class: 'partial', why: 'x' } as Answer,
      'unknown',
    ],
    ['it answers NaN', [NaN, 10], 'unknown'],
  ])('with %s is %s', async (_, answer, state) => {
    const { states } = setUp([start, answer]);

    await expect(states(2)).resolves.toEqual(['kept', state]);
  });

  it.each([
    [91, 'kept'],
    [90, 'lost'],
  ])('with %i of 100 targets is %s', async (left, state) => {
    const { states } = setUp([
      [0, 100],
      [left, left],
    ]);

    await expect(states(2)).resolves.toEqual(['kept', state]);
  });

  it('is lost after several losses that are a tenth together, unless data came back in between', async () => {
    const gradual = setUp([
      [0, 100],
      [95, 95],
      [95, 95],
      [90, 90],
    ]);
    await expect(gradual.states(4)).resolves.toEqual(['kept', 'kept', 'kept', 'lost']);

    const flapping = setUp([
      [0, 100],
      [95, 95],
      [100, 100],
      [95, 95],
      [100, 100],
      [95, 95],
    ]);
    await expect(flapping.states(6)).resolves.toEqual(Array(6).fill('kept'));
  });

  it('is not lost after losses of 5 % each that are more than 15 minutes apart', async () => {
    const slow = (left: number): readonly Counts[] => Array<Counts>(61).fill([left, left]);
    const { states } = setUp([[0, 100], ...slow(95), ...slow(90)]);

    await expect(states(123)).resolves.toEqual(Array(123).fill('kept'));
  });

  it('is lost while targets are missing, and kept when they have returned', async () => {
    const { states } = setUp([start, none, none, [0, 3], [3, 10], same]);

    await expect(states(6)).resolves.toEqual(['kept', 'lost', 'lost', 'lost', 'kept', 'kept']);
  });

  it('remembers when a loss was detected, and why, after the data has returned', async () => {
    const { states, read } = setUp([start, none, none, [10, 10], same]);
    await states(4);

    // The second reading detects it, at 30 s.
    const why = 'the data source has lost earlier data (0 of 10 targets are left)';
    await expect(read()).resolves.toEqual({
      startTime: null,
      history: { state: 'kept', loss: { at: at(30), why } },
    });
  });

  it('remembers a loss of all data that was collected again before the next reading', async () => {
    const { states, read } = setUp([start, [0, 10], same]);

    await expect(states(3)).resolves.toEqual(['kept', 'kept', 'kept']);
    await expect(read()).resolves.toMatchObject({ history: { loss: { at: at(30) } } });
  });

  it('is lost again if the data disappears again after it had returned', async () => {
    const { states, read } = setUp([start, none, [10, 10], none, none]);
    await states(5);

    await expect(read()).resolves.toMatchObject({ history: { state: 'lost', loss: { at: at(60) } } });
  });

  it('is unknown while a server that once reported its start time reports none, and the query fails, too', async () => {
    const { states } = setUp([failure], { startTimes: [at(-9000), null] });

    await expect(states(3)).resolves.toEqual(['kept', 'unknown', 'unknown']);
  });

  it('is unknown if a server that once reported its start time reports none and has no earlier data', async () => {
    const { states } = setUp([none], { startTimes: [at(-9000), null, null, at(-9000)] });

    await expect(states(4)).resolves.toEqual(['kept', 'unknown', 'unknown', 'kept']);
  });

  it('is kept if a server that once reported its start time reports none, but has earlier data', async () => {
    const { states, asked } = setUp([start], { startTimes: [at(-9000), null] });

    await expect(states(2)).resolves.toEqual(['kept', 'kept']);
    expect(asked).toEqual(['count(up offset 120s)']);
  });

  it.each([
    ['its targets', [start, failure], [null]],
    ['its start time', [failure], [at(-9000), null]],
  ])('is unknown for an hour at most, after a server reported %s', async (_, answers, startTimes) => {
    const { states } = setUp(answers, { startTimes });

    const all = await states(250);

    expect(all[0]).toBe('kept');
    expect(all.slice(1, 241)).toEqual(Array(240).fill('unknown'));
    expect(all.slice(241)).toEqual(Array(9).fill('kept'));
  });

  it('is not unknown if the server never answered the query', async () => {
    await expect(setUp([failure]).states(3)).resolves.toEqual(['kept', 'kept', 'kept']);
  });

  it('is compared with the answer before a series of failures, in which a loss would not show', async () => {
    const failures = [failure, failure, failure, failure];
    const { states, asked } = setUp([start, ...failures, same]);

    await expect(states(7)).resolves.toEqual(['kept', ...Array<string>(4).fill('unknown'), 'kept', 'kept']);
    expect(new Set(asked.slice(1, 6)).size).toBe(1);
    await expect(setUp([start, ...failures, [4, 4]]).states(6)).resolves.toMatchObject({ 5: 'lost' });
  });

  it('is lost if no target remains after 20 minutes of failures', async () => {
    const { states } = setUp([start, ...Array<Answer>(80).fill(failure), none]);

    expect((await states(83)).slice(80)).toEqual(['unknown', 'lost', 'lost']);
  });

  it('is queried with an offset if the server does not know the @ modifier', async () => {
    const refusal: Answer = { class: 'failed', reason: 'bad_query', message: '@ modifier is disabled' };
    const { states, asked } = setUp([start, refusal, same, [4, 4]]);

    await expect(states(4)).resolves.toEqual(['kept', 'unknown', 'kept', 'lost']);
    expect(asked.slice(2).map((query) => /count\(up (\w+ \d+s)\)/.exec(query)?.[1])).toEqual([
      'offset 150s',
      'offset 135s',
    ]);
  });

  it.each([3600, -3600])('has the time of a loss after the clock was set by %i s', async (seconds) => {
    const { clock, states, read } = setUp([start, none, [10, 10]]);
    await states(2);
    clock.jump(seconds);

    await expect(read()).resolves.toMatchObject({ history: { loss: { at: at(30 + seconds) } } });
  });

  it('is kept if there were never targets, and after 15 minutes without them', async () => {
    await expect(setUp([none]).states(3)).resolves.toEqual(['kept', 'kept', 'kept']);

    const { states } = setUp([start, none]);
    const all = await states(70);

    expect(all.lastIndexOf('lost')).toBe(60);
    expect(all.slice(61)).toEqual(Array(9).fill('kept'));
  });

  it('is unknown after an internal error, which is reported', async () => {
    const faults: unknown[] = [];
    const ages = createSourceAges({
      servers: [
        {
          query: () => Promise.resolve(none),
          startTime: () => Promise.reject(new TypeError('broken')),
        },
      ],
      clock: new ManualClock(),
      scrapeIntervalSeconds: 30,
      onFault: (error) => faults.push(error),
    });

    await expect(ages.read(new AbortController().signal)).resolves.toMatchObject({
      history: { state: 'unknown' },
    });
    expect(faults).toEqual([new TypeError('broken')]);
  });

  it('is read once for concurrent callers, and again for a caller after the query was sent', async () => {
    const { read, clock, startCount } = setUp([none], { startTimes: [at(0), at(10)] });
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

describe('the stores of a server', () => {
  const store = (name: string, isQueried = true, keys = [name]): Store => ({ name, keys, isQueried });
  const both = [store('a'), store('b')];

  it.each<readonly [string, readonly (readonly Store[] | null)[], readonly string[]]>([
    ['are all there', [both, both, both], ['kept', 'kept', 'kept']],
    ['lack one', [both, [store('a')], both], ['kept', 'lost', 'kept']],
    ['have one with an error', [both, [store('a'), store('b', false)], both], ['kept', 'lost', 'kept']],
    [
      'have one with an error from the first reading',
      [[store('a'), store('b', false)], both],
      ['lost', 'kept'],
    ],
    ['are not listed for a while', [both, null, both], ['kept', 'kept', 'kept']],
    ['are more', [both, [...both, store('c')]], ['kept', 'kept']],
    ['have one at another address', [both, [store('a'), store('c', true, ['b'])]], ['kept', 'kept']],
    [
      'have one replaced by another with the same data, while the old one has an error',
      [both, [...both.slice(0, 1), store('b', false), store('c', true, ['b'])]],
      ['kept', 'kept'],
    ],
  ])('%s', async (_, stores, expected) => {
    await expect(setUp([start, same], { stores }).states(stores.length)).resolves.toEqual(expected);
  });

  it('are lost for 15 minutes at most, also one that stays in the list with its error', async () => {
    for (const rest of [[store('a')], [store('a'), store('b', false)]]) {
      const { states } = setUp([start, same], { stores: [both, rest] });
      const all = await states(80);

      expect(all.lastIndexOf('lost')).toBe(61);
      expect(all.slice(1, 62)).toEqual(Array(61).fill('lost'));
    }
  });

  it('remember which one was lost', async () => {
    const { states, read } = setUp([start, same], { stores: [both, [store('a')], both] });
    await states(3);

    const why = 'the store b of the data source is gone';
    await expect(read()).resolves.toMatchObject({ history: { state: 'kept', loss: { at: at(30), why } } });
  });
});

describe('the age of several servers', () => {
  const aServer = (name: string, startTime: Instant | null, answer: Answer = none): PrometheusServer => ({
    name,
    query: () => Promise.resolve(answer),
    startTime: () => Promise.resolve(startTime),
  });
  const { signal } = new AbortController();
  const agesOf = (...servers: readonly PrometheusServer[]) =>
    createSourceAges({ servers, clock: new ManualClock(), scrapeIntervalSeconds: 30 });

  it('is that of the server that answered', async () => {
    const ages = agesOf(aServer('a:9090', at(-10)), aServer('b:9090', at(-9000)));

    await expect(ages.read(signal, 0)).resolves.toMatchObject({ startTime: at(-10), name: 'a:9090' });
    await expect(ages.read(signal, 1)).resolves.toMatchObject({ startTime: at(-9000), name: 'b:9090' });
  });

  it('is the worst of all if it is not known which one answered', async () => {
    const ages = agesOf(
      aServer('a:9090', at(-10)),
      aServer('b:9090', at(-9000)),
      aServer('c:9090', null, failure),
    );

    await expect(ages.read(signal)).resolves.toMatchObject({
      startTime: at(-10),
      history: { state: 'unknown', why: 'it is unknown whether c:9090 has lost data' },
    });
  });

  it('is unknown for an hour at most if a server never answers for it', async () => {
    const clock = new ManualClock();
    const servers = [aServer('a:9090', at(-9000)), aServer('b:9090', null, failure)];
    const ages = createSourceAges({ servers, clock, scrapeIntervalSeconds: 30 });
    const stateOfB = async (): Promise<string> => (await ages.read(signal, 1)).history.state;

    expect(await stateOfB()).toBe('unknown');
    clock.advance(3_600_000);
    expect(await stateOfB()).toBe('unknown');
    clock.advance(1000);
    expect(await stateOfB()).toBe('kept');
  });
});
