import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { planCosts } from '../../../src/control/cycle/plan-costs.js';
import type { CostedPod } from '../../../src/kubernetes/pods/pod-costs.js';
import { findPrometheus } from '../../../src/cli/demo/programs/prometheus-release.js';
import { type RunningPrometheus, startPrometheus } from '../../../src/cli/demo/programs/prometheus-server.js';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import { type PodRanking, rankPods } from '../../../src/control/cycle/deletion-costs.js';
import { readScalers } from '../../../src/scaler/read/read-scalers.js';
import { startRound } from '../../prometheus/fakes.js';
import { aPod, aSource } from '../../support/builders.js';
import { until } from '../../support/until.js';

jest.setTimeout(240_000);

/** Three pods on one node, two on another, one alone; and two of another workload. */
const NODES = {
  'catalog-5d9c7b8f4d-aaaaa': 'n1',
  'catalog-5d9c7b8f4d-bbbbb': 'n1',
  'catalog-5d9c7b8f4d-ccccc': 'n1',
  'catalog-5d9c7b8f4d-ddddd': 'n2',
  'catalog-5d9c7b8f4d-eeeee': 'n2',
  'catalog-5d9c7b8f4d-fffff': 'n3',
  'other-7f6d5c4b9c-ggggg': 'n3',
  'other-7f6d5c4b9c-hhhhh': 'n3',
};
const OURS = Object.keys(NODES).filter((pod) => pod.startsWith('catalog'));

const EXPOSITION = Object.entries(NODES)
  .map(([pod, node], index) => {
    return `kube_pod_info{namespace="shop",pod="${pod}",node="${node}",uid="u${index}",host_ip="10.0.0.${index}"} 1`;
  })
  .join('\n');

let exporter: Server;
let prometheus: RunningPrometheus;

beforeAll(async () => {
  exporter = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(`${EXPOSITION}\n`);
  });
  await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
  const { port } = exporter.address() as AddressInfo;
  const config = `global: { scrape_interval: 200ms, scrape_timeout: 150ms }
scrape_configs:
  - job_name: kube-state-metrics
    honor_labels: true
    static_configs: [{ targets: ['127.0.0.1:${port}'] }]
`;
  const [env, clock] = [process.env, SYSTEM_CLOCK];
  prometheus = await startPrometheus({ binary: await findPrometheus({ env, clock }), config, env, clock });
});

afterAll(async () => {
  await prometheus.stop();
  await new Promise((resolve) => exporter.close(resolve));
});

/** Runs the query of the example as the service does, until the first scrape has succeeded. */
async function ask(): Promise<PodRanking> {
  const text = readFileSync(new URL('../../../config/scalers/one-per-node.yaml', import.meta.url), 'utf8');
  const [scaler] = readScalers(text, 'one-per-node.yaml').scalers;
  if (scaler === undefined) throw new Error('the example has problems');
  const source = createMetricSource({
    sources: new Map([['default', aSource({ urls: [prometheus.url] })]]),
    clock: SYSTEM_CLOCK,
    onQuery: () => undefined,
  });
  const ask = () => startRound(source, [scaler]).ranking(scaler);
  await until(async () => (await ask())?.class !== 'missing', 'a series');
  const answer = await ask();
  if (answer?.class !== 'value') throw new Error(JSON.stringify(answer));
  return rankPods(answer, 'shop', OURS);
}

function costed(name: string): CostedPod {
  return { pod: aPod(name), resourceVersion: '1', cost: null, isOwn: false };
}

describe('the example one-per-node.yaml on a real Prometheus', () => {
  it('omits one pod of each node, and ranks the others by the number of pods on their node', async () => {
    const ranking = await ask();

    const values = ranking.kind === 'ranked' ? ranking.values : new Map<string, number>();
    const byNode = Object.fromEntries(
      ['n1', 'n2', 'n3'].map((node) => {
        const pods = OURS.filter((pod) => NODES[pod as keyof typeof NODES] === node);
        return [node, pods.flatMap((pod) => values.get(pod) ?? [])];
      }),
    );
    expect(ranking.kind).toBe('ranked');
    expect(byNode).toEqual({ n1: [3, 3], n2: [2], n3: [] });
  });

  it('leaves one pod on each node in a scale-down from 6 to 3', async () => {
    const ranking = await ask();
    const values = ranking.kind === 'ranked' ? ranking.values : new Map<string, number>();

    const changes = planCosts(OURS.map(costed), { to: 3, values, order: 'descending' });

    const gone = changes.map(({ pod }) => pod.pod.name);
    const left = OURS.filter((pod) => !gone.includes(pod)).map((pod) => NODES[pod as keyof typeof NODES]);
    expect(left.sort()).toEqual(['n1', 'n2', 'n3']);
    expect(changes.map(({ cost }) => cost)).toEqual([-3, -2, -1]);
  });
});
