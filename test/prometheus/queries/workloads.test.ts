import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { createWorkloadQueries } from '../../../src/prometheus/queries/workloads.js';
import { SPLITS_PER_NAMESPACE } from '../../../src/prometheus/queries/merged-query.js';
import { patternText, podsPatternOf } from '../../../src/promql/pods-pattern.js';
import { values } from '../fakes.js';

const QUERY = 'x{pod=~"$pods"}';
const LIMIT = 7.5;
const END = '-[0-9]+';

const fail = (error: unknown): void => {
  throw error;
};

const namesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `w${String(index).padStart(3, '0')}`);
const patternsOf = (names: readonly string[]) =>
  new Map(
    names.map((name) => {
      const pattern = podsPatternOf('StatefulSet', name);
      return [patternText(pattern), pattern];
    }),
  );

/** Rounds of the same workloads; `respond` gets the names in a query. */
function start(names: readonly string[], query = QUERY) {
  const merged = createWorkloadQueries(query, fail);
  const patterns = patternsOf(names);
  let round = 0;
  return async (
    respond: (names: readonly string[]) => Answer = answerOf,
    {
      seconds = 0.01,
      asked = patterns,
      splits = SPLITS_PER_NAMESPACE,
    }: { readonly seconds?: number | null; readonly asked?: typeof patterns; readonly splits?: number } = {},
  ) => {
    const queries: (readonly string[])[] = [];
    const queryText = (text: string) => {
      const list = /"(?:\(\?:)?([\w|]*)\)?-\[0-9\]\+"/.exec(text)?.[1]?.split('|') ?? [];
      queries.push(list);
      return Promise.resolve({ answer: respond(list), seconds });
    };
    round += 1;
    const sent = merged.sendForWorkloads(asked, {
      round,
      budget: { left: splits, source: { left: splits } },
      query: queryText,
      limit: LIMIT,
    });
    const answers: Record<string, Answer | null> = {};
    for (const name of names) answers[name] = (await sent.get(`${name}${END}`)) ?? null;
    return { queries, sizes: queries.map(({ length }) => length), answers };
  };
}

const answerOf = (names: readonly string[]): Answer =>
  values(names.map((name) => ({ labels: { pod: `${name}-0` }, value: 1 })));
const failed = (reason: 'execution' | 'too_large' | 'bad_query' | 'timeout'): Answer => ({
  class: 'failed',
  reason,
  message: reason,
});
const failsWith =
  (bad: string, answer: Answer) =>
  (names: readonly string[]): Answer =>
    names.includes(bad) ? answer : answerOf(names);
const failsAbove =
  (most: number, answer: Answer) =>
  (names: readonly string[]): Answer =>
    names.length > most ? answer : answerOf(names);

describe('a query for the pods of several workloads', () => {
  it('contains up to 100 of them, in order', async () => {
    const names = namesOf(201);
    const round = start(names.toReversed());

    const { queries } = await round();

    expect(queries).toEqual([names.slice(0, 100), names.slice(100, 200), names.slice(200)]);
  });

  it('has at most 12,000 characters, unless one workload needs more', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `w${index}${'x'.repeat(240)}`);
    const { queries } = await start(names)();

    expect(queries).toHaveLength(2);
    for (const list of queries) expect(list.join('|').length).toBeLessThan(12_000);

    const long = `x{pod=~"$pods", a="${'y'.repeat(13_000)}"}`;
    expect((await start(['a', 'b'], long)()).sizes).toEqual([1, 1]);
  });

  it('is the query of a workload if there is only one', () => {
    const merged = createWorkloadQueries(QUERY, fail);
    const asked: string[] = [];
    const queryText = (query: string) => {
      asked.push(query);
      return Promise.resolve({ answer: answerOf([]), seconds: 0 });
    };

    merged.sendForWorkloads(patternsOf(['a.b']), {
      round: 1,
      budget: { left: 0, source: { left: 0 } },
      query: queryText,
      limit: LIMIT,
    });

    expect(asked).toEqual(['x{pod=~"a\\\\.b-[0-9]+"}']);
  });

  it('answers for its workloads only', () => {
    const queryText = () => Promise.resolve({ answer: answerOf([]), seconds: 0 });
    const sent = createWorkloadQueries(QUERY, fail).sendForWorkloads(patternsOf(['a']), {
      round: 1,
      budget: { left: 0, source: { left: 0 } },
      query: queryText,
      limit: LIMIT,
    });

    expect([...sent.keys()]).toEqual([`a${END}`]);
  });

  it('is that of the workloads of each round', async () => {
    const round = start(['a', 'b', 'c']);

    expect((await round()).queries).toEqual([['a', 'b', 'c']]);
    expect((await round(answerOf, { asked: patternsOf(['a', 'c']) })).queries).toEqual([['a', 'c']]);
    expect((await round()).queries).toEqual([['a', 'b', 'c']]);
  });
});

describe('a query that is rejected because of its data', () => {
  it.each([failed('execution'), failed('too_large'), { class: 'invalid', message: 'histograms' }] as const)(
    'fails only for the workload that causes it, which is asked alone from then on: %j',
    async (answer) => {
      const names = namesOf(8);
      const round = start(names);
      const good = names.filter((name) => name !== 'w002');

      const { sizes, answers } = await round(failsWith('w002', answer));
      expect(sizes).toEqual([8, 4, 4, 2, 2, 1, 1]);
      expect(answers['w002']).toEqual(answer);
      for (const name of good)
        expect(answers[name]).toMatchObject({
          class: 'value',
          series: expect.arrayContaining([{ labels: { pod: `${name}-0` }, value: 1 }]),
        });

      const next = await round(failsWith('w002', answer));
      expect(next.queries).toEqual([good, ['w002']]);
      expect(next.answers['w002']).toEqual(answer);
    },
  );

  it('contains a workload again 40 rounds after its own query was last rejected', async () => {
    const round = start(['a', 'b']);
    await round(failsWith('b', failed('execution')));
    await round(failsWith('b', failed('execution')));

    for (let index = 0; index < 40; index += 1)
      expect([index, (await round()).queries]).toEqual([index, [['a'], ['b']]]);
    expect((await round()).queries).toEqual([['a', 'b']]);
  });

  it('remembers a workload that is gone for a round', async () => {
    const round = start(['a', 'b', 'c']);
    await round(failsWith('b', failed('execution')));

    const without = await round(answerOf, { asked: patternsOf(['a', 'c']) });

    expect(without.queries).toEqual([['a', 'c']]);
    expect((await round()).queries).toEqual([['a', 'c'], ['b']]);
  });

  it('has fewer workloads for 20 rounds if none of them is rejected alone', async () => {
    const round = start(namesOf(8));

    const first = await round(failsAbove(2, failed('too_large')));
    expect(first.sizes).toEqual([8, 4, 4, 2, 2, 2, 2]);
    expect(Object.values(first.answers)).not.toContainEqual(failed('too_large'));

    expect((await round(failsAbove(2, failed('too_large')))).sizes).toEqual([2, 2, 2, 2]);
    for (let index = 0; index < 17; index += 1) await round();
    expect((await round()).sizes).toEqual([2, 2, 2, 2]);
    expect((await round()).sizes).toEqual([4, 4]);
  });
});

describe('a query that is not valid', () => {
  it('is tried once more, for one workload', async () => {
    const round = start(['a', 'b', 'c', 'd']);

    const { queries, answers } = await round(() => failed('bad_query'));

    expect(queries).toEqual([['a', 'b', 'c', 'd'], ['a']]);
    expect(Object.values(answers)).toEqual([1, 2, 3, 4].map(() => failed('bad_query')));
    expect((await round(() => failed('bad_query'))).queries).toEqual(queries);
  });

  it('has fewer workloads if it is valid for one', async () => {
    const round = start(['a', 'b', 'c', 'd']);

    const { sizes, answers } = await round(failsAbove(2, failed('bad_query')));

    expect(sizes).toEqual([4, 1, 2, 2]);
    expect(Object.values(answers)).not.toContainEqual(failed('bad_query'));
    expect((await round(failsAbove(2, failed('bad_query')))).sizes).toEqual([2, 2]);
  });
});

describe('a query that times out', () => {
  it('is divided in the next round, and has as many workloads as half of the time limit allows from then on', async () => {
    const round = start(namesOf(8));
    const timeout = await round(() => failed('timeout'), { seconds: LIMIT });

    expect(timeout.sizes).toEqual([8]);
    expect(timeout.answers['w000']).toMatchObject({ class: 'failed', reason: 'timeout' });
    expect((await round(answerOf, { seconds: 1.9 })).sizes).toEqual([4, 4]);
    expect((await round()).sizes).toEqual([7, 1]);
    expect((await round()).sizes).toEqual([8]);
  });

  it('that was not sent changes nothing', async () => {
    const round = start(namesOf(8));

    await round(() => failed('timeout'), { seconds: null });

    expect((await round()).sizes).toEqual([8]);
  });
});
