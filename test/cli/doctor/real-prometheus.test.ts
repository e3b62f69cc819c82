import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { findPrometheus } from '../../../src/cli/demo/programs/prometheus-release.js';
import { type RunningPrometheus, startPrometheus } from '../../../src/cli/demo/programs/prometheus-server.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { until } from '../../support/until.js';
import { cluster, document, type Diagnosis, diagnosed, metric } from './fixture.js';

/** Downloading Prometheus on a fresh machine counts toward the first test. */
const START_MS = 240_000;
const WINDOW_SECONDS = 8;

let simulator: Simulator;
let prometheus: RunningPrometheus;

/**
 * Scrapes the cluster; the same kubelet with two jobs for namespace `twice`; and once with the labels of old kubelets.
 */
const SCRAPE = (sdUrl: string): string => `global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - job_name: cluster
    honor_labels: true
    http_sd_configs: [{ url: '${sdUrl}', refresh_interval: 1s }]
${['kubelet', 'cadvisor']
  .map(
    (job) => `  - job_name: ${job}
    honor_labels: true
    http_sd_configs: [{ url: '${sdUrl}/cadvisor', refresh_interval: 1s }]
    relabel_configs: [{ target_label: job, replacement: ${job} }]
    metric_relabel_configs: [{ target_label: namespace, replacement: twice }]
`,
  )
  .join('')}  - job_name: old
    honor_labels: true
    http_sd_configs: [{ url: '${sdUrl}/cadvisor', refresh_interval: 1s }]
    metric_relabel_configs:
      - { source_labels: [__name__], regex: container_cpu_usage_seconds_total, target_label: __name__, replacement: old_cpu_seconds_total }
      - { source_labels: [pod], target_label: pod_name }
      - { source_labels: [container], target_label: container_name }
      - { regex: pod|container, action: labeldrop }
      - { source_labels: [__name__], regex: old_cpu_seconds_total, action: keep }
`;

beforeAll(async () => {
  simulator = await cluster({
    workloads: [
      { namespace: 'shop', name: 'web', replicas: 3 },
      { namespace: 'back', name: 'mailer', replicas: 1, behavior: { queue: 'mail' } },
    ],
  });
  const [env, clock] = [process.env, SYSTEM_CLOCK];
  const binary = await findPrometheus({ env, clock });
  prometheus = await startPrometheus({ binary, config: SCRAPE(simulator.sdUrl), env, clock });
  const query = `min(count_over_time(container_cpu_usage_seconds_total{container!=""}[${WINDOW_SECONDS}s]))`;
  await until(async () => {
    const answer = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(query)}`);
    const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } };
    return Number(data.result[0]?.value[1] ?? 0) >= 7;
  }, 'seven samples of each container');
}, START_MS);

afterAll(() => prometheus.stop());

function diagnose(documents: Readonly<Record<string, string>>, more: object = {}): Promise<Diagnosis> {
  return diagnosed({
    prometheus: prometheus.url,
    source: `, scrapeIntervalSeconds: 1, resourceWindowSeconds: ${WINDOW_SECONDS}`,
    kubernetes: simulator.url,
    documents,
    ...more,
  });
}

const RPS = 'sum by (pod) (rate(http_requests_total{namespace="$namespace", pod=~"$pods"}[8s]))';

describe('doctor, against a real Prometheus', () => {
  it('reports nothing for a healthy cluster', async () => {
    const web = document(
      'web',
      `${metric('pods', RPS)}    - resource: { name: cpu, target: { averageUtilization: 60 } }\n`,
    );
    let found = await diagnose({ web });
    // A busy machine misses scrapes, which doctor then reports. The next window of 8 s may be whole.
    for (let more = 0; found.exitCode !== 0 && more < 5; more += 1) found = await diagnose({ web });

    expect(found.results.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(found.exitCode).toBe(0);
  });

  it('finds the API at the root if the url is that of the UI', async () => {
    const { of } = await diagnose({}, { prometheus: `${prometheus.url}/graph` });

    expect(of('prometheus')[0]?.fix).toBe(`prometheus.default.urls: ['${prometheus.url}']`);
  });

  it.each([
    ['sum(rabbitmq_queue_message)', 'use rabbitmq_queue_messages instead'],
    ['sum(http_requests_total{namespace="shop", service="wbe"})', 'service="web"'],
    ['sum(http_requests_total{kubernetes_namespace="shop"})', 'namespace="$namespace"'],
  ])('%s has no series, and is fixed by %s', async (query, fix) => {
    const { of } = await diagnose({ web: document('web', metric('external', query)) });

    expect(of('query')).toMatchObject([{ status: 'failed', fix }]);
  });

  it('looks through a constant, but is content with an outcome that has not occurred', async () => {
    const [wrong, rare] = ['servce="web"', 'service="web", code=~"4.."'].map(
      (matchers) => `sum(rate(http_requests_total{namespace="shop", ${matchers}}[8s])) or vector(0)`,
    );
    const found = await Promise.all(
      [wrong, rare].map((query) => diagnose({ web: document('web', metric('external', query ?? '')) })),
    );

    expect(found.map(({ of }) => of('query').map(({ status, fix }) => [status, fix]))).toEqual([
      [['warning', 'service="web"']],
      [],
    ]);
  });

  it('reports a namespace without series', async () => {
    simulator.addWorkload({ namespace: 'empty', name: 'idle', replicas: 0 });

    const { of } = await diagnose({ idle: document('idle', '  namespace: empty\n') });

    expect(of('resource-series')[0]?.message).toContain(
      'container_cpu_usage_seconds_total has no series in namespace empty, only in back, shop',
    );
  });

  it('reports other labels, with a query that works', async () => {
    // A busy machine delays scrapes.
    const source = (query: string): object => ({
      source: `, scrapeIntervalSeconds: 1, maxSampleAgeSeconds: 60, resourceWindowSeconds: ${WINDOW_SECONDS}, resourceQueries: { cpu: '${query}' }`,
    });
    const documents = { web: document('web') };
    const wrong =
      'sum by (namespace, pod, container) (rate(old_cpu_seconds_total{container!="", namespace=~"$namespaces"}[$window]))';

    const before = await diagnose(documents, source(wrong));
    const fix = before.of('resource-series')[0]?.fix ?? '';
    const after = await diagnose(documents, source(/^\S+resourceQueries\.cpu: '(.*)'$/.exec(fix)?.[1] ?? ''));

    expect(before.of('resource-series')).toMatchObject([{ status: 'failed' }]);
    expect(fix).toContain('container_name');
    expect(after.results.filter(({ status }) => status !== 'ok')).toEqual([]);
  });

  it('reports that the data has each container twice, and the jobs that scrape it', async () => {
    simulator.addWorkload({ namespace: 'twice', name: 'web', replicas: 1 });

    const { of } = await diagnose({ web: document('web', '  namespace: twice\n') });

    expect(of('resource-series').map(({ message }) => message)).toEqual([
      'containers have up to 2 cpu series each, which differ in job (cadvisor, kubelet): the usage is counted once, because the service takes the largest',
    ]);
  });
});
