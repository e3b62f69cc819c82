import { describe, expect, it } from '@jest/globals';
import { decide } from '../../../src/decision/decide.js';
import { SnapshotError, parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import { listUsage } from '../../../src/decision/snapshot/snapshot.js';
import { decisionToJson, snapshotToJson } from '../../../src/decision/result/write-json.js';
import { aDocument } from '../../support/builders.js';

const NOW = '2026-01-01T00:00:00Z';
const metric = { external: { metric: { name: 'qps' }, query: 'sum(qps)', target: { averageValue: 1 } } };
const cpu = { resource: { name: 'cpu', target: { averageUtilization: 50 } } };

/** Builds a snapshot of 5 replicas and a query that returns 8, with `change` applied. */
function snapshotOf(change: Readonly<Record<string, unknown>> = {}, spec: object = {}): object {
  return {
    scaler: aDocument(
      { scaleTargetRef: { name: 'web' }, maxReplicas: 100, metrics: [metric], ...spec },
      { namespace: 'test' },
    ),
    now: NOW,
    target: { specReplicas: 5 },
    pods: [],
    samples: [{ at: NOW, values: [8] }],
    state: { recommendations: [] },
    ...change,
  };
}

/** Parses a snapshot; `$` is replaced by a number that JSON.stringify cannot print. */
function read(json: object, number = ''): ReturnType<typeof parseSnapshot> {
  return parseSnapshot(JSON.parse(JSON.stringify(json).replaceAll('"$"', number)));
}

function messageOf(json: object, number = ''): string {
  try {
    read(json, number);
  } catch (error) {
    if (error instanceof SnapshotError) return error.message;
    throw error;
  }
  return 'no error';
}

function many<T>(count: number, entry: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => entry(index));
}

describe('parseSnapshot rejects', () => {
  it.each([
    ['specReplicas of 2^53+1', { target: { specReplicas: '$' } }, '9007199254740993', 'target.specReplicas'],
    ['specReplicas of 1.5', { target: { specReplicas: 1.5 } }, '', 'target.specReplicas is 1.5'],
    ['specReplicas of 2^31', { target: { specReplicas: 2_147_483_648 } }, '', 'target.specReplicas'],
    ['specReplicas of -1', { target: { specReplicas: -1 } }, '', 'target.specReplicas is -1'],
    ['no specReplicas', { target: {} }, '', 'target.specReplicas is missing'],
    ['an event of 1e999', event('$'), '1e999', 'state.scaleEvents[0].change is Infinity'],
    ['the year 0', { now: '0000-12-31T00:00:00Z' }, '', 'now is "0000-12-31T00:00:00Z"'],
    ['an offset that leads to the year 0', { now: '0001-01-01T00:00:00+01:00' }, '', 'now is'],
    ['an offset that leads to the year 10000', { now: '9999-12-31T23:59:59-01:00' }, '', 'now is'],
    ['two pods with the same name', { pods: [pod('a'), pod('a')] }, '', 'two pods with the same name'],
    ['a request of -1', { pods: [pod('a', { cpu: '-1' })] }, '', 'pods[0].requests.app.cpu is "-1"'],
    ['an unknown field', { foo: 1 }, '', 'foo is 1, must be omitted'],
    ['a value of null', { samples: [{ at: NOW, values: [null] }] }, '', 'samples[0].values[0] is null'],
    ['a kind next to values', { samples: [{ at: NOW, values: [8], kind: 'nan' }] }, '', 'samples[0].kind'],
    ['values next to an error', { samples: [{ error: 'gone', values: [8] }] }, '', 'exactly one of'],
    ['an unknown reason', { samples: [{ error: 'x', reason: 'gone' }] }, '', 'samples[0].reason is "gone"'],
    ['values next to pods', { samples: [{ at: NOW, pods: {}, values: [8] }] }, '', 'exactly one of'],
    ['a sample of nothing', { samples: [{ at: NOW }] }, '', 'exactly one of'],
    ['two samples for one metric', { samples: [{ error: 'x' }, { error: 'x' }] }, '', 'samples has 2'],
  ])('%s', (_name, change, number, message) => {
    expect(messageOf(snapshotOf(change), number)).toContain(message);
  });

  it('JSON nested 50,000 deep with a message, without a stack overflow', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

    expect(messageOf(snapshotOf({ now: '$' }), deep)).toContain('now is a list, must be an RFC 3339 time');
    expect(messageOf(snapshotOf({ scaler: '$' }), deep)).toContain('nested deeper');
  });

  it.each([null, 5, 'x', []])('%j as a whole snapshot', (json) => {
    expect(() => parseSnapshot(json)).toThrow(SnapshotError);
  });
});

function event(change: unknown): Readonly<Record<string, unknown>> {
  return { state: { scaleEvents: [{ at: NOW, change }] } };
}

function pod(name: string, requests: object = { cpu: '1' }): object {
  return {
    name,
    phase: 'Running',
    startTime: '0001-01-01T00:00:00Z',
    ready: true,
    requests: { app: requests },
  };
}

describe('a snapshot that parseSnapshot accepts', () => {
  it.each([
    ['-0 replicas', { target: { specReplicas: '$', statusReplicas: '$' } }, '-0'],
    ['an event of -0', event('$'), '-0'],
    ['a recommendation of -0', { state: { recommendations: [{ at: NOW, replicas: '$' }] } }, '-0'],
    ['a value of -0', { samples: [{ at: NOW, values: ['$'] }] }, '-0'],
    ['a value of 1e999', { samples: [{ at: NOW, values: [1, '$'] }] }, '1e999'],
    ['a value of 2^53+1', { samples: [{ at: NOW, values: ['$'] }] }, '9007199254740993'],
    ['a pod called __proto__', { pods: [pod('$')] }, '"__proto__"'],
    ['a time with an offset', { now: '2026-01-01T02:00:00+02:00' }, ''],
    ['the year 1', { now: '0001-01-01T00:00:00Z' }, ''],
  ])('leads to the same decision after it was written and read again: %s', (_name, change, number) => {
    const snapshot = read(snapshotOf(change, { minReplicas: 0 }), number);

    const decision = decide(snapshot);

    const again = parseSnapshot(JSON.parse(JSON.stringify(snapshotToJson(snapshot))));
    expect(decide(again)).toEqual(decision);
    const next = { ...snapshotOf(change), state: decisionToJson(decision)['state'] };
    expect(messageOf(next, number)).toBe('no error');
  });

  it('saturates a request of 1E400, so that 0.5 of it is 0 %', () => {
    const pods = [pod('a', { cpu: '1E400' })];
    const samples = [{ at: NOW, windowSeconds: 60, containers: { a: { app: 0.5 } } }];

    const { metrics } = decide(read(snapshotOf({ pods, samples }, { metrics: [cpu] })));

    expect(metrics[0]?.current.averageUtilization).toBe(0);
  });

  it.each([null, {}])(
    'can hold 200,000 history entries without a stack overflow: 8 replicas, behavior %j',
    (behavior) => {
      const snapshot = read(snapshotOf({}, behavior === null ? {} : { behavior }));
      const recommendations = many(200_000, () => ({ at: snapshot.now, replicas: 5 }));
      const scaleEvents = many(200_000, () => ({ at: snapshot.now, change: -1 }));

      const state = {
        ...snapshot.state,
        recommendations: behavior === null ? recommendations : [],
        scaleEvents,
      };

      expect(decide({ ...snapshot, state }).desiredReplicas).toBe(8);
    },
  );

  it('can hold 200,000 recommendations with behavior without a stack overflow: 5 replicas instead of 3', () => {
    const snapshot = read(snapshotOf({ samples: [{ at: NOW, values: [3] }] }, { behavior: {} }));
    const recommendations = many(200_000, () => ({ at: snapshot.now, replicas: 5 }));

    expect(decide({ ...snapshot, state: { ...snapshot.state, recommendations } }).desiredReplicas).toBe(5);
  });

  it('can hold 200,000 policies without a stack overflow', () => {
    const policies = many(200_000, () => ({ type: 'Pods', value: 1, periodSeconds: 15 }) as const);
    const snapshot = read(snapshotOf({}, { behavior: {} }));
    const { spec } = snapshot.scaler;
    const rules = { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies, tolerance: 0.1 } as const;

    const scaler = { ...snapshot.scaler, spec: { ...spec, behavior: { scaleUp: rules, scaleDown: rules } } };

    expect(decide({ ...snapshot, scaler }).desiredReplicas).toBe(6);
  });

  it('can hold 200,000 containers of one pod without a stack overflow', () => {
    const samples = [{ at: NOW, windowSeconds: 60, containers: { a: {} } }];
    const snapshot = read(snapshotOf({ pods: [pod('a')], samples }, { metrics: [cpu] }));
    const app = new Map(many(200_000, (index) => [`c${index}`, 0.001] as const));
    const counted = { at: snapshot.now, partial: null, windowSeconds: 60 };
    const sample = { form: 'containers', ...counted, ...listUsage(new Map([['a', app]])) } as const;

    expect(decide({ ...snapshot, samples: [sample] }).metrics[0]?.current.averageValue).toBe(200);
  });
});

describe('the JSON of a snapshot', () => {
  it.each([{}, { learnedIntervalSeconds: null }, { learnedIntervalSeconds: 15 }])(
    'keeps the interval that a window follows, known or not: %j',
    (learned) => {
      const samples = [{ at: NOW, windowSeconds: 60, ...learned, containers: { a: { app: 0.5 } } }];
      const snapshot = read(snapshotOf({ pods: [pod('a')], samples }, { metrics: [cpu] }));

      const written: unknown = JSON.parse(JSON.stringify(snapshotToJson(snapshot)));

      expect(written).toMatchObject({ samples });
      expect(parseSnapshot(written).samples).toEqual(snapshot.samples);
    },
  );

  it('has the pod fields that a decision needs and omits those that only the watch uses', () => {
    const snapshot = read(snapshotOf({ pods: [pod('a')] }));
    const pods = snapshot.pods.map((one) => ({
      ...one,
      trouble: { kind: 'unschedulable', why: 'cpu' },
    }));

    const written = read(snapshotToJson({ ...snapshot, pods }));

    expect(written).toEqual(snapshot);
  });

  it('has the reason of a query without an answer', () => {
    const samples = [{ error: 'h: HTTP 500', kind: 'failed', reason: 'server_error' }];

    expect(snapshotToJson(read(snapshotOf({ samples })))).toMatchObject({ samples });
  });
});
