import { metricText } from '../../promql/vector-selectors.js';
import type { SourceContext } from './context.js';
import { findLabelScheme, resourceQueryFor } from './resource-labels.js';

/** Series of container usage other than those of the kubelet's cAdvisor. */
export interface OtherExporter {
  readonly metric: string;
  /** The component that exposes the metric. */
  readonly of: string;
  /** The resource query for the exporter; null: its series have no labels for namespace and pod. */
  readonly query: string | null;
  /** Names of the labels of its series, sorted. */
  readonly labels: readonly string[];
  /** Range over which a gauge of cores was averaged; null: the range is in the query, or the resource has none. */
  readonly windowSeconds: number | null;
}

type RunQuery = SourceContext['runQuery'];

interface Candidate {
  readonly metric: string;
  readonly isCounter?: boolean;
  readonly matchers?: readonly string[];
  readonly windowSeconds?: number;
}

const OPEN_TELEMETRY = 'the kubelet stats receiver of OpenTelemetry';

/** The range in the rule; `sum_irate` uses the last two samples within it. */
const RULE_WINDOW_SECONDS = 300;
/** Twice the default interval of the kubelet stats receiver. */
const GAUGE_WINDOW_SECONDS = 60;

const gauge = (metric: string): Candidate => ({ metric, windowSeconds: GAUGE_WINDOW_SECONDS });

/**
 * Resource -> exporters, most precise first. Names of OpenTelemetry are in the form of Prometheus, with and without the
 * unit, or in UTF-8; container metrics precede pod metrics. Sources: kubernetes-mixin rules/apps.libsonnet;
 * documentation of the kubeletstats receiver; "Kubernetes metrics" of Cloud Monitoring.
 */
const EXPORTERS: ReadonlyMap<string, Readonly<Record<string, readonly Candidate[]>>> = new Map(
  Object.entries({
    cpu: {
      'the recording rules of kube-prometheus-stack': ['sum_rate5m', 'sum_irate'].map((suffix) => ({
        metric: `node_namespace_pod_container:container_cpu_usage_seconds_total:${suffix}`,
        windowSeconds: RULE_WINDOW_SECONDS,
      })),
      [OPEN_TELEMETRY]: [
        { metric: 'container_cpu_time_seconds_total', isCounter: true },
        gauge('container_cpu_usage'),
        { metric: 'container.cpu.time', isCounter: true },
        gauge('container.cpu.usage'),
        { metric: 'k8s_pod_cpu_time_seconds_total', isCounter: true },
        gauge('k8s_pod_cpu_usage'),
        gauge('k8s.pod.cpu.usage'),
      ],
      'the system metrics of Google Kubernetes Engine': [
        {
          metric: 'kubernetes_io:container_cpu_core_usage_time',
          isCounter: true,
          matchers: ['monitored_resource="k8s_container"'],
        },
      ],
    },
    memory: {
      'the recording rules of kube-prometheus-stack': [
        { metric: 'node_namespace_pod_container:container_memory_working_set_bytes' },
      ],
      [OPEN_TELEMETRY]: [
        { metric: 'container.memory.working_set' },
        { metric: 'container_memory_working_set' },
        { metric: 'k8s_pod_memory_working_set_bytes' },
        { metric: 'k8s_pod_memory_working_set' },
        { metric: 'k8s.pod.memory.working_set' },
      ],
      'the system metrics of Google Kubernetes Engine': [
        {
          metric: 'kubernetes_io:container_memory_used_bytes',
          // The working set is the memory that the kubelet cannot evict.
          matchers: ['monitored_resource="k8s_container"', 'memory_type="non-evictable"'],
        },
      ],
    },
  }),
);

/** windows_exporter identifies a container only by the label `container_id`. */
const WINDOWS: ReadonlyMap<string, Candidate> = new Map(
  Object.entries({
    cpu: { metric: 'windows_container_cpu_usage_seconds_total', isCounter: true },
    memory: { metric: 'windows_container_memory_usage_private_working_set_bytes' },
  }),
);

/**
 * Returns the first exporter whose series can be read, otherwise the first exporter with any series; null without one.
 */
export async function findOtherExporter(runQuery: RunQuery, resource: string): Promise<OtherExporter | null> {
  const windows = WINDOWS.get(resource);
  const ofWindows = windows === undefined ? null : await labelsOf(runQuery, windows.metric);
  if (windows !== undefined && ofWindows !== null)
    return {
      metric: windows.metric,
      of: 'windows_exporter',
      query: windowsQuery(windows),
      labels: ofWindows,
      windowSeconds: null,
    };
  let unlabeled: OtherExporter | null = null;
  for (const [of, candidates] of Object.entries(EXPORTERS.get(resource) ?? {}))
    for (const { metric, isCounter = false, matchers = [], windowSeconds = null } of candidates) {
      const labels = await labelsOf(runQuery, metric);
      if (labels === null) continue;
      const scheme = findLabelScheme(new Set(labels));
      const query = scheme === null ? null : resourceQueryFor(metric, scheme, { isCounter, matchers });
      const found = { metric, of, query, labels, windowSeconds };
      if (query !== null) return found;
      unlabeled ??= found;
    }
  return unlabeled;
}

/** Joins the series with kube-state-metrics, which maps container IDs to names. */
function windowsQuery({ metric, isCounter = false }: Candidate): string {
  const selector = `${metric}{container_id!=""}`;
  const usage = isCounter ? `rate(${selector}[$window])` : selector;
  const names =
    'max by (container_id, namespace, pod, container) (kube_pod_container_info{namespace=~"$namespaces", container_id!=""})';
  return `sum by (namespace, pod, container) (sum by (container_id) (${usage}) * on (container_id) group_left (namespace, pod, container) ${names})`;
}

async function labelsOf(runQuery: RunQuery, metric: string): Promise<readonly string[] | null> {
  const answer = await runQuery(`topk(20, ${metricText(metric)})`);
  if (answer.class !== 'value' && answer.class !== 'partial') return null;
  if (answer.series.length === 0) return null;
  const names = new Set(answer.series.flatMap(({ labels }) => Object.keys(labels)));
  return [...names].filter((label) => label !== '__name__').sort();
}
