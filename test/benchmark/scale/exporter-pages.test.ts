import { describe, expect, it } from '@jest/globals';
import { createExporterPages } from './exporter-pages.js';
import { createSimulationClock } from './simulation-clock.js';
import { createSimulation } from './simulation.js';
import type { SimulationSize } from './workloads.js';

/** Names, labels and value, as the text format has them. */
const LINE = /^([a-z_]+)\{((?:[a-z_]+="[^"\\]*",?)*)\} (\d+(?:\.\d+)?)$/;

function start(size: SimulationSize) {
  let nowMs = Date.UTC(2026, 2, 1);
  const clock = createSimulationClock(() => nowMs);
  const simulation = createSimulation(size, clock);
  const pages = createExporterPages(simulation, clock);
  const pass = (seconds: number): void => {
    nowMs += seconds * 1000;
    clock.tick();
  };
  return { simulation, pages, pass };
}

function valuesOn(page: string | null, ...parts: readonly string[]): readonly number[] {
  return (page ?? '')
    .split('\n')
    .filter((line) => !line.startsWith('#') && line !== '' && parts.every((part) => line.includes(part)))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
}

describe('the pages of the exporter', () => {
  it('hold 5,000 pods each, and the rest', () => {
    const { pages } = start({ scalers: 501, pods: 10 });

    expect(pages.count).toBe(2);
    expect(valuesOn(pages.page(0), 'container_memory_working_set_bytes')).toHaveLength(5000);
    expect(valuesOn(pages.page(1), 'container_memory_working_set_bytes')).toHaveLength(10);
    expect(pages.page(2)).toBeNull();
  });

  it('are in the text format, one group for each metric, no series twice', () => {
    const { pages } = start({ scalers: 8, pods: 2 });

    const lines = (pages.page(0) ?? '').trimEnd().split('\n');
    const types = lines.filter((line) => line.startsWith('#'));
    expect(types).toEqual([
      '# TYPE container_cpu_usage_seconds_total counter',
      '# TYPE container_memory_working_set_bytes gauge',
      '# TYPE kube_pod_container_resource_requests gauge',
      '# TYPE http_requests_total counter',
    ]);
    const series = lines.filter((line) => !line.startsWith('#'));
    for (const line of series) expect(line).toMatch(LINE);
    const names = series.map((line) => LINE.exec(line)?.[1]);
    expect(names.filter((name, index) => name !== names[index - 1])).toHaveLength(4);
    expect(new Set(series.map((line) => line.slice(0, line.lastIndexOf(' ')))).size).toBe(series.length);
    // Four for each pod, and requests for those of half of the workloads.
    expect(series).toHaveLength(4 * 16 + 8);
    expect(valuesOn(pages.page(0), 'kube_pod_container_resource_requests')).toEqual(Array(16).fill(0.5));
  });

  it('count from 0 and grow by load times seconds: 0.3 cores and 10 requests a second, 2 % around them', () => {
    const { pages, pass } = start({ scalers: 4, pods: 2 });

    expect(valuesOn(pages.page(0), '_total')).toEqual(Array(8 * 2 + 4).fill(0));
    pass(100);
    const page = pages.page(0);
    for (const cpu of valuesOn(page, 'container_cpu_usage', 'container="app"')) {
      expect(cpu).toBeGreaterThanOrEqual(29.4);
      expect(cpu).toBeLessThanOrEqual(30.6);
    }
    const requests = valuesOn(page, 'http_requests_total');
    // The fourth workload has a step of load at the start.
    for (const [index, count] of requests.entries()) {
      const expected = index < 2 ? 1000 : 1350;
      expect(Math.abs(count / expected - 1)).toBeLessThanOrEqual(0.02);
    }
    expect(valuesOn(pages.page(0), '_total')).toEqual(valuesOn(page, '_total'));
  });

  it('show a pod when it is ready, 5 s after it was added', () => {
    const { simulation, pages, pass } = start({ scalers: 1, pods: 2 });
    const [deployment] = simulation.deployments.get('team-000')?.values() ?? [];
    if (deployment === undefined) throw new Error('no Deployment');

    simulation.setReplicas(deployment, 3);
    pass(4.9);
    expect(valuesOn(pages.page(0), 'container="app"', 'container_cpu_usage')).toHaveLength(2);
    pass(0.1);
    expect(valuesOn(pages.page(0), 'container="app"', 'container_cpu_usage')).toHaveLength(3);
  });
});
