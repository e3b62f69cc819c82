import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide } from '../../src/decision/decide.js';
import type { Decision } from '../../src/decision/result/decision.js';
import { decisionToJson, snapshotToJson } from '../../src/decision/result/write-json.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { aDocument } from '../support/builders.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');

function at(seconds: number): string {
  return new Date(NOW + seconds * 1000).toISOString().replace('.000Z', 'Z');
}

interface Given {
  readonly ready?: number;
  /** Pods that are starting. */
  readonly starting?: number;
  /** Usage of each ready pod in cores; the limit is 1. */
  readonly usage?: number;
  readonly served?: number | null;
  readonly state?: object;
  readonly podStart?: object | null;
  readonly podStartSeconds?: number;
  readonly limit?: string | null;
  /** Seconds since the last pod became ready. */
  readonly readyFor?: number;
  readonly factor?: number;
  readonly spec?: object;
  /** Whether the document has `saturation`. */
  readonly hasStep?: boolean;
  readonly sample?: object;
}

/** 10 pods at their limits for 150 s, with a pod start of 300 s, that serve 143 where it was 100. */
function snapshotOf({
  ready = 10,
  starting = 0,
  usage = 1,
  served = 143,
  state = { since: at(-150), served: 100 },
  podStart = { seconds: 300 },
  podStartSeconds,
  limit = '1',
  readyFor = 1000,
  factor,
  spec = {},
  hasStep = true,
  sample,
}: Given): Record<string, unknown> {
  const saturation = {
    served: { query: 'sum(rate(served[1m]))' },
    ...(factor === undefined ? {} : { factor }),
  };
  const podOf = (index: number, isReady: boolean) => ({
    name: `web-${index}`,
    phase: isReady ? 'Running' : 'Pending',
    startTime: at(-2000),
    ready: isReady,
    readyChangedAt: at(index === 0 ? -readyFor : -1500),
    requests: { app: { cpu: '1' } },
    ...(limit === null ? {} : { cpuLimit: limit }),
  });
  const pods = Array.from({ length: ready + starting }, (_, index) => podOf(index, index < ready));
  return {
    scaler: aDocument({
      scaleTargetRef: { name: 'web' },
      minReplicas: 1,
      maxReplicas: 100,
      ...(podStart === null ? {} : { podStart }),
      metrics: [
        {
          resource: {
            name: 'cpu',
            target: { averageUtilization: 70 },
            ...(hasStep ? { saturation } : {}),
          },
        },
      ],
      ...spec,
    }),
    now: at(0),
    target: { specReplicas: ready + starting },
    pods,
    samples: [
      sample ?? {
        at: at(0),
        windowSeconds: 60,
        containers: Object.fromEntries(pods.slice(0, ready).map(({ name }) => [name, { app: usage }])),
        ...(served === null ? {} : { served }),
      },
    ],
    ...(podStartSeconds === undefined ? {} : { podStartSeconds }),
    state: { recommendations: [], ...(Object.keys(state).length === 0 ? {} : { saturation: state }) },
  };
}

function decideOn(given: Given): Decision {
  return decide(parseSnapshot(snapshotOf(given)));
}

function stateAfter(given: Given): unknown {
  return (decisionToJson(decideOn(given))['state'] as Record<string, unknown>)['saturation'];
}

const since = at(-150);

describe('a saturation step', () => {
  it('doubles 10 ready pods that have been at their limits for 150 s of a pod start of 300 s', () => {
    const decision = decideOn({});

    expect(decision.desiredReplicas).toBe(20);
    expect(decision.reason).toBe(
      'cpu has been at 100 % of the limits since 2026-01-01T11:57:30Z, 2 x 10 ready pods = 20: 10 -> 20',
    );
    expect(stateAfter({})).toEqual({ since, served: 143, stepAt: at(0), stepTo: 20 });
  });

  it('waits for half of a pod start: not after 149 s', () => {
    const state = { since: at(-149), served: 100 };

    // The usage alone asks for ceil(100 / 70 x 10).
    expect(decideOn({ state }).desiredReplicas).toBe(15);
    expect(decideOn({ state }).metrics[0]?.saturation).toEqual({
      why: '100 % of the limits since 2026-01-01T11:57:31Z, no saturation step before 2026-01-01T12:00:01Z',
      replicas: null,
    });
    expect(stateAfter({ state })).toEqual(state);
  });

  it('begins to count at 98 % of the limits, not at 97 %', () => {
    expect(stateAfter({ usage: 0.98, state: { since: null, served: 100 } })).toEqual({
      since: at(0),
      served: 100,
    });
    expect(stateAfter({ usage: 0.979 })).toEqual({ since: null, served: 100 });
  });

  it('needs more than 1.1 times what was served before: a spinning lock gets none', () => {
    const state = { since, served: 100 };

    expect(decideOn({ state, served: 110.1 }).desiredReplicas).toBe(20);
    expect(decideOn({ state, served: 110 }).desiredReplicas).toBe(15);
    expect(decideOn({ state, served: 90 }).desiredReplicas).toBe(15);
    expect(decideOn({ state, served: 110 }).metrics[0]?.saturation?.why).toContain(
      'no saturation step because the served load has only changed from 100 to 110',
    );
  });

  it('is not made while it is not known what is served, now or before', () => {
    expect(decideOn({ served: null }).desiredReplicas).toBe(15);
    expect(decideOn({ state: { since, served: null } }).desiredReplicas).toBe(15);
    expect(decideOn({ state: {} }).desiredReplicas).toBe(15);
  });

  it('counts pods that are starting: 10 ready of 20 get no further step', () => {
    const decision = decideOn({ starting: 10 });

    expect(decision.desiredReplicas).toBe(20);
    expect(decision.action).toBe('none');
    expect(stateAfter({ starting: 10 })).toEqual({ since, served: 100 });
    expect(decideOn({ starting: 9 }).desiredReplicas).toBe(20);
  });

  it('is repeated, not compounded, for the time of a pod start: 300 s, not 299 s after it', () => {
    const stepped = (seconds: number, ready: number): number =>
      decideOn({
        ready,
        state: { since, served: 143, stepAt: at(-seconds), stepTo: 20 },
        served: 300,
      }).desiredReplicas;

    // Its pods that became ready first would otherwise ask for 30.
    expect(stepped(299, 15)).toBe(22);
    expect(stepped(299, 12)).toBe(20);
    expect(stepped(300, 15)).toBe(30);
  });

  it('ends with the saturation', () => {
    const state = { since, served: 143, stepAt: at(-60), stepTo: 20 };

    expect(decideOn({ state, usage: 0.7 }).desiredReplicas).toBe(10);
    expect(stateAfter({ state, usage: 0.9 })).toEqual({ since: null, served: 143 });
    // At the target, what is served is the measure of the next rise; above it, only if there is none.
    expect(stateAfter({ state, usage: 0.7, served: 120 })).toEqual({ since: null, served: 120 });
    expect(stateAfter({ state, usage: 0.71, served: 120 })).toEqual({ since: null, served: 143 });
    expect(stateAfter({ state: {}, usage: 0.9, served: 120 })).toEqual({ since: null, served: 120 });
  });

  it('waits for a whole window after a pod became ready: 60 s, not 59 s', () => {
    expect(decideOn({ readyFor: 60 }).desiredReplicas).toBe(20);
    expect(decideOn({ readyFor: 59 }).desiredReplicas).toBeLessThan(20);
    expect(decideOn({ readyFor: 59 }).metrics[0]?.saturation?.why).toContain(
      'no saturation step until every ready pod has been ready for at least 60 s',
    );
    // The other pods were still at their limits.
    expect(stateAfter({ readyFor: 59 })).toEqual({ since, served: 100 });
    expect(stateAfter({ ready: 1, readyFor: 59 })).toEqual({ since: null, served: 100 });
  });

  it('needs limits, samples of all ready pods and a pod start', () => {
    const sample = { at: at(0), windowSeconds: 60, containers: { 'web-0': { app: 1 } }, served: 143 };

    expect(decideOn({ limit: null }).metrics[0]?.saturation?.why).toBe(
      'the usage in percent of the limits is unknown: pod web-0 has no cpu limit',
    );
    expect(stateAfter({ sample })).toEqual({ since: null, served: 100 });
    expect(decideOn({ podStart: {} }).desiredReplicas).toBe(15);
    expect(decideOn({ podStart: {}, podStartSeconds: 300 }).desiredReplicas).toBe(20);
    expect(decideOn({ podStart: {}, podStartSeconds: 302 }).desiredReplicas).toBe(15);
  });

  it('begins again after a sample that is missing, and a short cut', () => {
    const sample = { error: 'no series', kind: 'missing' };

    expect(stateAfter({ sample })).toEqual({ since: null, served: 100 });
    expect(stateAfter({ spec: { minReplicas: 12 } })).toEqual({ since: null, served: 100 });
  });

  it('is forgotten with the field', () => {
    expect(stateAfter({ hasStep: false })).toBeUndefined();
  });

  it('passes through maxReplicas and policies', () => {
    const behavior = { scaleUp: { policies: [{ type: 'Pods', value: 3, periodSeconds: 60 }] } };

    expect(decideOn({ spec: { maxReplicas: 18 } }).desiredReplicas).toBe(18);
    expect(decideOn({ spec: { behavior } }).desiredReplicas).toBe(13);
  });

  it('never lowers what the usage alone asks for, and takes any factor', () => {
    expect(decideOn({ factor: 1.2 }).desiredReplicas).toBe(15);
    expect(decideOn({ factor: 3, spec: { scaleUpLimitFactor: 4 } }).desiredReplicas).toBe(30);
  });

  it('survives the JSON of snapshot and state', () => {
    const snapshot = parseSnapshot(snapshotOf({ podStart: {}, podStartSeconds: 300 }));
    const again = parseSnapshot(JSON.parse(JSON.stringify(snapshotToJson(snapshot))));

    expect(again).toEqual(snapshot);
    expect(decide(again)).toEqual(decide(snapshot));
  });
});

describe('random saturation', () => {
  const inputs = fc.record({
    ready: fc.integer({ min: 1, max: 12 }),
    starting: fc.integer({ min: 0, max: 8 }),
    usage: fc.constantFrom(0.3, 0.7, 0.97, 0.98, 1, 1.02),
    served: fc.option(fc.constantFrom(0, 90, 111, 400)),
    readyFor: fc.constantFrom(10, 60, 600),
    factor: fc.constantFrom(1.1, 2, 10),
    state: fc.record({
      since: fc.option(fc.constantFrom(at(-10), at(-150), at(-900))),
      served: fc.option(fc.constantFrom(0, 100)),
    }),
    step: fc.option(
      fc.record({ stepAt: fc.constantFrom(at(-100), at(-301)), stepTo: fc.integer({ min: 1, max: 60 }) }),
    ),
    maxReplicas: fc.integer({ min: 1, max: 60 }),
  });

  it('never gives fewer replicas than without the field, and stays within maxReplicas', () => {
    fc.assert(
      fc.property(inputs, ({ state, step, maxReplicas, ...given }) => {
        const all = { ...given, state: { ...state, ...step }, spec: { maxReplicas } };
        const decision = decideOn(all);
        const without = decideOn({ ...all, hasStep: false });

        expect(decision.desiredReplicas).toBeGreaterThanOrEqual(without.desiredReplicas);
        expect(decision.desiredReplicas).toBeLessThanOrEqual(maxReplicas);
        expect({
          ...decision.state,
          saturation: undefined,
          recommendations: null,
          scaleEvents: null,
        }).toMatchObject({
          ...without.state,
          saturation: undefined,
          recommendations: null,
          scaleEvents: null,
          lastScaleUp: decision.state.lastScaleUp,
        });
      }),
      { numRuns: 500, seed: 20260103 },
    );
  });
});
