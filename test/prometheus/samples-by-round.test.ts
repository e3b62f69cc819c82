import { describeFailure } from '../../src/units/failure.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import { columnAnswer, readVector } from '../../src/prometheus/answers/vector.js';
import type { SentLayout, Series } from '../../src/prometheus/answers/columns.js';
import { toSample } from '../../src/prometheus/samples.js';
import type { MetricSpec, PodsMetric } from '../../src/scaler/spec.js';
import { aPod, aSource, cpuMetric, scalerOf, T0, WORKLOAD } from '../support/builders.js';
import { vectorBody } from './fakes.js';

/* The rows of a scaler are kept from round to round, and must never be those of other pods or of another answer. */

type Usage = Readonly<Record<string, number>>;

/** Answers to one query, each read with the labels of the last one. */
function queried(): (usage: Usage) => Answer {
  let known: SentLayout | null = null;
  return (usage) => {
    const series = Object.entries(usage).map(([pod, value]) => ({
      labels: { namespace: 'shop', pod, container: 'app' },
      value,
    }));
    const reading = readVector(Buffer.from(vectorBody(series)), known, { series: 100, items: 10_000 });
    if (reading === null) throw new Error('not read');
    known = reading.layout;
    return columnAnswer(reading, null);
  };
}

function usageOf(answer: Answer, pods: ReturnType<typeof aPod>[]): Usage | string {
  const context = { namespace: 'shop', workload: WORKLOAD, pods, now: T0, source: aSource() };
  const sample = toSample(cpuMetric, answer, context);
  if (sample.form !== 'containers')
    return sample.form === 'error' ? describeFailure(sample.failure) : sample.form;
  return Object.fromEntries(sample.pods.map((pod, index) => [pod, sample.values[index] ?? NaN]));
}

const [a, b, c] = [aPod('a'), aPod('b'), aPod('c')];

describe('the rows of a scaler, round by round', () => {
  it('have the values of each answer', () => {
    const answer = queried();

    expect(usageOf(answer({ a: 1, b: 2 }), [a, b])).toEqual({ a: 1, b: 2 });
    expect(usageOf(answer({ a: 3, b: 4 }), [a, b])).toEqual({ a: 3, b: 4 });
  });

  it('follow series that come, go and change places', () => {
    const answer = queried();

    expect(usageOf(answer({ a: 1, b: 2 }), [a, b])).toEqual({ a: 1, b: 2 });
    expect(usageOf(answer({ b: 3, a: 4 }), [a, b])).toEqual({ a: 4, b: 3 });
    expect(usageOf(answer({ b: 5 }), [a, b])).toEqual({ b: 5 });
    expect(usageOf(answer({ x: 9, b: 6, a: 7 }), [a, b])).toEqual({ a: 7, b: 6 });
  });

  it('follow pods that come and go while the series stay the same', () => {
    const answer = queried();
    const series = { a: 1, b: 2, c: 3 };

    expect(usageOf(answer(series), [a])).toEqual({ a: 1 });
    expect(usageOf(answer(series), [a, c])).toEqual({ a: 1, c: 3 });
    expect(usageOf(answer(series), [c, b])).toEqual({ c: 3, b: 2 });
    expect(usageOf(answer(series), [])).toBe('no series belongs to a pod of the target');
    expect(usageOf(answer(series), [{ ...b }])).toEqual({ b: 2 });
  });

  it('are omitted while they are NaN', () => {
    const answer = queried();

    expect(usageOf(answer({ a: 1, b: NaN }), [a, b])).toEqual({ a: 1 });
    expect(usageOf(answer({ a: 1, b: 2 }), [a, b])).toEqual({ a: 1, b: 2 });
  });

  it('are invalid while two of them are for one pod', () => {
    const answer = queried();
    answer({ a: 1 });
    const twice = vectorBody([1, 2].map((value) => ({ labels: { pod: 'a', container: 'app' }, value })));
    const reading = readVector(Buffer.from(twice), null, { series: 100, items: 10_000 });

    expect(reading === null ? null : usageOf(columnAnswer(reading, null), [a])).toBe(
      'two series for pod "a", container "app"',
    );
    expect(usageOf(answer({ a: 1 }), [a])).toEqual({ a: 1 });
  });
});

describe('the rows of documents without metrics', () => {
  it('are found once for each of 3 documents, and are reused in 4 more rounds', () => {
    const answer: Answer = {
      class: 'value',
      series: [{ labels: { pod: 'a', container: 'app' }, value: 1 }],
      evaluatedAt: T0,
    };
    const namespaces = ['shop', 'pay', 'web'];
    const metrics = namespaces.flatMap((namespace) =>
      scalerOf({ scaleTargetRef: { name: 'web' }, maxReplicas: 10 }, { namespace }).spec.metrics.map(
        (metric) => ({ namespace, metric }),
      ),
    );
    const found = new Set<unknown>();
    for (let round = 0; round < 5; round += 1)
      for (const { metric, namespace } of metrics) {
        const context = { namespace, workload: WORKLOAD, pods: [a], now: T0, source: aSource() };
        const sample = toSample(metric, answer, context);
        found.add(sample.form === 'containers' ? sample.pods : sample.form);
      }

    expect(found.size).toBe(3);
  });
});

const PODS_METRIC: PodsMetric = {
  type: 'Pods',
  name: 'rps',
  identity: 'rps',
  source: 'default',
  target: { type: 'AverageValue', milli: 1000n },
  query: 'rps',
  selector: [],
};
const METRICS: readonly MetricSpec[] = [
  cpuMetric,
  { ...cpuMetric, type: 'ContainerResource', container: 'app' },
  PODS_METRIC,
  { ...PODS_METRIC, selector: [{ key: 'container', operator: 'In', values: ['app'] }] },
];

const series = fc.record({
  labels: fc.record(
    {
      namespace: fc.constantFrom('shop', 'shop', 'pay'),
      pod: fc.constantFrom('a', 'b', 'c', 'd'),
      container: fc.constantFrom('app', 'proxy'),
    },
    { requiredKeys: ['pod'] },
  ),
  value: fc.constantFrom(1, 2, 3, NaN),
});
const round = fc.record({
  at: fc.nat(50),
  removed: fc.nat(3),
  added: fc.array(series, { maxLength: 3 }),
  pods: fc.subarray(['a', 'b', 'c', 'd']),
});

describe('a sample', () => {
  it('is the same whether anything is known of earlier rounds or not', () => {
    fc.assert(
      fc.property(fc.constantFrom(...METRICS), fc.array(round, { maxLength: 8 }), (metric, rounds) => {
        const kept = { ...metric };
        let all: readonly Series[] = Array.from({ length: 30 }, (_, pod) => ({
          labels: { namespace: 'large', pod: `p${pod}`, container: 'app' },
          value: 1,
        }));
        let known: SentLayout | null = null;
        for (const { at, removed, added, pods } of rounds) {
          all = all.toSpliced(at, removed, ...added);
          const body = Buffer.from(vectorBody(all));
          const reading = readVector(body, known, { series: 100, items: 10_000 });
          const plain = readVector(body, null, { series: 100, items: 10_000 });
          if (reading === null || plain === null) return;
          known = reading.layout;
          const context = {
            namespace: 'shop',
            workload: WORKLOAD,
            pods: pods.map((pod) => aPod(pod)),
            now: T0,
            source: aSource(),
          };
          const sample = toSample(kept, columnAnswer(reading, null), context);
          const expected = toSample({ ...metric }, columnAnswer(plain, null), context);

          expect(sample).toEqual(expected);
        }
      }),
      { numRuns: 300 },
    );
  });
});
