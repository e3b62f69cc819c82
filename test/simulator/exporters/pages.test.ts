import { describe, expect, it } from '@jest/globals';
import { constant } from '../../../src/simulator/controllers/load.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { WEB, pass, startCluster } from '../cluster.js';

async function page(simulator: Simulator, path: string): Promise<string> {
  const response = await fetch(simulator.exporterUrl + path);
  return response.status === 200 ? response.text() : `status ${response.status}`;
}

/** Returns the values of all series whose line contains each of the parts. */
function values(text: string, ...parts: readonly string[]): readonly number[] {
  const lines = text
    .split('\n')
    .filter((line) => !line.startsWith('#') && parts.every((part) => line.includes(part)));
  return lines.map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
}

const BUSY = { ...WEB, behavior: { load: constant(30), cpuSecondsPerRequest: 0.05, idleCores: 0 } };

describe('the exporters', () => {
  it('count cpu as the integral of usage: 30 requests a second on 3 pods at 50 ms is 5 core-seconds each in 10 s', async () => {
    const { simulator, clock } = await startCluster({ workloads: [BUSY] });

    await pass(clock, 10);
    const text = await page(simulator, '/cadvisor');

    const counters = values(text, 'container_cpu_usage_seconds_total', 'container="app"');
    expect(counters).toHaveLength(3);
    for (const counter of counters) expect(counter).toBeCloseTo(5);
    expect(values(text, 'container_cpu_usage_seconds_total', 'container=""')).toHaveLength(3);
    expect(values(text, 'container_memory_working_set_bytes', 'container="app"')[0]).toBe(128 * 1024 * 1024);
    expect(text).toContain(`{container="app",image="registry.example/app:1",namespace="shop",pod="`);
  });

  it('begin at 0 for a pod that was added later, and share the load again', async () => {
    const { simulator, clock } = await startCluster({ workloads: [BUSY] });
    simulator.setReplicas(WEB, 5);
    for (let second = 0; second < 15; second += 1) await pass(clock, 1);

    const counters = [...values(await page(simulator, '/cadvisor'), 'cpu_usage', 'container="app"')].sort(
      (a, b) => a - b,
    );

    expect(counters).toHaveLength(5);
    // Ready after 5.02 s; the others had 0.5 cores until then and 0.3 cores after.
    expect(counters[0]).toBeCloseTo(2.99, 1);
    expect(counters[4]).toBeCloseTo(5.5, 1);
  });

  it('have the requests of each pod on its own page, which is removed with the pod', async () => {
    const { simulator, clock } = await startCluster({ workloads: [BUSY] });
    const pods = simulator.describe(WEB).pods;
    await pass(clock, 10);

    const text = await page(simulator, `/pods/shop/${pods[0] ?? ''}`);
    expect(values(text, 'http_requests_total', 'code="200"')[0]).toBeCloseTo(100);

    simulator.setReplicas(WEB, 0);
    await pass(clock, 1);
    await pass(clock, 3);
    expect(await page(simulator, `/pods/shop/${pods[0] ?? ''}`)).toBe('status 404');
    expect(values(await page(simulator, '/cadvisor'), 'container_cpu')).toEqual([]);
  });

  it('list the current pages in http_sd', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    const targets = async (sort: string) =>
      (await fetch(simulator.sdUrl + sort)).json() as Promise<readonly { readonly labels: object }[]>;

    expect(await targets('/cadvisor')).toMatchObject([
      { labels: { job: 'cadvisor', __metrics_path__: '/cadvisor' } },
    ]);
    expect(await targets('/pods')).toHaveLength(3);
    expect(await targets('')).toHaveLength(6);
    simulator.setReplicas(WEB, 1);
    await pass(clock, 1);
    await pass(clock, 3);
    expect(await targets('/pods')).toMatchObject([
      { labels: { job: 'pods', namespace: 'shop', pod: simulator.describe(WEB).pods[0] } },
    ]);
  });

  it('show the backlog of a queue: 30 messages a second, 2 pods at 10 each', async () => {
    const behavior = {
      queue: 'orders',
      load: constant(30),
      requestsPerSecondPerPod: 10,
      cpuSecondsPerRequest: 0.01,
    };
    const { simulator, clock } = await startCluster({ workloads: [{ ...WEB, replicas: 2, behavior }] });

    await pass(clock, 10);

    expect(
      values(await page(simulator, '/queues'), 'rabbitmq_queue_messages{namespace="shop",queue="orders"}')[0],
    ).toBeCloseTo(100);
  });

  it('begin a new curve at its second 0', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    await pass(clock, 100);

    simulator.setLoad(WEB, (seconds) => (seconds < 10 ? 30 : 0));
    await pass(clock, 5);

    expect(simulator.describe(WEB).requestsPerSecondPerPod).toBeCloseTo(10);
  });

  it('fail on request', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const [first = ''] = simulator.describe(WEB).pods;

    simulator.exporterFaults.failingPods.add(`shop/${first}`);
    expect(await page(simulator, `/pods/shop/${first}`)).toBe('status 503');
    simulator.exporterFaults.isDown = true;
    expect(await page(simulator, '/cadvisor')).toBe('status 503');
  });
});
