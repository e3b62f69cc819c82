import { describe, expect, it } from '@jest/globals';
import { podStartOf } from '../../../src/backtest/simulation/settings.js';
import { traceModels, traceRequests } from '../../../src/backtest/simulation/trace-models.js';
import { createWorkload } from '../../../src/backtest/simulation/workload.js';
import { addSeconds } from '../../../src/units/time.js';
import {
  CPU_80,
  CPU_80_WITH_STEP,
  expectedWait,
  loadOf,
  QUEUE_ASSUMPTIONS,
  QUEUE_CAPACITY,
  QUEUE_LOAD,
  QUEUE_POLICIES,
  recoveryOf,
  runOn,
  STEP,
  withBacklog,
} from './slow-starts.js';

describe('pods at 100 % of their cpu hide demand: a step from 9.5 to 39.5 pods of load, target 80 %', () => {
  it.each([
    [30, 600, 168],
    [120, 1140, 324],
    [300, 2925, 849],
  ])(
    'with pods that start in %d s is carried after %d s, with %d pod-minutes lost (within 5 %%)',
    async (seconds, carriedSeconds, lostPodMinutes) => {
      const { run } = await runOn(STEP, CPU_80, {
        capacity: 1,
        initialReplicas: 12,
        podStart: podStartOf(seconds),
      });
      const recovery = recoveryOf(run);

      expect(recovery.carriedSeconds / carriedSeconds).toBeGreaterThan(0.95);
      expect(recovery.carriedSeconds / carriedSeconds).toBeLessThan(1.05);
      expect(recovery.lostPodMinutes / lostPodMinutes).toBeGreaterThan(0.95);
      expect(recovery.lostPodMinutes / lostPodMinutes).toBeLessThan(1.05);
    },
  );
});

describe('the same step with the step for usage at its limit', () => {
  it.each([
    [30, 285, 99],
    [120, 450, 158],
    [300, 900, 327],
  ])(
    'with pods that start in %d s is carried within %d s, with %d pod-minutes lost (within 5 %%)',
    async (seconds, carriedSeconds, lostPodMinutes) => {
      const { run, figures } = await runOn(STEP, CPU_80_WITH_STEP, {
        capacity: 1,
        initialReplicas: 12,
        podStart: podStartOf(seconds),
      });
      const recovery = recoveryOf(run);

      expect(recovery.carriedSeconds).toBeLessThanOrEqual(carriedSeconds);
      expect(Math.abs(recovery.lostPodMinutes / lostPodMinutes - 1)).toBeLessThan(0.05);
      expect(figures.peakPods).toBeLessThanOrEqual(56);
    },
  );
});

describe('a queue in the loop is not proportional: 8 to 64 per second, 8 pods needed, pods start in 120 s', () => {
  it.each([
    [0, 100, 59.8, 101],
    [1, 13, 6.0, 294],
    [2, 8, 6.1, 24],
    [3, 18, 7.3, 18],
  ])(
    'policy %d has at most %d pods (within 1), %d pod-hours and a mean expected wait of %d s (within 5 %%)',
    async (number, pods, podHours, wait) => {
      const policy = QUEUE_POLICIES[number];
      if (policy === undefined) throw new Error(`no policy ${number}`);
      const { run, figures } = await runOn(QUEUE_LOAD, policy.scaler, {
        ...QUEUE_ASSUMPTIONS,
        podStart: podStartOf(120),
        measures: new Map([['queue', policy.measure]]),
      });
      const found = { podHours: figures.podHours / podHours, wait: expectedWait(run, QUEUE_CAPACITY) / wait };

      expect(Math.abs(figures.peakPods - pods)).toBeLessThanOrEqual(1);
      expect(found.podHours).toBeGreaterThan(0.95);
      expect(found.podHours).toBeLessThan(1.05);
      expect(found.wait).toBeGreaterThan(0.95);
      expect(found.wait).toBeLessThan(1.05);
      expect(figures.queue?.lost).toBe(0);
    },
  );
});

describe('a document with `backlog`, on the same queue', () => {
  const assumptions = { ...QUEUE_ASSUMPTIONS, podStart: podStartOf(120) };

  it('has the policy of rate and backlog without `podStart`', async () => {
    const { run, figures } = await runOn(QUEUE_LOAD, withBacklog(null), assumptions);

    expect(Math.abs(figures.peakPods - 18)).toBeLessThanOrEqual(1);
    expect(Math.abs(figures.podHours / 7.3 - 1)).toBeLessThan(0.05);
    expect(Math.abs(expectedWait(run, QUEUE_CAPACITY) / 18 - 1)).toBeLessThan(0.05);
  });

  it('has at most 12 pods with `podStart`, 1.5 times the need, and about the same waits', async () => {
    const { run, figures } = await runOn(QUEUE_LOAD, withBacklog({}), assumptions);

    expect(figures.peakPods).toBe(12);
    expect(figures.podHours).toBeLessThan(6.7);
    expect(expectedWait(run, QUEUE_CAPACITY)).toBeLessThan(19);
  });
});

describe('the same document with `capacity`, which is what a pod serves, on the same queue', () => {
  it.each([
    [30, 9],
    [120, 10],
    [300, 12],
    [600, 12],
  ])(
    'with pods that start in %d s has at most %d pods: 1.5 times the need of 8, or less',
    async (seconds, pods) => {
      const scaler = withBacklog({}, { capacity: { query: 'max(served_per_pod)' } });
      const { figures } = await runOn(QUEUE_LOAD, scaler, {
        ...QUEUE_ASSUMPTIONS,
        podStart: podStartOf(seconds),
      });

      expect(figures.peakPods).toBe(pods);
      expect(figures.queue?.lost).toBe(0);
    },
  );
});

describe('with a queue', () => {
  it('cpu shows what is served, not what arrives: 100 % until the backlog is gone, 10 minutes after a peak', () => {
    const utilizations: number[] = [];
    const load = loadOf([
      [600, 2],
      [1200, 0],
    ]);
    const settings = { usageAtCapacityPercent: 100, resourceWindowSeconds: 60, scrapeIntervalSeconds: 15 };
    const built = traceModels(CPU_80, load, { capacity: 1, ...settings });
    if ('error' in built) throw new Error(built.error);
    const workload = createWorkload(CPU_80, {
      start: load.start,
      end: load.end,
      models: built.models,
      initialReplicas: 1,
      podStart: podStartOf(30),
      scrapeIntervalSeconds: 15,
      requests: traceRequests(CPU_80),
      queue: { ...QUEUE_ASSUMPTIONS.queue, load, capacity: 1 },
    });
    for (const seconds of [300, 900, 1190, 1300]) {
      const now = addSeconds(load.start, seconds);
      workload.advanceTo(now);
      const [sample] = workload.observe(now).samples;
      if (sample?.form === 'containers') utilizations.push(sample.values[0] ?? NaN);
    }

    expect(utilizations.map((value) => Number(value.toFixed(6)))).toEqual([1, 1, 1, 0]);
  });
});
