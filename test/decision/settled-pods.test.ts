import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide } from '../../src/decision/decide.js';
import { proposalContext } from '../../src/decision/proposals/context.js';
import type { PodMetric } from '../../src/decision/proposals/context.js';
import { proposeFromPods } from '../../src/decision/proposals/pod-metrics.js';
import { PodFacts } from '../../src/decision/proposals/settled-pods.js';
import { EMPTY_STATE, listUsage } from '../../src/decision/snapshot/snapshot.js';
import type {
  ContainersSample,
  Pod,
  PodsSample,
  Snapshot,
  State,
} from '../../src/decision/snapshot/snapshot.js';
import type { Scaler } from '../../src/scaler/spec.js';
import { T0, aScaler, at } from '../support/builders.js';

const CPU: PodMetric = {
  type: 'Resource',
  name: 'cpu',
  identity: 'cpu',
  source: 'default',
  target: { type: 'Utilization', percent: 60 },
};
const MEMORY: PodMetric = {
  ...CPU,
  name: 'memory',
  identity: 'memory',
  target: { type: 'AverageValue', milli: 700n },
};
const OF_APP: PodMetric = { ...CPU, type: 'ContainerResource', container: 'app', identity: 'cpu of app' };
const REQUESTS: PodMetric = {
  type: 'Pods',
  name: 'requests',
  identity: 'requests',
  source: 'default',
  target: { type: 'AverageValue', milli: 10_000n },
  query: 'sum by (pod) (x)',
  selector: [],
};

/** One value of `rare` in twenty. */
function mostly<T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 19, arbitrary: usual }, { weight: 1, arbitrary: rare });
}

/** What running pods have, and the edges of exact numbers. */
const value = mostly<number>(
  fc.oneof(fc.double({ min: 0, max: 3, noNaN: true }), fc.integer({ min: 0, max: 5 })),
  fc.constantFrom(0, -0, 0.0001, 0.0005, 9e12, 9_007_199_254_740, 9_007_199_254_741, 9e15, 1e18, 1e300),
);

const quantity = mostly(
  fc.constantFrom(500n, 333n, 1n),
  fc.constantFrom(0n, 9_007_199_254_740_991n, 2n ** 62n),
);
const requests = mostly<Readonly<Record<string, bigint>>>(
  fc.tuple(quantity, quantity).map(([cpu, memory]) => ({ cpu, memory })),
  fc.constantFrom({}, { memory: 1n }),
);

/** Most pods run and are ready. Some began about when cpu initialization (300 s) or warmup (60 s) ends. */
const pod = fc.record({
  phase: mostly<Pod['phase']>(
    fc.constant('Running'),
    fc.constantFrom('Pending', 'Succeeded', 'Failed', 'Unknown'),
  ),
  deleting: mostly(fc.constant(false), fc.constant(true)),
  startTime: mostly<number | null>(
    fc.constantFrom(-900, -361, -360),
    fc.constantFrom(-359, -301, -300, -299, -60, null),
  ),
  ready: mostly<boolean | null>(fc.constant(true), fc.constantFrom(false, null)),
  readyChangedAt: fc.constantFrom<(number | null)[]>(-890, -301, -100, -10, null),
  app: requests,
  proxy: fc.option(requests, { freq: 3 }),
  usage: fc.option(fc.tuple(value, fc.option(value)), { freq: 20 }),
  name: mostly<string | null>(fc.constant(null), fc.constantFrom('twin', 'web-0')),
});

type Drawn = typeof pod extends fc.Arbitrary<infer T> ? T : never;

const fixture = fc.record({
  pods: fc.array(pod, { maxLength: 4 }),
  metric: fc.constantFrom(CPU, MEMORY, OF_APP, REQUESTS),
  podWarmupSeconds: fc.constantFrom(0, 60),
  specReplicas: fc.integer({ min: 1, max: 9 }),
  stranger: mostly<number | null>(fc.constant(null), value),
  sampledAt: fc.constantFrom(-60, -15, 0),
  windowSeconds: fc.constantFrom(0, 120),
});

type Fixture = typeof fixture extends fc.Arbitrary<infer T> ? T : never;

const instantOrNull = (seconds: number | null) => (seconds === null ? null : at(seconds));

function podOf(
  { phase, deleting, ready, startTime, readyChangedAt, app, proxy, name }: Drawn,
  index: number,
): Pod {
  const asMap = (amounts: Readonly<Record<string, bigint>>) => new Map(Object.entries(amounts));
  return {
    name: name ?? `web-${index}`,
    phase,
    deleting,
    ready,
    startTime: instantOrNull(startTime),
    readyChangedAt: instantOrNull(readyChangedAt),
    requests: new Map([['app', asMap(app)], ...(proxy === null ? [] : [['proxy', asMap(proxy)] as const])]),
    podRequests: null,
  };
}

function sampleOf(drawn: Fixture, pods: readonly Pod[]): ContainersSample | PodsSample {
  const common = { at: at(drawn.sampledAt), windowSeconds: drawn.windowSeconds, partial: null };
  const usages = pods.flatMap(({ name }, index) => {
    const usage = drawn.pods[index]?.usage ?? null;
    return usage === null ? [] : [[name, usage] as const];
  });
  const all = [...usages, ...(drawn.stranger === null ? [] : [['other-0', [drawn.stranger, null]] as const])];
  if (drawn.metric.type === 'Pods') {
    const byPod = new Map(all.map(([name, [app]]) => [name, app]));
    return { ...common, form: 'pods', pods: [...byPod.keys()], values: [...byPod.values()] };
  }
  const containers = all.map(([name, [app, proxy]]) => {
    return [name, new Map([['app', app], ...(proxy === null ? [] : [['proxy', proxy] as const])])] as const;
  });
  return { ...common, form: 'containers', ...listUsage(new Map(containers)) };
}

const scalers = new Map<string, Scaler>();

function scalerFor({ metric, podWarmupSeconds }: Fixture): Scaler {
  const key = `${metric.identity} ${podWarmupSeconds}`;
  const bare = aScaler([metric]);
  const scaler = scalers.get(key) ?? { ...bare, spec: { ...bare.spec, podWarmupSeconds } };
  scalers.set(key, scaler);
  return scaler;
}

function snapshotOf(drawn: Fixture, pods: readonly Pod[] = drawn.pods.map(podOf)): Snapshot {
  return {
    scaler: scalerFor(drawn),
    now: T0,
    target: { specReplicas: drawn.specReplicas, statusReplicas: drawn.specReplicas },
    pods,
    samples: [sampleOf(drawn, pods)],
    state: EMPTY_STATE,
  };
}

function reversed(sample: ContainersSample | PodsSample): ContainersSample | PodsSample {
  const pods = sample.pods.toReversed();
  if (sample.form === 'pods') return { ...sample, pods, values: sample.values.toReversed() };
  const { starts, containers, values } = sample;
  const usage = pods.map((pod, index) => {
    const [start, end] = starts
      .toReversed()
      .slice(index, index + 2)
      .toReversed();
    const names = containers.slice(start, end);
    return [pod, new Map(names.map((name, offset) => [name, values[(start ?? 0) + offset] ?? NaN]))] as const;
  });
  return { ...sample, ...listUsage(new Map(usage)) };
}

/** Lets every pod be counted on its own. */
class UnknownFacts extends PodFacts {
  override get settled(): null {
    return null;
  }
}

describe('a list of settled pods', () => {
  it('has the proposal of its pods counted one by one, in any order of the sample; at least 200 of 2,000 drawn lists are settled', () => {
    let settled = 0;
    fc.assert(
      fc.property(fixture, (drawn) => {
        const snapshot = snapshotOf(drawn);
        const sample = sampleOf(drawn, snapshot.pods);
        const context = proposalContext(snapshot);
        if (context.podFacts.settled !== null) settled += 1;

        const proposal = proposeFromPods(drawn.metric, sample, context);

        const podFacts = new UnknownFacts(snapshot.pods);
        expect(proposeFromPods(drawn.metric, reversed(sample), context)).toEqual(proposal);
        expect(proposeFromPods(drawn.metric, sample, { ...context, podFacts })).toEqual(proposal);
      }),
      { numRuns: 2000, seed: 20260101 },
    );
    expect(settled).toBeGreaterThan(200);
  });
});

describe('a sequence of decisions on the same lists of pods', () => {
  it('equals decisions on copies of them, whatever changes in between', () => {
    const step = fc.record({
      fixture,
      seconds: fc.integer({ min: -400, max: 400 }),
      keeps: fc.boolean(),
      // False: the facts are those of an earlier list.
      knows: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 8 }), (steps) => {
        let pods: readonly Pod[] = [];
        let state: State = EMPTY_STATE;
        let now = T0;
        let facts = new PodFacts(pods);
        for (const { fixture: drawn, seconds, keeps, knows } of steps) {
          if (!keeps) pods = drawn.pods.map(podOf);
          if (knows && facts.pods !== pods) facts = new PodFacts(pods);
          now = at((now - T0) / 1000 + seconds);
          const snapshot = { ...snapshotOf(drawn, pods), now, state };

          const decision = decide(snapshot, facts);

          expect(decision).toEqual(decide({ ...snapshot, pods: structuredClone(pods) }));
          state = decision.state;
        }
      }),
      { numRuns: 300, seed: 20260101 },
    );
  });
});
