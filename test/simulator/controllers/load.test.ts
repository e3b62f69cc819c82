import { describe, expect, it } from '@jest/globals';
import { constant, type LoadSource, NO_LOAD, advanceLoad } from '../../../src/simulator/controllers/load.js';

const SOURCE: LoadSource = {
  kind: 'requests',
  curve: constant(30),
  capacity: { cpuSecondsPerRequest: 0.05, requestsPerSecondPerPod: 100, idleCores: 0.1, cpuLimitCores: 2 },
};

describe('the load of requests', () => {
  it('shares 30 requests per second among 3 pods: 10 x 0.05 + 0.1 = 0.6 cores, for 20 s', () => {
    const load = advanceLoad(SOURCE, NO_LOAD, 20, 3);

    expect(load.cores).toBeCloseTo(0.6);
    expect(load.totals.cpuSeconds).toBeCloseTo(12);
    expect(load.totals.requests).toBeCloseTo(200);
    expect(load.totals.failedRequests).toBe(0);
  });

  it('caps the cpu of one pod at the limit of 1 core and fails the rest: 30 requested, 18 served', () => {
    const capacity = { ...SOURCE.capacity, cpuLimitCores: 1 };

    const load = advanceLoad({ ...SOURCE, capacity }, NO_LOAD, 10, 1);

    expect(load.cores).toBeCloseTo(1);
    expect(load.totals.requests).toBeCloseTo(300);
    expect(load.totals.failedRequests).toBeCloseTo(120);
  });

  it('serves no requests without ready pods', () => {
    expect(advanceLoad(SOURCE, NO_LOAD, 10, 0).totals).toMatchObject({ requests: 0 });
  });

  it('has the same sums in one step and in many, with a rising curve', () => {
    const rising = { ...SOURCE, curve: (seconds: number) => seconds };

    const once = advanceLoad(rising, NO_LOAD, 10, 1);
    let often = NO_LOAD;
    for (let t = 0.25; t <= 10; t += 0.25) often = advanceLoad(rising, often, t, 1);

    expect(once.totals.requests).toBeCloseTo(50);
    expect(often.totals.requests).toBeCloseTo(50);
  });
});

describe('the load of a queue', () => {
  const QUEUE: LoadSource = {
    kind: 'queue',
    curve: constant(30),
    capacity: { ...SOURCE.capacity, requestsPerSecondPerPod: 10, cpuSecondsPerRequest: 0.01 },
  };

  it('grows by the part of 30 that 2 pods at 10 per second do not consume: 100 after 10 s', () => {
    expect(advanceLoad(QUEUE, NO_LOAD, 10, 2).backlog).toBeCloseTo(100);
  });

  it('shrinks with 5 pods and never falls below 0', () => {
    const full = { ...NO_LOAD, backlog: 50 };

    expect(advanceLoad(QUEUE, full, 2, 5).backlog).toBeCloseTo(10);
    expect(advanceLoad(QUEUE, full, 20, 5).backlog).toBe(0);
  });
});
