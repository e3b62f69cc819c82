import { errorSample } from '../../src/decision/snapshot/judge-sample.js';
import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import type { Series } from '../../src/prometheus/answers/columns.js';
import { listUsage } from '../../src/decision/snapshot/snapshot.js';
import { toSample, toSamples } from '../../src/prometheus/samples.js';
import type { LabelSelector, MetricSpec, PodsMetric } from '../../src/scaler/spec.js';
import { INTERNAL_ERROR } from '../../src/units/failure.js';
import { aPod, aScaler, aSource, at, cpuMetric, externalMetric, T0, WORKLOAD } from '../support/builders.js';
import { values } from './fakes.js';

const memoryMetric: MetricSpec = { ...cpuMetric, name: 'memory', identity: 'memory' };
const appCpu: MetricSpec = { ...cpuMetric, type: 'ContainerResource', container: 'app', identity: 'app/cpu' };

const podsMetric: PodsMetric = {
  type: 'Pods',
  name: 'rps',
  identity: 'rps',
  source: 'default',
  target: { type: 'AverageValue', milli: 1000n },
  query: 'sum by (pod) (rate(requests_total[1m]))',
  selector: [],
};

const objectMetric: MetricSpec = { ...externalMetric(), type: 'Object', describedObject: null };

const one = (value: number, labels: Readonly<Record<string, string>> = {}): Series => ({ labels, value });
const usage = (pod: string, container: string, value: number, namespace = 'shop'): Series =>
  one(value, { namespace, pod, container });

function sampleOf(metric: MetricSpec, answer: Answer, podNames: readonly string[] = ['a', 'b'], now = T0) {
  return toSample(metric, answer, {
    namespace: 'shop',
    workload: WORKLOAD,
    pods: podNames.map((name) => aPod(name)),
    now,
    source: aSource(),
  });
}

describe('a sample without an answer', () => {
  it.each([
    [
      { class: 'missing', message: 'no series' },
      { reason: 'missing', message: 'no series' },
    ],
    [
      { class: 'invalid', message: 'a matrix' },
      { reason: 'invalid', message: 'a matrix' },
    ],
    [
      { class: 'failed', reason: 'timeout', message: 'late' },
      { reason: 'timeout', source: 'default', message: 'late' },
    ],
    [
      { class: 'failed', reason: 'over_limit', message: 'not sent' },
      { reason: 'over_limit', source: 'default', message: 'not sent' },
    ],
    [INTERNAL_ERROR, { reason: 'internal_error', message: INTERNAL_ERROR.message }],
  ] as const)('is an error for %j, with the reason of a failure', (answer, error) => {
    for (const metric of [cpuMetric, podsMetric, objectMetric, externalMetric()]) {
      expect(sampleOf(metric, answer)).toEqual({
        form: 'error',
        failure: { class: 'failed', ...error },
      });
    }
  });

  it('is invalid, never missing, if an empty answer is partial: onMissing must not make it 0', () => {
    const answer: Answer = { class: 'partial', series: [], evaluatedAt: T0, why: 'store down' };

    expect(sampleOf(externalMetric({ onMissing: 'zero' }), answer)).toMatchObject({
      failure: { reason: 'invalid' },
    });
  });
});

describe('a sample of a partial answer without series of a listed pod', () => {
  it.each([cpuMetric, podsMetric])('is invalid, as that of an empty partial answer: %j', (metric) => {
    const series = [usage('other', 'app', 1)];
    const answer: Answer = { class: 'partial', series, evaluatedAt: T0, why: 'store down' };

    expect(sampleOf(metric, answer)).toEqual(
      errorSample('invalid', 'no series belongs to a pod of the target, and store down'),
    );
    expect(sampleOf(metric, values(series))).toMatchObject({ failure: { reason: 'missing' } });
  });
});

describe('a sample of a resource', () => {
  it('has the usage of listed pods of the namespace, one scrape interval old', () => {
    const answer = values([
      usage('a', 'app', 0.5),
      usage('a', 'proxy', 0.1),
      usage('b', 'app', 0.7),
      usage('other', 'app', 9),
      usage('a', 'app', 9, 'elsewhere'),
    ]);

    expect(sampleOf(cpuMetric, answer)).toEqual({
      form: 'containers',
      at: at(-30),
      windowSeconds: 120,
      partial: null,
      pods: ['a', 'b'],
      starts: [0, 2, 3],
      containers: ['app', 'proxy', 'app'],
      values: [0.5, 0.1, 0.7],
    });
  });

  it('has no window if the query has no $window', () => {
    expect(sampleOf(memoryMetric, values([usage('a', 'app', 5)]))).toMatchObject({ windowSeconds: 0 });
  });

  it('has only its container for ContainerResource', () => {
    const answer = values([usage('a', 'app', 0.5), usage('a', 'proxy', NaN), usage('b', 'proxy', 1)]);

    expect(sampleOf(appCpu, answer)).toMatchObject({
      partial: null,
      ...listUsage(new Map([['a', new Map([['app', 0.5]])]])),
    });
  });

  it('accepts a series without a namespace label', () => {
    expect(sampleOf(cpuMetric, values([one(1, { pod: 'a', container: 'app' })]))).toMatchObject({
      ...listUsage(new Map([['a', new Map([['app', 1]])]])),
    });
  });

  it.each([
    ['two series for one container', [usage('a', 'app', 1), { ...usage('a', 'app', 1) }]],
    ['a series of the whole pod next to a container', [usage('a', 'app', 1), usage('a', '', 1)]],
    ['the same the other way round', [usage('a', '', 1), usage('a', 'app', 1)]],
    ['no label pod', [usage('a', 'app', 1), one(1, { namespace: 'shop' })]],
    ['infinity', [usage('a', 'app', Infinity)]],
    ['a negative value', [usage('a', 'app', 1), usage('b', 'app', -0.1)]],
  ])('is invalid with %s', (_name, series) => {
    expect(sampleOf(cpuMetric, values(series))).toMatchObject({ failure: { reason: 'invalid' } });
  });

  it('is missing if no series belongs to a listed pod, and without pods', () => {
    expect(sampleOf(cpuMetric, values([usage('x', 'app', 1)]))).toMatchObject({
      failure: { reason: 'missing' },
    });
    expect(sampleOf(cpuMetric, values([usage('a', 'app', 1)]), [])).toMatchObject({
      failure: { reason: 'missing' },
    });
  });
});

describe('a sample of NaN', () => {
  it('is nan if every value is NaN, for each type', () => {
    expect(sampleOf(cpuMetric, values([usage('a', 'app', NaN)]))).toMatchObject({
      failure: { reason: 'nan' },
    });
    expect(sampleOf(podsMetric, values([one(NaN, { pod: 'a' })]))).toMatchObject({
      failure: { reason: 'nan' },
    });
    expect(sampleOf(objectMetric, values([one(NaN)]))).toMatchObject({ failure: { reason: 'nan' } });
    expect(sampleOf(externalMetric(), values([one(NaN), one(NaN)]))).toEqual(
      errorSample('nan', 'all 2 series are NaN'),
    );
  });

  it('drops NaN and is partial if only some values are NaN', () => {
    expect(sampleOf(podsMetric, values([one(NaN, { pod: 'a' }), one(4, { pod: 'b' })]))).toMatchObject({
      pods: ['b'],
      values: [4],
      partial: '1 of 2 series are NaN',
    });
    expect(sampleOf(externalMetric(), values([one(NaN), one(2), one(3)]))).toMatchObject({
      values: [2, 3],
      partial: '1 of 3 series are NaN',
    });
  });

  it('does not count NaN of pods that are not listed', () => {
    const answer = values([one(NaN, { pod: 'gone' }), one(4, { pod: 'b' })]);

    expect(sampleOf(podsMetric, answer)).toMatchObject({ partial: null });
  });
});

describe('a sample of Pods', () => {
  it('has one value for each listed pod', () => {
    const answer = values([
      one(4, { pod: 'a' }),
      one(5, { pod: 'b', namespace: 'shop' }),
      one(6, { pod: 'gone' }),
    ]);

    expect(sampleOf(podsMetric, answer)).toEqual({
      form: 'pods',
      at: T0,
      windowSeconds: 60,
      partial: null,
      pods: ['a', 'b'],
      values: [4, 5],
    });
  });

  it('of a query for several workloads has only the pods that a query for this one would return', () => {
    const metric = { ...podsMetric, query: 'requests{pod=~"$pods"}' };
    const own = 'web-6d4cf56db6-x7k2p';
    const other = 'web-api-6d4cf56db6-x7k2p';
    const answer = values([one(4, { pod: own }), one(5, { pod: other })]);

    expect(sampleOf(metric, answer, [own, other])).toMatchObject({ pods: [own], values: [4] });
    expect(sampleOf(metric, answer, [other])).toMatchObject({
      failure: { message: 'no series belongs to a pod of the target' },
    });
    expect(sampleOf(podsMetric, answer, [own, other])).toMatchObject({
      pods: [own, other],
      values: [4, 5],
    });
  });

  it('ignores another namespace', () => {
    expect(sampleOf(podsMetric, values([one(4, { pod: 'a', namespace: 'x' })]))).toMatchObject({
      failure: { reason: 'missing' },
    });
  });

  it.each([
    ['no label pod', [one(4)]],
    ['an empty label pod', [one(4, { pod: '' })]],
    ['two series for one pod', [one(4, { pod: 'a', replica: '1' }), one(4, { pod: 'a', replica: '2' })]],
    ['one with and one without namespace', [one(4, { pod: 'a' }), one(4, { pod: 'a', namespace: 'shop' })]],
    ['infinity', [one(Infinity, { pod: 'a' })]],
  ])('is invalid with %s', (_name, series) => {
    expect(sampleOf(podsMetric, values(series))).toMatchObject({ failure: { reason: 'invalid' } });
  });

  it('has a window of 0 for a gauge', () => {
    const gauge = { ...podsMetric, query: 'busy' };

    expect(sampleOf(gauge, values([one(1, { pod: 'a' })]))).toMatchObject({ windowSeconds: 0 });
  });
});

describe('a sample of Object and External', () => {
  const where = (...selector: LabelSelector) => externalMetric({ selector });
  const answer = values([
    one(1, { queue: 'a', env: 'x' }),
    one(2, { queue: 'b', env: 'x' }),
    one(4, { queue: 'c' }),
  ]);

  it.each([
    [where(), [1, 2, 4]],
    [where({ key: 'queue', operator: 'In', values: ['b'] }), [2]],
    [where({ key: 'queue', operator: 'In', values: ['c', 'a', 'a'] }), [4, 1]],
    [where({ key: 'queue', operator: 'NotIn', values: ['b'] }), [1, 4]],
    [where({ key: 'env', operator: 'NotIn', values: ['x'] }), [4]],
    [where({ key: 'env', operator: 'Exists', values: [] }), [1, 2]],
    [where({ key: 'env', operator: 'DoesNotExist', values: [] }), [4]],
    [
      where(
        { key: 'env', operator: 'Exists', values: [] },
        { key: 'queue', operator: 'In', values: ['a', 'c'] },
      ),
      [1],
    ],
    [
      where({ key: 'env', operator: 'In', values: ['x'] }, { key: 'queue', operator: 'In', values: ['b'] }),
      [2],
    ],
    [
      where({ key: 'queue', operator: 'In', values: ['b'] }, { key: 'env', operator: 'In', values: ['x'] }),
      [2],
    ],
  ])('keeps the series of its selector %#', (metric, expected) => {
    expect(sampleOf(metric, answer)).toEqual({ form: 'values', at: T0, values: expected, partial: null });
  });

  it('is missing if no series matches the selector, and invalid if the answer is partial', () => {
    const metric = where({ key: 'queue', operator: 'In', values: ['z'] });

    expect(sampleOf(metric, answer)).toMatchObject({ failure: { reason: 'missing' } });
    expect(sampleOf(metric, { ...answer, class: 'partial', why: 'w' } as Answer)).toMatchObject({
      failure: { reason: 'invalid' },
    });
  });

  it('of an Object is invalid with two series, and a value if the selector matches one', () => {
    expect(sampleOf(objectMetric, answer)).toMatchObject({ failure: { reason: 'invalid' } });
    const selector: LabelSelector = [{ key: 'queue', operator: 'In', values: ['b'] }];
    expect(sampleOf({ ...objectMetric, selector }, answer)).toMatchObject({ values: [2] });
  });

  it('is invalid with a negative value', () => {
    expect(sampleOf(externalMetric(), values([one(-1)]))).toMatchObject({ failure: { reason: 'invalid' } });
  });

  it('keeps a 0', () => {
    expect(sampleOf(externalMetric(), values([one(0)]))).toMatchObject({ values: [0], partial: null });
  });
});

describe('a partial sample', () => {
  it('is partial with all its reasons', () => {
    const answer: Answer = {
      class: 'partial',
      series: [one(1), one(NaN)],
      evaluatedAt: at(-200),
      why: 'store down',
    };

    expect(sampleOf(externalMetric(), answer)).toMatchObject({
      partial:
        'store down; 1 of 2 series are NaN; the clocks of the server and of promscaler differ by 200 s',
    });
  });

  it.each([
    [120, null],
    [-120, null],
    [121, 'the clocks of the server and of promscaler differ by 121 s'],
    [-121, 'the clocks of the server and of promscaler differ by 121 s'],
  ])('has clocks differ by %d s: %s', (seconds, partial) => {
    expect(sampleOf(externalMetric(), values([one(1)], at(seconds)))).toMatchObject({ partial });
  });
});

describe('toSamples', () => {
  it('returns one sample per metric in order', () => {
    const scaler = aScaler([podsMetric, externalMetric()]);
    const answers = [values([one(1, { pod: 'a' }), one(1, { pod: 'x' })]), values([one(3)])];
    const sources = new Map([['default', aSource()]]);

    const result = toSamples(scaler, answers, { pods: [aPod('a')], now: T0, sources });

    expect(result.map(({ form }) => form)).toEqual(['pods', 'values']);
  });

  it('returns for each of 1,000 scalers its own 5 pods of one answer', () => {
    const sources = new Map([['default', aSource()]]);
    const names = (scaler: number) => Array.from({ length: 5 }, (_, pod) => `web${scaler}-${pod}`);
    const series = Array.from({ length: 1000 }, (_, scaler) =>
      names(scaler).map((pod) => usage(pod, 'app', 1)),
    );
    const answer = values(series.flat());
    const scalers = Array.from({ length: 1000 }, (_, index) => ({
      scaler: aScaler([cpuMetric], 'shop', `web${index}`),
      pods: names(index).map((name) => aPod(name)),
    }));

    const samples = scalers.map(
      ({ scaler, pods }) => toSamples(scaler, [answer], { pods, now: T0, sources })[0],
    );

    for (const [index, sample] of samples.entries()) {
      expect(sample).toMatchObject({ form: 'containers', partial: null });
      expect(sample?.form === 'containers' ? sample.pods : []).toEqual(names(index));
    }
  });
});
