import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { createNamespaceQueries } from '../../../src/prometheus/queries/namespaces.js';
import type { TimedAnswer } from '../../../src/prometheus/source/queue.js';
import { aSource } from '../../support/builders.js';
import { instantFromSeconds } from '../../../src/units/time.js';
import { values } from '../fakes.js';

/* Queries that change from round to round cost more than a few series too many: all labels of their answers are new. */

const SCALERS = new Map([
  ['a', 1],
  ['b', 1],
  ['c', 1],
]);

const TOO_LARGE: Answer = { class: 'failed', reason: 'too_large', message: 'too large' };

/** Rounds of namespaces with these numbers of series; returns the namespaces of each query. */
function start(maxSeries: number, scalers = SCALERS) {
  const source = aSource({ maxSeries, resourceQueries: { cpu: '$namespaces' } });
  const queries = createNamespaceQueries('cpu', (error) => {
    throw error;
  });
  let round = 0;
  return async (
    series: Readonly<Record<string, number>>,
    due = scalers,
    most = Infinity,
  ): Promise<readonly string[]> => {
    const asked: string[] = [];
    const query = (text: string): Promise<TimedAnswer> => {
      asked.push(text.slice(1, -1));
      const all = text
        .slice(1, -1)
        .split('|')
        .flatMap((namespace) =>
          Array.from({ length: series[namespace] ?? 0 }, (_, pod) => ({
            labels: { namespace, pod: `web-${pod}`, container: 'app' },
            value: 1,
          })),
        );
      const isTooLarge = all.length > most;
      return Promise.resolve({ answer: isTooLarge ? TOO_LARGE : values(all), seconds: 0.01 });
    };
    round += 1;
    const now = instantFromSeconds(15 * round);
    const budget = { left: 20, source: { left: 40 } };
    const answers = queries.sendForNamespaces(due, { round, budget, source, query, now });
    await Promise.all(answers.values());
    return asked;
  };
}

describe('the size of a namespace', () => {
  /** Rounds every 15 s in which namespace b has left; then it is back. Returns the last queries. */
  const afterRoundsWithout = async (rounds: number): Promise<readonly string[]> => {
    const round = start(100, new Map([['a', 1]]));
    const both = new Map([
      ['a', 1],
      ['b', 1],
    ]);
    await round({ a: 50, b: 60 }, both);
    await expect(round({ a: 50, b: 60 }, both)).resolves.toEqual(['a', 'b']);
    for (let left = rounds; left > 0; left -= 1) await round({ a: 50 });
    return round({ a: 50, b: 60 }, both);
  };

  it('is remembered for ten minutes in which no scaler of it is due', async () => {
    await expect(afterRoundsWithout(38)).resolves.toEqual(['a', 'b']);
  });

  it('is forgotten twenty minutes after its last scaler has gone', async () => {
    await expect(afterRoundsWithout(82)).resolves.toEqual(['a|b']);
  });
});

describe('the queries of a resource', () => {
  it('stay the same until one exceeds 90 % of maxSeries', async () => {
    const round = start(100);

    await expect(round({ a: 30, b: 30, c: 30 })).resolves.toEqual(['a|b|c']);
    await expect(round({ a: 30, b: 30, c: 30 })).resolves.toEqual(['a|b|c']);
    await expect(round({ a: 30, b: 30, c: 31 })).resolves.toEqual(['a|b|c']);
    await expect(round({ a: 30, b: 30, c: 30 })).resolves.toEqual(['a|b', 'c']);
    await expect(round({ a: 50, b: 40, c: 30 })).resolves.toEqual(['a|b', 'c']);
    await expect(round({ a: 50, b: 41, c: 30 })).resolves.toEqual(['a|b', 'c']);
    await expect(round({ a: 50, b: 41, c: 30 })).resolves.toEqual(['a', 'b|c']);
  });

  it('become fewer as soon as fewer have room below 75 %', async () => {
    const round = start(40);

    await expect(round({ a: 11, b: 10, c: 10 })).resolves.toEqual(['a', 'b', 'c']);
    await expect(round({ a: 10, b: 10, c: 10 })).resolves.toEqual(['a|b', 'c']);
    await expect(round({ a: 10, b: 10, c: 10 })).resolves.toEqual(['a|b|c']);
  });

  it('have fewer series after an answer that is too large, and twice as many again after 20 rounds', async () => {
    const round = start(4000);
    const series = { a: 900, b: 900, c: 900 };
    await round(series);
    await expect(round(series, SCALERS, 2000)).resolves.toEqual(['a|b|c', 'a|b', 'c']);

    const all: (readonly string[])[] = [];
    for (let index = 0; index < 21; index += 1) all.push(await round(series));

    expect(all.slice(0, 19)).toEqual(Array.from({ length: 19 }, () => ['a', 'b', 'c']));
    expect(all.slice(19)).toEqual([['a|b|c'], ['a|b|c']]);
  });

  it('are those of the namespaces of each round', async () => {
    const round = start(100);
    const series = { a: 1, b: 1, c: 1, d: 1 };

    await expect(round(series)).resolves.toEqual(['a|b|c']);
    await expect(round(series, new Map([['a', 1]]))).resolves.toEqual(['a']);
    await expect(
      round(
        series,
        new Map([
          ['a', 1],
          ['d', 1],
        ]),
      ),
    ).resolves.toEqual(['a|d']);
    await expect(round(series, new Map([['d', 1]]))).resolves.toEqual(['d']);
  });
});
