import { metricText } from '../../promql/vector-selectors.js';
import type { SourceContext } from './context.js';
import { findLabelScheme, resourceQueryFor } from './resource-labels.js';
import { answeredLabels } from './check-result.js';

/** An exporter of container usage other than the kubelet's cAdvisor. */
export interface OtherExporter {
  readonly metric: string;
  /** The component that exposes the metric. */
  readonly of: string;
  /** The resource query with which the exporter can be used; null: its series have no label for namespace or pod. */
  readonly query: string | null;
  /** The sorted names of the labels that the series have. */
  readonly labels: readonly string[];
  /** Seconds over which the exporter averages CPU usage; null: the query averages it, or the resource is memory. */
  readonly windowSeconds: number | null;
}

type RunQuery = SourceContext['runQuery'];

interface Candidate {
  readonly metric: string;
  readonly isCounter?: boolean;
  readonly matchers?: readonly string[];
  readonly windowSeconds?: number;
  /** Whether a container is identified only by the label `container_id`. */
  readonly hasIdOnly?: boolean;
}

const OPEN_TELEMETRY = 'the kubelet stats receiver of OpenTelemetry';

/** Range of the recording rules of kube-prometheus-stack. `sum_irate` uses only the last two samples in the range. */
const RULE_WINDOW_SECONDS = 300;
/** Twice the default interval of the kubelet stats receiver of OpenTelemetry. */
const GAUGE_WINDOW_SECONDS = 60;

const gauge = (metric: string): Candidate => ({ metric, windowSeconds: GAUGE_WINDOW_SECONDS });

/**
 * Maps a resource to its exporters, the most precise first. Container metrics precede pod metrics. OpenTelemetry
 * metrics are listed with their Prometheus names (with and without the unit) and their UTF-8 names. Sources:
 * kubernetes-mixin rules/apps.libsonnet; documentation of the kubeletstats receiver; "Kubernetes metrics" of Cloud
 * Monitoring.
 */
const EXPORTERS: ReadonlyMap<string, Readonly<Record<string, readonly Candidate[]>>> = new Map(
  Object.entries({
    cpu: {
      windows_exporter: [
        { metric: 'windows_container_cpu_usage_seconds_total', isCounter: true, hasIdOnly: true },
      ],
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
      windows_exporter: [
        { metric: 'windows_container_memory_usage_private_working_set_bytes', hasIdOnly: true },
      ],
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
          // Non-evictable memory is the working set: the kubelet cannot evict it.
          matchers: ['monitored_resource="k8s_container"', 'memory_type="non-evictable"'],
        },
      ],
    },
  }),
);

/** Returns the first exporter for which there is a query, otherwise the first exporter that has series, or null. */
export async function findOtherExporter(runQuery: RunQuery, resource: string): Promise<OtherExporter | null> {
  let unlabeled: OtherExporter | null = null;
  for (const [of, candidates] of Object.entries(EXPORTERS.get(resource) ?? {}))
    for (const candidate of candidates) {
      const { metric, windowSeconds = null } = candidate;
      const labels = await labelsOf(runQuery, metric);
      if (labels === null) continue;
      const query = queryFor(candidate, labels);
      const found = { metric, of, query, labels, windowSeconds };
      if (query !== null) return found;
      unlabeled ??= found;
    }
  return unlabeled;
}

function queryFor(candidate: Candidate, labels: readonly string[]): string | null {
  const { metric, isCounter = false, matchers = [], hasIdOnly = false } = candidate;
  if (hasIdOnly) return joinedQuery(metric, isCounter);
  const scheme = findLabelScheme(new Set(labels));
  return scheme === null ? null : resourceQueryFor(metric, scheme, { isCounter, matchers });
}

/** Returns a query that joins the usage with a metric of kube-state-metrics, which maps container IDs to names. */
function joinedQuery(metric: string, isCounter: boolean): string {
  const selector = `${metric}{container_id!=""}`;
  const usage = isCounter ? `rate(${selector}[$window])` : selector;
  const names =
    'max by (container_id, namespace, pod, container) (kube_pod_container_info{namespace=~"$namespaces", container_id!=""})';
  return `sum by (namespace, pod, container) (sum by (container_id) (${usage}) * on (container_id) group_left (namespace, pod, container) ${names})`;
}

async function labelsOf(runQuery: RunQuery, metric: string): Promise<readonly string[] | null> {
  const answer = await runQuery(`topk(20, ${metricText(metric)})`);
  return 'series' in answer && answer.series.length > 0 ? answeredLabels(answer) : null;
}
