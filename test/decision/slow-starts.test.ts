import { describe, expect, it } from '@jest/globals';
import { decide } from '../../src/decision/decide.js';
import { decisionToJson } from '../../src/decision/result/write-json.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { aDocument } from '../support/builders.js';

const T0 = Date.parse('2026-01-01T00:00:00Z');
const PERIOD = 15;

function at(seconds: number): string {
  return new Date(T0 + seconds * 1000).toISOString();
}

interface SimulatedPod {
  readonly name: string;
  readonly createdAt: number;
  readonly readyAt: number;
}

/** The pods of a workload that start in the same time. A scale-down removes the youngest. */
function createPods(count: number, startSeconds: number) {
  let pods: SimulatedPod[] = Array.from({ length: count }, (_, index) => ({
    name: `web-${index}`,
    createdAt: -4000,
    readyAt: -3900,
  }));
  let next = count;
  return {
    scaleTo: (replicas: number, now: number): void => {
      pods = pods.slice(0, replicas);
      while (pods.length < replicas)
        pods.push({ name: `web-${next++}`, createdAt: now, readyAt: now + startSeconds });
    },
    ready: (now: number): number => pods.filter(({ readyAt }) => readyAt <= now).length,
    all: (now: number): readonly object[] =>
      pods.map(({ name, createdAt, readyAt }) => ({
        name,
        phase: readyAt <= now ? 'Running' : 'Pending',
        startTime: at(createdAt),
        ready: readyAt <= now,
        readyChangedAt: at(readyAt <= now ? readyAt : createdAt),
        requests: { app: { cpu: '1' } },
        cpuLimit: '1',
      })),
    readyNames: (now: number): readonly string[] =>
      pods.filter(({ readyAt }) => readyAt <= now).map(({ name }) => name),
    count: (): number => pods.length,
  };
}

interface QueueResult {
  readonly mostPods: number;
  readonly meanWaitSeconds: number;
  readonly podHours: number;
  readonly backlogAtEnd: number;
}

/** A fluid queue from 8 to 64 per second at 300 s, with pods that do 10 per second and start in 120 s. */
function runQueue(metric: object, spec: object = {}): QueueResult {
  const document = aDocument({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 100,
    metrics: [{ external: { metric: { name: 'jobs' }, query: 'sum(rate(jobs[1m]))', ...metric } }],
    ...spec,
  });
  const pods = createPods(1, 120);
  const end = 3900;
  let [backlog, waited, arrived, podSeconds, mostPods] = [0, 0, 0, 0, 0];
  const arrivals: number[] = Array.from({ length: 60 }, () => 8);
  let state: unknown = { recommendations: [] };
  for (let now = 0; now < end; now += 1) {
    const rate = now < 300 ? 8 : 64;
    arrivals.push(rate);
    arrived += rate;
    backlog = Math.max(0, backlog + rate - 10 * pods.ready(now));
    waited += backlog;
    podSeconds += pods.count();
    if (now % PERIOD !== 0) continue;
    const mean = arrivals.slice(-60).reduce((sum, one) => sum + one, 0) / 60;
    const decision = decide(
      parseSnapshot({
        scaler: document,
        now: at(now),
        target: { specReplicas: pods.count() },
        pods: pods.all(now),
        samples: [{ at: at(now), values: [mean], ...('backlog' in metric ? { backlog } : {}) }],
        podStartSeconds: 120,
        state,
      }),
    );
    state = decisionToJson(decision)['state'];
    pods.scaleTo(decision.desiredReplicas, now);
    mostPods = Math.max(mostPods, pods.count());
  }
  return { mostPods, meanWaitSeconds: waited / arrived, podHours: podSeconds / 3600, backlogAtEnd: backlog };
}

describe('a queue from 8 to 64 jobs per second with pods that start in 120 s, of which 8 are needed', () => {
  const target = { averageValue: 8 };
  const backlog = { query: 'sum(waiting)', drainSeconds: 60 };

  it('has 13 pods instead of 23 if the document uses the time in which pods start', () => {
    const without = runQueue({ target, backlog });
    const withStart = runQueue({ target, backlog }, { podStart: {} });

    expect([without.mostPods, withStart.mostPods]).toEqual([23, 13]);
    expect(withStart.backlogAtEnd).toBe(0);
    expect(withStart.podHours).toBeLessThan(without.podHours);
  });

  it('waits half as long on average as with the rate alone', () => {
    const ofRate = runQueue({ target });
    const withStart = runQueue({ target, backlog }, { podStart: {} });

    expect(withStart.meanWaitSeconds).toBeLessThan(ofRate.meanWaitSeconds / 2);
  });
});

/** Returns when ready pods carry a load, in cores, that a step raised from 10 to 40 at 300 s; null: not within 85 minutes. */
function runStep(
  hasStep: boolean,
  isSpinning = false,
): { readonly carried: number | null; readonly most: number } {
  const saturation = { served: { query: 'sum(rate(served[1m]))' } };
  const document = aDocument({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 100,
    podStart: {},
    metrics: [
      {
        resource: {
          name: 'cpu',
          target: { averageUtilization: 80 },
          ...(hasStep ? { saturation } : {}),
        },
      },
    ],
  });
  const pods = createPods(13, 300);
  const history: { readonly served: number; readonly usage: number }[] = [];
  let state: unknown = { recommendations: [] };
  let most = 0;
  for (let now = 0; now < 5400; now += 1) {
    const load = now < 300 ? 10 : 40;
    const ready = pods.ready(now);
    const isBurning = isSpinning && now >= 300;
    history.push({
      // Pods that spin serve what they have always served, however many there are.
      served: isBurning ? 10 : Math.min(load, ready),
      usage: isBurning ? 1 : Math.min(1, load / ready),
    });
    if (!isSpinning && now >= 300 && ready >= load) return { carried: now - 300, most };
    if (now % PERIOD !== 0 || now < 120) continue;
    const recent = history.slice(-121, -1);
    const mean = (of: 'served' | 'usage'): number =>
      recent.reduce((sum, one) => sum + one[of], 0) / recent.length;
    const decision = decide(
      parseSnapshot({
        scaler: document,
        now: at(now),
        target: { specReplicas: pods.count() },
        pods: pods.all(now),
        samples: [
          {
            at: at(now),
            windowSeconds: 120,
            containers: Object.fromEntries(
              pods.readyNames(now).map((name) => [name, { app: mean('usage') }]),
            ),
            served: mean('served'),
          },
        ],
        podStartSeconds: 300,
        state,
      }),
    );
    state = decisionToJson(decision)['state'];
    pods.scaleTo(decision.desiredReplicas, now);
    most = Math.max(most, pods.count());
  }
  return { carried: null, most };
}

describe('a step from 10 to 40 cores with pods that start in 300 s', () => {
  it('is carried after 990 s instead of 1,875 s with a saturation step, by at most 52 pods', () => {
    const without = runStep(false);
    const withStep = runStep(true);

    expect(without).toEqual({ carried: 1875, most: 48 });
    // 40 cores at a target of 80 % need 50 pods.
    expect(withStep).toEqual({ carried: 990, most: 52 });
  });

  it('is no reason for a step if the pods spin and serve no more', () => {
    expect(runStep(true, true).most).toBe(runStep(false, true).most);
  });
});
