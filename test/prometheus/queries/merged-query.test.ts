import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { createMergedQuery, SPLITS_PER_NAMESPACE } from '../../../src/prometheus/queries/merged-query.js';
import { INTERNAL_ERROR } from '../../../src/units/failure.js';
import { T0 } from '../../support/builders.js';
import { values } from '../fakes.js';

const MIX = 'warning from the server: mix';

const namesOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `w${String(index).padStart(3, '0')}`);
const series = (names: readonly string[]) =>
  names.map((name) => ({ labels: { pod: `${name}-0` }, value: 1 }));
const value = (names: readonly string[]): Answer => values(series(names));
const partial = (names: readonly string[], why = MIX): Answer => ({
  class: 'partial',
  series: series(names),
  evaluatedAt: T0,
  why,
});
const failed = (
  reason: 'timeout' | 'execution' | 'server_error' | 'connection',
  message: string = reason,
): Answer => ({
  class: 'failed',
  reason,
  message,
});
const INVALID: Answer = { class: 'invalid', message: 'native histograms' };

type Respond = (names: readonly string[]) => Answer;

/** Answers with a value, unless one of these workloads is part of the query. */
const unless =
  (answer: (names: readonly string[]) => Answer, ...causes: readonly string[]): Respond =>
  (names) =>
    names.some((name) => causes.includes(name)) ? answer(names) : value(names);

/** Rounds of one query for these workloads. */
function start(names: readonly string[]) {
  const merged = createMergedQuery({
    noun: 'workloads',
    onTooMany: () => undefined,
    onFault: (error) => faults.push(error),
  });
  const faults: unknown[] = [];
  const members = new Map(names.map((name) => [name, name]));
  let round = 0;
  return async (respond: Respond, { seconds = 0.01, splits = SPLITS_PER_NAMESPACE }: Options = {}) => {
    const queries: (readonly string[])[] = [];
    round += 1;
    const sent = merged.sendLists(members, {
      round,
      pack: (all) => (all.length === 0 ? [] : [all.toSorted()]),
      packKey: 0,
      queryMembers: (all) => {
        queries.push(all);
        return Promise.resolve(all).then((names) => ({ answer: respond(names), seconds }));
      },
      budget: { left: splits, source: { left: 40 } },
    });
    const answers: Record<string, Answer> = {};
    for (const name of names) answers[name] = (await sent.get(name)) ?? INVALID;
    const classes = Object.entries(answers).map(([name, answer]) => [name, answer.class] as const);
    const unclean = classes.filter(([, one]) => one !== 'value').map(([name]) => name);
    return { queries, answers, unclean, faults };
  };
}

interface Options {
  readonly seconds?: number | null;
  readonly splits?: number;
}

const NAMES = namesOf(100);

describe('a query for several members', () => {
  it.each<readonly [string, Respond]>([
    ['a warning', (names) => partial(names)],
    ['native histograms', () => INVALID],
    ['an execution error', () => failed('execution')],
  ])(
    'with %s of one of 100 costs the others nothing, and one query more in later rounds',
    async (_, answer) => {
      const round = start(NAMES);
      const respond = unless(answer, 'w042');

      const first = await round(respond);
      expect([first.unclean, first.queries.length]).toEqual([['w042'], 15]);
      for (let index = 0; index < 50; index += 1) {
        const { unclean, queries } = await round(respond);
        expect([index, unclean, queries.map(({ length }) => length)]).toEqual([index, ['w042'], [99, 1]]);
      }
    },
  );

  it('asks for members with the same kind of answer at once, each with the words of its own query', async () => {
    const round = start(namesOf(8));
    const respond: Respond = (names) => {
      if (names.includes('w001')) return failed('execution', 'many-to-many of w001-0');
      if (names.includes('w005')) return failed('execution', 'many-to-many of w005-0');
      return names.some((name) => ['w002', 'w006'].includes(name))
        ? partial(names, `of ${names[0]}`)
        : value(names);
    };
    await round(respond);

    const { queries, answers, unclean } = await round(respond);

    expect(queries).toEqual([
      ['w000', 'w003', 'w004', 'w007'],
      ['w001', 'w005'],
      ['w002', 'w006'],
    ]);
    expect(unclean).toEqual(['w001', 'w002', 'w005', 'w006']);
    expect(answers['w005']).toEqual(failed('execution', 'many-to-many of w005-0'));
    expect(answers['w006']).toMatchObject({
      class: 'partial',
      why: 'of w006',
      series: series(['w002', 'w006']),
    });
  });

  it.each([6, 8])(
    'asks for each of %i members alone if each has a warning, but any three fail',
    async (count) => {
      const names = namesOf(count);
      const round = start(names);
      const respond: Respond = (all) => (all.length > 2 ? failed('execution') : partial(all));

      const counts: number[] = [];
      for (let index = 0; index < 50; index += 1) {
        const { queries, unclean } = await round(respond);
        expect(unclean).toEqual(names);
        counts.push(queries.length);
      }

      // Every query for more than one member is lost.
      const split = 2 * count - 1;
      expect(counts).toEqual([split, split, split, ...Array.from({ length: 47 }, () => count)]);
    },
  );

  it('has no more than 20 queries more in any round while all of 100 have a warning, and a single one afterwards', async () => {
    const round = start(NAMES);
    const counts: number[] = [];
    for (let index = 0; index < 24; index += 1) {
      const { queries, unclean } = await round((names) => partial(names));
      counts.push(queries.length);
      expect(unclean).toEqual(NAMES);
    }

    expect(Math.max(...counts)).toBeLessThanOrEqual(SPLITS_PER_NAMESPACE + 1);
    expect(counts.at(-1)).toBe(1);
    expect(counts.reduce((sum, count) => sum + count)).toBeLessThan(230);
    // As soon as the whole source has recovered, all have values.
    expect((await round(value)).unclean).toEqual([]);
  });

  it('finds 10 causes among 100 within 6 rounds', async () => {
    const round = start(NAMES);
    const causes = NAMES.filter((_, index) => index % 10 === 7);
    const found: number[] = [];
    for (let index = 0; index < 6; index += 1)
      found.push((await round(unless((names) => partial(names), ...causes))).unclean.length);

    expect(found.at(-1)).toBe(10);
  });

  it('says that the cause is not known yet as long as it is not', async () => {
    const round = start(namesOf(4));

    const { answers } = await round(
      unless((names) => partial(names), 'w001'),
      { splits: 0 },
    );

    expect(answers['w000']).toMatchObject({
      class: 'partial',
      why: `${MIX} (one query for 4 workloads; it is not known yet which of these is the cause)`,
      series: series(namesOf(4)),
    });
  });

  it.each(['timeout', 'server_error'] as const)(
    'that fails with %s because of one of 100 is split in later rounds, with at most 2 queries more in each',
    async (reason) => {
      const round = start(NAMES);
      const left: number[] = [];
      for (let index = 0; index < 8; index += 1) {
        const { unclean, queries } = await round(unless(() => failed(reason), 'w042'));
        left.push(unclean.length);
        expect(queries.length).toBeLessThanOrEqual(3);
      }

      expect(left).toEqual([100, 50, 25, 12, 6, 3, 2, 1]);
    },
  );

  it.each<readonly [string, Answer, number | null]>([
    ['was not sent', failed('timeout'), null],
    ['found no connection', failed('connection'), 0.01],
  ])('that %s says nothing about its members', async (_, answer, seconds) => {
    const round = start(NAMES);

    expect((await round(() => answer, { seconds })).queries).toEqual([NAMES]);
    expect((await round(value)).queries).toEqual([NAMES]);
  });

  it('is sent in halves from then on if it fails again although both halves have values', async () => {
    const round = start(namesOf(4));
    const together: Respond = (names) =>
      names.includes('w001') && names.includes('w002') ? failed('execution') : value(names);

    const rounds = [await round(together), await round(together), await round(together)];

    expect(rounds.map(({ unclean }) => unclean)).toEqual([[], [], []]);
    expect(rounds.map(({ queries }) => queries.map(({ length }) => length))).toEqual([
      [4, 2, 2],
      [4, 2, 2],
      [2, 2],
    ]);
  });

  it('contains a member again 40 rounds after its own query was last not clean', async () => {
    const round = start(namesOf(3));
    for (let index = 0; index < 2; index += 1) await round(unless(() => INVALID, 'w001'));

    for (let index = 0; index < 40; index += 1)
      expect((await round(value)).queries).toEqual([['w000', 'w002'], ['w001']]);
    expect((await round(value)).queries).toEqual([namesOf(3)]);
  });

  it('finds within 41 rounds that one of two members with a warning has none any more', async () => {
    const round = start(namesOf(4));
    await round(unless((names) => partial(names), 'w001', 'w002'));
    const recovered = unless((names) => partial(names), 'w002');

    const unclean: (readonly string[])[] = [];
    for (let index = 0; index < 42; index += 1) unclean.push((await round(recovered)).unclean);

    expect([unclean[0], unclean.at(-1)]).toEqual([['w001', 'w002'], ['w002']]);
  });

  it('with an internal error has no value for its members, and the error is passed on', async () => {
    const round = start(namesOf(2));
    const error = new TypeError('series is undefined');

    const { answers, faults } = await round(() => {
      throw error;
    });

    expect(answers['w001']).toEqual(INTERNAL_ERROR);
    expect(faults).toEqual([error]);
    expect((await round(value)).unclean).toEqual([]);
  });
});
