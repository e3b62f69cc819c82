import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import { findOtherExporter } from '../../../src/cli/checks/other-exporters.js';
import { analyzeQuery } from '../../../src/promql/analyze.js';
import { ANY_LABELS, mayHave } from '../../../src/promql/labels.js';
import { checkSyntax } from '../../../src/promql/syntax.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { type Scripted, clusterOfWeb, diagnosed, document, healthy, prometheus } from './fixture.js';

let simulator: Simulator;
let pods: readonly string[];

beforeAll(async () => {
  ({ simulator, pods } = await clusterOfWeb());
});

const CPU = '';
const MEMORY = `  metrics:
    - resource: { name: memory, target: { averageValue: 500Mi } }
`;

async function resourceSeries(spec: string, script: readonly Scripted[]): Promise<CheckResult | undefined> {
  const { url } = await prometheus(script);
  const documents = { web: document('web', spec) };
  const { of } = await diagnosed({ prometheus: url, kubernetes: simulator.url, documents });
  return of('resource-series')[0];
}

type Labels = Readonly<Record<string, string>>;
const one = (labels: Labels): readonly [{ labels: Labels; value: number }] => [{ labels, value: 1 }];

/** Series of this metric alone. */
function only(metric: string, labels: Labels): readonly Scripted[] {
  return [[new RegExp(`^topk\\(20, ${metric}\\)$`), one(labels)]];
}

describe('without series of the kubelet', () => {
  it.each([
    [
      'windows_exporter',
      'windows_container_cpu_usage_seconds_total',
      { container_id: 'containerd://1' },
      'sum by (namespace, pod, container) (sum by (container_id) (rate(windows_container_cpu_usage_seconds_total{container_id!=""}[$window])) * on (container_id) group_left (namespace, pod, container) max by (container_id, namespace, pod, container) (kube_pod_container_info{namespace=~"$namespaces", container_id!=""}))',
      '',
    ],
    [
      'the kubelet stats receiver of OpenTelemetry',
      'container_cpu_usage',
      { k8s_namespace_name: 'shop', k8s_pod_name: 'w', k8s_container_name: 'app' },
      'label_replace(label_replace(label_replace(sum by (k8s_namespace_name, k8s_pod_name, k8s_container_name) (container_cpu_usage{k8s_namespace_name=~"$namespaces", k8s_container_name!="", k8s_container_name!="POD"}), "namespace", "$1", "k8s_namespace_name", "(.+)"), "pod", "$1", "k8s_pod_name", "(.+)"), "container", "$1", "k8s_container_name", "(.+)")',
      ', and prometheus.default.resourceWindows: { cpu: 60 }',
    ],
    [
      'the kubelet stats receiver of OpenTelemetry',
      '\\{"k8s\\.pod\\.cpu\\.usage"\\}',
      { 'k8s.namespace.name': 'shop', 'k8s.pod.name': 'w' },
      'label_replace(label_replace(sum by ("k8s.namespace.name", "k8s.pod.name") ({"k8s.pod.cpu.usage", "k8s.namespace.name"=~"$namespaces", "k8s.pod.name"!=""}), "namespace", "$1", "k8s.namespace.name", "(.+)"), "pod", "$1", "k8s.pod.name", "(.+)")',
      ', and prometheus.default.resourceWindows: { cpu: 60 }',
    ],
    [
      'the recording rules of kube-prometheus-stack',
      'node_namespace_pod_container:container_cpu_usage_seconds_total:sum_rate5m',
      { namespace: 'shop', pod: 'w', container: 'app', node: 'n' },
      'sum by (namespace, pod, container) (node_namespace_pod_container:container_cpu_usage_seconds_total:sum_rate5m{namespace=~"$namespaces", container!="", container!="POD"})',
      ', and prometheus.default.resourceWindows: { cpu: 300 }',
    ],
    [
      'the system metrics of Google Kubernetes Engine',
      'kubernetes_io:container_cpu_core_usage_time',
      { namespace_name: 'shop', pod_name: 'w', container_name: 'app' },
      'label_replace(label_replace(label_replace(sum by (namespace_name, pod_name, container_name) (rate(kubernetes_io:container_cpu_core_usage_time{monitored_resource="k8s_container", namespace_name=~"$namespaces", container_name!="", container_name!="POD"}[$window])), "namespace", "$1", "namespace_name", "(.+)"), "pod", "$1", "pod_name", "(.+)"), "container", "$1", "container_name", "(.+)")',
      '',
    ],
  ])('prints the complete query for %s', async (exporter, pattern, labels, query, window) => {
    const found = await resourceSeries(CPU, only(pattern, labels));

    expect(found?.message).toContain(` from ${exporter}`);
    expect(found?.fix).toBe(`prometheus.default.resourceQueries.cpu: '${query}'${window}`);
    expect(checkSyntax(query)).toEqual([]);
    const { labels: result } = analyzeQuery(query) ?? { labels: ANY_LABELS };
    expect(['namespace', 'pod'].filter((label) => !mayHave(result, label))).toEqual([]);
  });

  it.each([
    ['k8s_pod_memory_working_set', { k8s_namespace_name: 'shop', k8s_pod_name: 'w' }, 'k8s_pod_name!=""'],
    ['container_memory_working_set', { k8s_namespace_name: 'shop', k8s_pod_name: 'w' }, 'k8s_pod_name!=""'],
    [
      'node_namespace_pod_container:container_memory_working_set_bytes',
      { namespace: 'shop', pod: 'w', container: 'app' },
      'sum by (namespace, pod, container) (node_namespace_pod_container:container_memory_working_set_bytes{',
    ],
    [
      'kubernetes_io:container_memory_used_bytes',
      { namespace_name: 'shop', pod_name: 'w', container_name: 'app' },
      'kubernetes_io:container_memory_used_bytes{monitored_resource="k8s_container", memory_type="non-evictable", namespace_name=~"$namespaces"',
    ],
  ])('finds memory in %s, without a window', async (metric, labels, part) => {
    const found = await resourceSeries(MEMORY, only(metric, labels));

    expect(found?.message).toContain(
      `the data source has no series container_memory_working_set_bytes, but has ${metric} from`,
    );
    expect(found?.fix).toMatch(/^prometheus\.default\.resourceQueries\.memory: '[^']*'$/);
    expect(found?.fix).toContain(part);
    expect(checkSyntax(/'(.*)'$/.exec(found?.fix ?? '')?.[1] ?? '')).toEqual([]);
  });

  it.each([
    ['cpu', CPU, 'container_cpu_usage'],
    ['memory', MEMORY, 'k8s_pod_memory_working_set_bytes'],
  ])('reports OTLP %s series whose attributes were not promoted to labels', async (_, spec, metric) => {
    const found = await resourceSeries(spec, only(metric, { job: 'otel', instance: 'a' }));

    expect(found?.message).toContain(
      `, but has ${metric} from the kubelet stats receiver of OpenTelemetry, and those series have no labels for namespace and pod (labels: instance, job)`,
    );
    expect(found?.fix).toContain(
      'otlp.promote_resource_attributes: [k8s.namespace.name, k8s.pod.name, k8s.container.name] in the config of Prometheus',
    );
  });

  it('prefers series with labels to those without', async () => {
    const found = await resourceSeries(CPU, [
      ...only('container_cpu_usage', { job: 'otel' }),
      ...only('k8s_pod_cpu_usage', { k8s_namespace_name: 'shop', k8s_pod_name: 'w' }),
    ]);

    expect(found?.fix).toContain('(k8s_pod_cpu_usage{k8s_namespace_name=~"$namespaces"');
  });

  it('reads the labels of the containers from a standalone cAdvisor, not those of its own pod', async () => {
    const own = { namespace: 'monitoring', pod: 'cadvisor-x2b', container: 'cadvisor' };
    const labels = {
      ...own,
      container_label_io_kubernetes_pod_namespace: 'shop',
      container_label_io_kubernetes_pod_name: 'web-1',
      container_label_io_kubernetes_container_name: 'app',
    };
    const namespace = /^topk\(20, container_cpu_usage_seconds_total\{namespace="shop"\} or /;

    const [known, unknown] = [
      await resourceSeries(CPU, [
        ...only('container_cpu_usage_seconds_total', labels),
        [namespace, one(labels)],
      ]),
      await resourceSeries(CPU, only('container_cpu_usage_seconds_total', labels)),
    ];

    const by =
      'sum by (container_label_io_kubernetes_pod_namespace, container_label_io_kubernetes_pod_name, container_label_io_kubernetes_container_name)';
    expect([known?.status, unknown?.status]).toEqual(['failed', 'failed']);
    expect(known?.fix).toContain(by);
    expect(unknown?.fix).toContain(by);
    expect(known?.fix).toContain('container_label_io_kubernetes_pod_namespace=~"$namespaces"');
    expect(known?.fix).toContain('"pod", "$1", "container_label_io_kubernetes_pod_name", "(.+)")');
  });
});

describe('a data source without the series up', () => {
  const prometheusResults = async (script: readonly Scripted[]): Promise<readonly CheckResult[]> => {
    const { url } = await prometheus([...script, ...healthy(pods)]);
    const documents = { web: document('web') };
    return (await diagnosed({ prometheus: url, kubernetes: simulator.url, documents })).of('prometheus');
  };

  it('is a warning if it reports no start time either', async () => {
    const [found, second] = await prometheusResults([[/^count\(up\)$/, []]]);

    expect(second).toBeUndefined();
    expect(found).toMatchObject({ status: 'warning' });
    expect(found?.message).toContain(
      'has no series `up` and reports no start time, so promscaler cannot detect a loss of data',
    );
    expect(found?.fix).toContain('keep the series `up`');
  });

  it('is none with one target', async () => {
    expect(await prometheusResults([[/^count\(up\)$/, 1]])).toEqual([]);
  });
});

it.each(['constructor', 'toString', '__proto__'])(
  'names no exporter for a resource called %s',
  async (name) => {
    const runQuery = (): Promise<never> => Promise.reject(new Error('nothing is to be asked'));

    expect(await findOtherExporter(runQuery, name)).toBeNull();
  },
);
