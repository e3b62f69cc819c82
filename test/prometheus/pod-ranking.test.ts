import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import { rankPods } from '../../src/control/cycle/deletion-costs.js';
import { instantFromSeconds } from '../../src/units/time.js';

const evaluatedAt = instantFromSeconds(0);

function answer(...series: readonly (readonly [Readonly<Record<string, string>>, number])[]): Answer {
  return { class: 'value', series: series.map(([labels, value]) => ({ labels, value })), evaluatedAt };
}

describe('rankPods', () => {
  it('returns the values of the listed pods, including negative and infinite ones, without NaN and other namespaces', () => {
    const given = answer(
      [{ pod: 'a' }, -3],
      [{ namespace: 'shop', pod: 'b' }, Infinity],
      [{ pod: 'c' }, NaN],
      [{ namespace: 'back', pod: 'd' }, 1],
      [{ pod: 'other' }, 1],
    );

    expect(rankPods(given, 'shop', ['a', 'b', 'c', 'd'])).toEqual({
      kind: 'ranked',
      values: new Map([
        ['a', -3],
        ['b', Infinity],
      ]),
    });
  });

  it('is empty without any series, which is not a failure', () => {
    expect(rankPods({ class: 'missing', message: 'no series' }, 'shop', ['a'])).toEqual({ kind: 'empty' });
  });

  it.each<[string, Answer, string]>([
    [
      'a partial answer',
      { class: 'partial', series: [], evaluatedAt, why: 'a store is away' },
      'a store is away',
    ],
    [
      'a failed one',
      { class: 'failed', reason: 'timeout', message: 'timeout after 5 s' },
      'timeout after 5 s',
    ],
    ['a series without pod', answer([{ node: 'n' }, 1]), 'no label "pod"'],
    [
      'two series of a pod',
      answer([{ pod: 'a', x: '1' }, 1], [{ pod: 'a', x: '2' }, 1]),
      '2 series for pod "a"',
    ],
  ])('cannot be used for %s', (_, given, words) => {
    expect(rankPods(given, 'shop', ['a'])).toEqual({
      kind: 'unusable',
      message: expect.stringContaining(words),
    });
  });
});
