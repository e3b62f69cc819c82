import { describe, expect, it } from '@jest/globals';
import {
  nextChangeAt,
  phaseOf,
  type Pods,
  type WorkloadSpec,
  settledPods,
  stepWorkload,
} from '../../../src/simulator/controllers/step-workload.js';
import { seededRandom } from '../../../src/simulator/objects/names.js';
import { instantFromMs } from '../../../src/units/time.js';

const SPEC: WorkloadSpec = {
  name: 'web',
  order: 'rolling',
  replicas: 4,
  revision: 'r1',
  isRevisionNamed: true,
  maxSurge: 1,
  maxUnavailable: 1,
  isPaused: false,
  timing: { startSeconds: 2, readySeconds: 3, terminationSeconds: 2, jitterRatio: 0 },
};

/** A workload in simulated seconds; steps only when something is due, as the controllers do. */
function simulateWorkload(first: WorkloadSpec) {
  const random = seededRandom(0.5);
  let pods: Pods = settledPods(first, instantFromMs(0), 100, random);
  let now = instantFromMs(0);
  const at = (second: number) => instantFromMs(second * 1000);
  return {
    step: (spec: WorkloadSpec, second: number): void => {
      now = at(second);
      pods = stepWorkload(spec, pods, now, random);
    },
    runUntil: (spec: WorkloadSpec, second: number, look: (pods: Pods, second: number) => void): void => {
      for (let next = 0; next <= second; next = nextChangeAt(pods, now) / 1000) {
        now = at(next);
        pods = stepWorkload(spec, pods, now, random);
        look(pods, next);
      }
    },
    count: (phase: string, second: number): number =>
      pods.filter((pod) => phaseOf(pod, at(second)) === phase).length,
    names: () => pods.map((pod) => pod.name).sort(),
    get nextAt() {
      return nextChangeAt(pods, now);
    },
  };
}

describe('a rolling workload', () => {
  it('creates pods that start after 2 s and are ready after 3 s more', () => {
    const web = simulateWorkload({ ...SPEC, replicas: 0 });

    web.step(SPEC, 0);
    expect([web.count('pending', 1.999), web.count('starting', 2)]).toEqual([4, 4]);
    expect([web.count('starting', 4.999), web.count('ready', 5)]).toEqual([4, 4]);
    expect(web.nextAt).toBe(2000);
  });

  it('ends pods on a scale-down: at once not ready, deleted after 2 s', () => {
    const web = simulateWorkload(SPEC);

    web.step({ ...SPEC, replicas: 1 }, 10);

    expect([web.count('ready', 10), web.count('terminating', 11.999), web.count('terminating', 12)]).toEqual([
      1, 3, 0,
    ]);
  });

  it('names pods after workload and template with five letters', () => {
    expect(simulateWorkload(SPEC).names()[0]).toMatch(/^web-r1-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(simulateWorkload({ ...SPEC, isRevisionNamed: false }).names()[0]).toMatch(/^web-[a-z0-9]{5}$/);
  });

  it('rolls over to a new template with at most 5 pods and at least 3 ready of 4', () => {
    const web = simulateWorkload(SPEC);
    const next = { ...SPEC, revision: 'r2' };
    let most = 0;
    let fewest = 4;

    web.runUntil(next, 60, (pods, second) => {
      const now = instantFromMs(second * 1000);
      most = Math.max(most, pods.filter((pod) => pod.deletedAt === null).length);
      fewest = Math.min(fewest, pods.filter((pod) => phaseOf(pod, now) === 'ready').length);
    });

    expect([most, fewest]).toEqual([5, 3]);
    expect(web.names().every((name) => name.startsWith('web-r2-'))).toBe(true);
    expect(web.names()).toHaveLength(4);
  });

  it('keeps the old pods while new ones never become ready, except one that may be unavailable', () => {
    const web = simulateWorkload(SPEC);
    const next = {
      ...SPEC,
      revision: 'r2',
      timing: { ...SPEC.timing, readySeconds: Number.POSITIVE_INFINITY },
    };

    web.runUntil(next, 60, () => undefined);

    expect(web.names().filter((name) => name.startsWith('web-r1-'))).toHaveLength(3);
    expect(web.count('ready', 60)).toBe(3);
  });

  it('changes no pod of another template while it is paused', () => {
    const web = simulateWorkload(SPEC);
    const before = web.names();

    web.step({ ...SPEC, revision: 'r2', isPaused: true }, 1);

    expect(web.names()).toEqual(before);
  });

  it('ends the pod with the lowest deletion cost first among ready ones', () => {
    const pods = settledPods(SPEC, instantFromMs(0), 100, seededRandom(0)).map((pod, i) => ({
      ...pod,
      deletionCost: i === 2 ? -1 : 0,
    }));

    const after = stepWorkload({ ...SPEC, replicas: 3 }, pods, instantFromMs(1000), seededRandom(0));

    expect(after.map((pod) => pod.deletedAt !== null)).toEqual([false, false, true, false]);
  });
});

describe('an ordered workload', () => {
  const DB: WorkloadSpec = { ...SPEC, name: 'db', order: 'ordered', replicas: 2 };

  it('adds db-2 only when db-1 is ready, and ends the highest first', () => {
    const db = simulateWorkload({ ...DB, replicas: 1 });

    db.step({ ...DB, replicas: 3 }, 0);
    expect(db.names()).toEqual(['db-0', 'db-1']);
    db.step({ ...DB, replicas: 3 }, 5);
    expect(db.names()).toEqual(['db-0', 'db-1', 'db-2']);
    db.step({ ...DB, replicas: 1 }, 10);
    expect(db.count('terminating', 10)).toBe(1);
    db.step({ ...DB, replicas: 1 }, 12);
    db.step({ ...DB, replicas: 1 }, 14);
    expect(db.names()).toEqual(['db-0']);
  });

  it('replaces its pods from the highest, one after another', () => {
    const db = simulateWorkload(DB);
    const order: number[] = [];

    db.runUntil({ ...DB, revision: 'r2' }, 60, (pods) => {
      const ending = pods.find((pod) => pod.deletedAt !== null);
      if (ending !== undefined && order.at(-1) !== ending.ordinal) order.push(ending.ordinal);
    });

    expect(order).toEqual([1, 0]);
    expect(db.names()).toEqual(['db-0', 'db-1']);
  });
});
