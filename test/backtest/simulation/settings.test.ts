import { describe, expect, it } from '@jest/globals';
import {
  parseMeasure,
  describePodStart,
  describeQueue,
  parsePodStart,
  parseQueue,
  podStartOf,
} from '../../../src/backtest/simulation/settings.js';
import { createRandom } from '../../faults/simulation/random.js';

describe('the start of a pod', () => {
  it.each([
    ['0', podStartOf(0)],
    ['120s', podStartOf(120)],
    ['1d', podStartOf(86_400)],
    ['median=60s', podStartOf(60)],
    ['p95=3m, median=60s', { medianSeconds: 60, p95Seconds: 180, node: null }],
    ['median=60s,node=90s,every=4', { medianSeconds: 60, p95Seconds: 60, node: { seconds: 90, pods: 4 } }],
  ])('is read from %j', (text, expected) => {
    expect(parsePodStart(text)).toEqual(expected);
  });

  it.each([
    ['soon', 'is "soon", must be a duration such as 120s, or median=60s,p95=180s'],
    ['-5s', 'is "-5s", must be a duration'],
    ['NaN', 'is "NaN", must be a duration'],
    ['521w', 'is "521w", must be at most 1d'],
    ['p95=60s', 'has no median'],
    ['median=60s,p95=50s', 'has a p95 of 50 s, must be at least the median of 60 s'],
    ['median=0,p95=50s', 'has a median of 0 s, so p95 must be 0 s, too'],
    ['median=60s,p95=2d', 'has p95="2d", must be at most 1d'],
    ['median=60s,median=60s', 'is "median=60s,median=60s", must be a duration'],
    [
      'median=60s,every=4',
      'must have node=DURATION (start time of a node) and every=COUNT (pods that fit on a node), or neither',
    ],
    ['median=60s,node=90s,every=0', 'has every="0", must be from 1 to 10000 pods'],
    ['mean=60s', 'is "mean=60s", must be a duration'],
  ])('is no %j', (text, why) => {
    expect(parsePodStart(text)).toEqual(expect.stringContaining(why));
  });

  it('is described in one sentence', () => {
    expect(describePodStart(podStartOf(30))).toBe('30 s');
    expect(describePodStart({ medianSeconds: 60, p95Seconds: 180, node: { seconds: 90, pods: 4 } })).toBe(
      '60 s (median) or 180 s (p95) (plus 90 s if the pod needs a new node, which has room for 4 pods)',
    );
  });
});

describe('the limits of a queue', () => {
  it.each([
    ['unbounded', { mostDepth: Infinity, timeoutSeconds: Infinity }],
    ['max=1000', { mostDepth: 1000, timeoutSeconds: Infinity }],
    ['timeout=30s', { mostDepth: Infinity, timeoutSeconds: 30 }],
    ['timeout=1m,max=0.5', { mostDepth: 0.5, timeoutSeconds: 60 }],
  ])('are read from %j', (text, expected) => {
    expect(parseQueue(text)).toEqual(expected);
  });

  it.each([
    ['', 'is "", must be unbounded, max=1000, timeout=30s or max=1000,timeout=30s'],
    ['bounded', 'is "bounded", must be unbounded'],
    ['max=-1', 'has max="-1", must be a number above 0'],
    ['max=NaN', 'has max="NaN", must be a number above 0'],
    ['max=0', 'has max="0", must be a number above 0'],
    ['timeout=0', 'has timeout="0", must be from 1s to 1d'],
    ['timeout=521w', 'has timeout="521w", must be from 1s to 1d'],
    ['timeout=5', 'has timeout="5", must be a duration'],
  ])('are none in %j', (text, why) => {
    expect(parseQueue(text)).toEqual(expect.stringContaining(why));
  });

  it('are described in one sentence', () => {
    expect(describeQueue({ mostDepth: Infinity, timeoutSeconds: Infinity })).toBe('in a queue without limit');
    expect(describeQueue({ mostDepth: 10, timeoutSeconds: 30 })).toBe(
      'in a queue of up to 10, and is lost after 30 s',
    );
  });
});

describe('what a metric measures', () => {
  const values = { load: 64, served: 8, lost: 0, depth: 480, wait: 60, ready: 1 } as const;
  const valueOf = (text: string): number | null | string => {
    const measure = parseMeasure(text);
    return typeof measure === 'string' ? measure : measure((name) => values[name]);
  };

  it.each([
    ['depth', 480],
    [' load + depth / 60 ', 72],
    ['(load - served) * 2 ^ 3 % 100', 48],
    ['-load + 100', 36],
    ['clamp_max(depth, 100) + clamp_min(lost, 1)', 101],
    ['depth / lost', null],
  ])('is computed: %j', (text, expected) => {
    expect(valueOf(text)).toBe(expected);
  });

  it('is unknown if a part of it is unknown', () => {
    const measure = parseMeasure('load + depth');

    expect(
      typeof measure === 'string' ? measure : measure((name) => (name === 'depth' ? null : 1)),
    ).toBeNull();
  });

  it.each([
    ['', 'has ""'],
    ['queue', 'has "queue", must be arithmetic of load, served, lost, depth, wait, ready and numbers'],
    ['depth{a="b"}', 'has "depth{a=\\"b\\"}"'],
    ['rate(depth[1m])', 'must be arithmetic'],
    ['sum(depth)', 'must be arithmetic'],
    ['depth > 5', 'must be arithmetic'],
    ['depth offset 1m', 'must be arithmetic'],
    ['depth +', 'must be arithmetic'],
    [`depth + ${'1 + '.repeat(200)}1`, 'must have at most 500'],
  ])('is no %j', (text, why) => {
    expect(parseMeasure(text)).toEqual(expect.stringContaining(why));
  });
});

describe('random texts', () => {
  it('are an option or a message of at most 400 characters, never a crash or a number out of range', () => {
    const { next: random } = createRandom(7);
    const words = [
      'median',
      'p95',
      'node',
      'every',
      'max',
      'timeout',
      '=',
      ',',
      '60s',
      '1d',
      '9e9',
      '-1',
      '0',
      '4',
    ];
    const more = [
      'NaN',
      'Infinity',
      'unbounded',
      ' ',
      '\u001b',
      'load',
      'depth',
      '/',
      '(',
      ')',
      '2w',
      '999999999',
    ];
    const all = [...words, ...more];
    for (let number = 0; number < 3000; number += 1) {
      const length = Math.floor(random() * 12);
      const text = Array.from({ length }, () => all[Math.floor(random() * all.length)]).join('');
      const start = parsePodStart(text);
      const queue = parseQueue(text);
      const measure = parseMeasure(text);

      if (typeof start === 'string') expect(start.length).toBeLessThan(400);
      else expect([start.medianSeconds >= 0, start.p95Seconds <= 86_400]).toEqual([true, true]);
      if (typeof queue === 'string') expect(queue.length).toBeLessThan(400);
      else expect([queue.mostDepth > 0, queue.timeoutSeconds >= 1]).toEqual([true, true]);
      if (typeof measure === 'string') expect(measure.length).toBeLessThan(400);
      else expect(Number.isNaN(measure(() => 1) ?? 0)).toBe(false);
    }
  });
});
