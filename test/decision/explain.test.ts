import { describe, expect, it } from '@jest/globals';
import { decide } from '../../src/decision/decide.js';
import { explainMetric } from '../../src/decision/explain-metric.js';
import { rescaleReason } from '../../src/decision/explain.js';
import { proposeAll } from '../../src/decision/proposals/propose.js';
import { snapshotToJson } from '../../src/decision/result/write-json.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { aDocument } from '../support/builders.js';

/**
 * Returns the reason for pods that request one core each and started an hour ago; each uses `usage` cores, null: no
 * sample.
 */
function reasonOf(pods: readonly { readonly usage: number | null; readonly ready: boolean }[]): string {
  const startTime = '2026-01-01T00:00:00Z';
  const since = '2026-01-01T00:00:10Z';
  const measured = pods.flatMap(({ usage }, index) =>
    usage === null ? [] : [[`web-${index}`, { app: usage }] as const],
  );
  const snapshot = {
    scaler: aDocument({ scaleTargetRef: { name: 'web' }, maxReplicas: 10 }),
    now: '2026-01-01T01:00:00Z',
    target: { specReplicas: pods.length, statusReplicas: pods.length },
    pods: pods.map(({ ready }, index) => ({
      name: `web-${index}`,
      phase: 'Running',
      startTime,
      ready,
      readyChangedAt: since,
      requests: { app: { cpu: '1' } },
    })),
    samples: [{ at: '2026-01-01T01:00:00Z', windowSeconds: 60, containers: Object.fromEntries(measured) }],
  };
  return decide(parseSnapshot(snapshot)).reason;
}

const pods = (count: number, usage: number | null, ready = true) =>
  Array.from({ length: count }, () => ({ usage, ready }));

describe('the reason in a decision', () => {
  it.each([
    [
      '10 pods counted as idle next to 6',
      [...pods(6, 1.96), ...pods(4, 1.96, false)],
      '117 % with 4 unready pods counted as idle: stays at 10, 15 recommended',
    ],
    [
      '2 missing ones on the way down',
      [...pods(3, 0.4), ...pods(2, null)],
      '64 % with 2 missing pods counted at 100 % of the requests: stays at 5, 4 recommended',
    ],
    ['the tolerance', pods(2, 0.86), 'within the tolerance of 10 %: stays at 2'],
    [
      'unready ones on the way down',
      [...pods(3, 0.2), ...pods(1, 0.2, false)],
      '1 unready pod not counted, over 3 ready pods: stays at 4, 1 recommended',
    ],
  ])('explains why the ratio of value and target differs from the count: %s', (_, list, clause) => {
    expect(reasonOf(list)).toContain(`, ${clause}`);
  });

  it('lists no pods if all of them count', () => {
    expect(
      reasonOf([
        { usage: 0.8, ready: true },
        { usage: 0.8, ready: true },
      ]),
    ).toBe('cpu is at 80 % of the requests, target 80 %: stays at 2');
  });

  it('explains what it assumed about unready and missing pods when 120 % of 80 % proposes no increase', () => {
    expect(
      reasonOf([
        { usage: 1.2, ready: true },
        { usage: 1.2, ready: false },
        { usage: null, ready: true },
      ]),
    ).toBe(
      'cpu is at 120 % of the requests, target 80 %, 40 % with 1 unready pod and 1 missing pod counted as idle, which must not reverse the direction of scaling: stays at 3',
    );
  });
});

describe('the reason in the Event for a change', () => {
  const documentOf = (spec: object) =>
    aDocument({
      scaleTargetRef: { name: 'web' },
      minReplicas: 1,
      maxReplicas: 60,
      tolerance: 0,
      downscaleStabilizationSeconds: 0,
      metrics: [{ external: { metric: { name: 'qps' }, query: 'q', target: { averageValue: 1 } } }],
      ...spec,
    });
  const schedule = { name: 'night', start: '0 0 * * *', end: '0 6 * * *' };
  const until = 'by schedule "night" until 2026-01-01T06:00:00Z';
  const failing = { error: 'no series', kind: 'missing' };
  const since = { failingSince: { 'External/qps': '2026-01-01T00:00:00Z' } };
  const active = {
    minReplicas: 0,
    metrics: [
      {
        external: {
          metric: { name: 'qps' },
          query: 'q',
          target: { value: 1000, type: 'Value' },
          activation: { above: 5 },
        },
      },
    ],
  };

  it.each<[string, number, object, object, object]>([
    ['external metric qps above target', 5, {}, { values: [8] }, {}],
    ['All metrics below target', 5, {}, { values: [3] }, {}],
    [
      'All metrics below target; 3 recommended, 4 by stabilization',
      5,
      { downscaleStabilizationSeconds: 300 },
      { values: [3] },
      { recommendations: [{ at: '2026-01-01T00:59:00Z', replicas: 4 }] },
    ],
    ['Current number of replicas above Spec.MaxReplicas', 70, {}, { values: [70] }, {}],
    ['Current number of replicas below Spec.MinReplicas', 2, { minReplicas: 4 }, { values: [8] }, {}],
    [`maxReplicas is 4 ${until}`, 5, { schedules: [{ ...schedule, maxReplicas: 4 }] }, { values: [8] }, {}],
    [
      `3 replicas are below the floor: minReplicas is 9 ${until}`,
      3,
      { schedules: [{ ...schedule, minReplicas: 9 }] },
      { values: [3] },
      {},
    ],
    [
      `1 replica is below the floor: minReplicas is 9 ${until}`,
      1,
      { schedules: [{ ...schedule, minReplicas: 9 }] },
      { values: [3] },
      {},
    ],
    [
      'external metric qps has had no value since 2026-01-01T00:00:00Z (no series): the fallback (atLeast) proposes 9 replicas',
      5,
      { fallback: { afterSeconds: 60, replicas: 9 } },
      failing,
      since,
    ],
    [
      'external metric qps has had no value since 2026-01-01T00:00:00Z (no series): the fallback (exact) proposes 2 replicas',
      5,
      { fallback: { afterSeconds: 60, replicas: 2, mode: 'exact' } },
      failing,
      since,
    ],
    [
      'external metric qps: no series, read as 0; 0 recommended, 1 by min_replicas',
      5,
      {
        metrics: [
          {
            external: { metric: { name: 'qps' }, query: 'q', target: { averageValue: 1 }, onMissing: 'zero' },
          },
        ],
      },
      failing,
      {},
    ],
    [
      '9 was recommended at 2026-01-01T00:59:00Z and counts for 300 s',
      5,
      { downscaleStabilizationSeconds: 300 },
      { values: [3] },
      { recommendations: [{ at: '2026-01-01T00:59:00Z', replicas: 9 }] },
    ],
    [
      'no metric is above its activation threshold',
      5,
      active,
      { values: [4] },
      { inactiveSince: '2026-01-01T00:00:00Z' },
    ],
  ])('is "%s" at %i replicas', (expected, specReplicas, spec, sample, state) => {
    const at = '2026-01-01T01:00:00Z';
    const pods = Array.from({ length: specReplicas }, (_, index) => ({
      name: `web-${index}`,
      phase: 'Running',
      ready: true,
      requests: {},
    }));
    const snapshot = parseSnapshot({
      scaler: documentOf(spec),
      now: at,
      target: { specReplicas },
      pods,
      samples: ['values' in sample ? { at, ...sample } : sample],
      state: { recommendations: [], ...state },
    });

    expect(rescaleReason(snapshot.scaler.spec.metrics, decide(snapshot))).toBe(expected);
  });
});

describe('the answer to a query of a data source that has answered nothing since 00:59:30.747', () => {
  const [metricSince, sourceSince] = ['2026-01-01T00:59:30.483Z', '2026-01-01T00:59:30.747Z'];
  const times = (text: string): readonly string[] => text.match(/2026-\S*?Z/g) ?? [];
  const json = (fallback: object): Readonly<Record<string, unknown>> => ({
    scaler: aDocument({ scaleTargetRef: { name: 'web' }, maxReplicas: 10, ...fallback }),
    now: '2026-01-01T01:00:00Z',
    target: { specReplicas: 3 },
    pods: [],
    samples: [
      {
        error: 'connection refused',
        kind: 'failed',
        reason: 'connection',
        since: sourceSince,
      },
    ],
    state: { failingSince: { 'Resource/cpu': metricSince } },
  });
  const answerOf = (given: unknown): string => {
    const snapshot = parseSnapshot(given);
    return proposeAll(snapshot)
      .map((metric) => explainMetric(metric, snapshot).answer)
      .join();
  };

  it('has one start time, also in a snapshot that the API has written', () => {
    expect(times(answerOf(json({})))).toEqual([sourceSince]);
    expect(times(answerOf(snapshotToJson(parseSnapshot(json({})))))).toEqual([sourceSince]);
  });

  it('has the start of the failure if the source has answered other queries', () => {
    const samples = [{ error: 'timeout after 5 s', kind: 'failed', reason: 'timeout' }];

    expect(times(answerOf({ ...json({}), samples }))).toEqual([metricSince]);
  });

  it('has one start time while the fallback is used', () => {
    const parsed = parseSnapshot(json({ fallback: { afterSeconds: 10, replicas: 7 } }));

    expect(times(decide(parsed).reason)).toEqual([metricSince]);
  });
});

describe('the window of a sample', () => {
  it.each([
    [{}, 'over 120 s, of 1 pod'],
    [{ learnedIntervalSeconds: 30 }, 'over 120 s (4 scrape intervals of at most 30 s), of 1 pod'],
    [{ learnedIntervalSeconds: null }, 'over 120 s (the scrape interval is not known yet), of 1 pod'],
  ])('is named with its origin, unless the config sets it: %j', (learned, text) => {
    const snapshot = parseSnapshot({
      scaler: aDocument({ scaleTargetRef: { name: 'web' }, maxReplicas: 10 }),
      now: '2026-01-01T01:00:00Z',
      target: { specReplicas: 1, statusReplicas: 1 },
      samples: [
        { at: '2026-01-01T00:59:30Z', windowSeconds: 120, ...learned, containers: { a: { app: 0.9 } } },
      ],
    });

    const [metric] = proposeAll(snapshot);

    expect(metric === undefined ? '' : explainMetric(metric, snapshot).answer).toContain(`30 s old, ${text}`);
  });
});
