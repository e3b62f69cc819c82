import { beforeAll, describe, expect, it } from '@jest/globals';
// Loaded here, because the command line loads it on demand, which would count toward the first test.
import '../../../src/cli/commands/run-import.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { send } from '../../simulator/cluster.js';
import type { RecordedRequest } from '../../prometheus/fakes.js';
import { cluster, EVERY_5_S, healthy, prometheus } from '../doctor/fixture.js';
import { type Ran, folderOf, runCli } from '../fake-io.js';

const ADAPTER = `externalRules:
  - seriesQuery: '{__name__="load"}'
    name: { matches: ^load$, as: load }
    resources: { namespaced: false }
    metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>})
`;

let simulator: Simulator;
let url: string;
let requests: readonly RecordedRequest[];

/** An HPA that wants one replica per 10 of its metric, with this status. */
function hpa(name: string, status: JsonObject = {}, metric = 'load'): JsonObject {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace: 'shop' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      maxReplicas: 20,
      metrics: [
        {
          type: 'External',
          external: { metric: { name: metric }, target: { type: 'AverageValue', averageValue: '10' } },
        },
      ],
    },
    status: { desiredReplicas: 0, currentReplicas: 3, ...status },
  };
}

const computed = (desiredReplicas: number): JsonObject => ({
  desiredReplicas,
  lastScaleTime: '2026-01-01T00:00:00Z',
  currentMetrics: [
    { type: 'External', external: { metric: { name: 'load' }, current: { averageValue: '10' } } },
  ],
});

beforeAll(async () => {
  const names = ['same', 'less', 'fresh', 'alone', 'keda'];
  simulator = await cluster({ workloads: names.map((name) => ({ namespace: 'shop', name, replicas: 3 })) });
  ({ url, requests } = await prometheus([[/^sum\(load/, 40]]));
  const statuses = { same: computed(4), less: computed(3), fresh: {} };
  for (const [name, status] of Object.entries(statuses)) {
    const object = hpa(name, status);
    simulator.addObject(object);
    const path = `/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/${name}/status`;
    await send(simulator, 'PATCH', path, { body: { status: object['status'] } });
  }
  const { metadata, ...created } = hpa('keda');
  const ownerReferences = [
    { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'keda', uid: '1', controller: true },
  ];
  simulator.addObject({ ...created, metadata: { ...(metadata as JsonObject), ownerReferences } });
});

function importLive(objects: readonly JsonObject[], ...args: readonly string[]): Promise<Ran> {
  const cwd = folderOf({
    'all.json': JSON.stringify({ kind: 'List', items: objects }),
    'adapter.yaml': ADAPTER,
  });
  const base = ['import', 'all.json', '--live', '--adapter-config', 'adapter.yaml'];
  return runCli([...base, '--url', simulator.url, '--prometheus', url, ...args], { cwd });
}

describe('import --live', () => {
  it('asks a data source once what it is', async () => {
    const asked = (): number => requests.filter((one) => one.url.includes('/status/buildinfo')).length;
    const before = asked();

    await importLive([hpa('same'), hpa('less')]);

    expect(asked() - before).toBe(1);
  });

  it('says that the HPA of a ScaledObject has no desired replicas, because the ScaledObject never has any', async () => {
    const metadata = { serverAddress: url, query: 'sum(load)', threshold: '10' };
    const { stderr } = await importLive([
      {
        apiVersion: 'keda.sh/v1alpha1',
        kind: 'ScaledObject',
        metadata: { name: 'keda', namespace: 'shop' },
        spec: { scaleTargetRef: { name: 'keda' }, triggers: [{ type: 'prometheus', metadata }] },
      },
    ]);

    expect(stderr).toContain(
      'ScaledObject shop/keda: live: not compared: the HPA of ScaledObject shop/keda has no desired replicas: the HPA controller has not set them yet\n',
    );
  });

  it('prints one line per document: the same count, the difference, or why nothing is compared', async () => {
    const { exitCode, stdout, stderr } = await importLive([
      hpa('same'),
      hpa('less'),
      hpa('fresh'),
      hpa('alone'),
      hpa('gone'),
      hpa('same-2', {}, 'other'),
    ]);

    const lines = stderr.split('\n').filter((line) => line.includes(': live: '));
    expect(exitCode).toBe(0);
    expect(lines).toEqual([
      'all.json: HPA shop/same: live: 4 replicas, the same as the HPA',
      expect.stringMatching(
        /^all\.json: HPA shop\/less: live: 4 replicas, 1 more than the HPA \(3\): load is at 13\.334 per pod, 40 in total, target 10 per pod: 3 -> 4/,
      ),
      'all.json: HPA shop/fresh: live: not compared: HorizontalPodAutoscaler shop/fresh has no desired replicas: the HPA controller has not set them yet',
      'all.json: HPA shop/alone: live: not compared: no HPA scales deployment shop/alone',
      expect.stringMatching(/^all\.json: HPA shop\/gone: live: not compared: .*404 Not Found/),
      'all.json: HPA shop/same-2: live: not compared: the document is incomplete: replace each FILL IN',
    ]);
    expect(stdout.match(/^kind: Scaler$/gm)).toHaveLength(6);
    expect(
      simulator
        .requests()
        .filter(({ method, userAgent }) => method !== 'GET' && /promscaler/.test(userAgent)),
    ).toEqual([]);
  });

  it('counts pods of 60 s as the service does: the window of cpu scraped every 5 s is 20 s, not 120 s', async () => {
    const young = { namespace: 'shop', name: 'young' };
    const other = await cluster({ workloads: [{ ...young, replicas: 2, podAgeSeconds: 60 }] });
    const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } };
    const object = hpa('young', computed(4));
    Object.assign(object['spec'] as JsonObject, { metrics: [{ type: 'Resource', resource }] });
    other.addObject(object);
    const path = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/young/status';
    await send(other, 'PATCH', path, { body: { status: object['status'] } });
    const scraped = await prometheus([EVERY_5_S, ...healthy(other.describe(young).pods, 0.75)]);

    const { stderr } = await importLive([object], '--url', other.url, '--prometheus', scraped.url);

    expect(stderr).toContain('HPA shop/young: live: 4 replicas, the same as the HPA\n');
  });

  it('says that a metric has no value, or that a system does not answer', async () => {
    const silent = await importLive([hpa('same')], '--prometheus', 'http://127.0.0.1:9');
    const offline = await importLive([hpa('same')], '--url', 'http://127.0.0.1:9');

    expect(silent.stderr).toMatch(/live: not compared: load has no value: .*connection refused/);
    expect(offline.stderr).toMatch(/live: not compared: .*ECONNREFUSED/);
    expect([silent.exitCode, offline.exitCode]).toEqual([0, 0]);
  });

  it.each(['--prometheus=http://x', '--config=x.yaml', '--url=http://x'])(
    'is needed for %s',
    async (option) => {
      const { exitCode, stderr } = await runCli(['import', '-', option]);

      expect(exitCode).toBe(2);
      expect(stderr).toContain(`${option.slice(0, option.indexOf('='))} needs --live`);
    },
  );
});
