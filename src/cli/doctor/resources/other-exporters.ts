import { metricText } from '../../../promql/vector-selectors.js';
import type { SourceContext } from '../context/context.js';
import { findLabelScheme, resourceQueryFor } from './resource-labels.js';

/** An exporter of container usage other than cAdvisor, with its resource query. */
interface OtherExporter {
  readonly metric: string;
  readonly query: string;
}

type RunQuery = SourceContext['runQuery'];

interface Candidate {
  readonly metric: string;
  readonly isCounter: boolean;
}

/**
 * Metrics of the kubelet stats receiver of the OpenTelemetry Collector, with names in the form of Prometheus or in
 * UTF-8. Container metrics come before pod metrics.
 */
const OPEN_TELEMETRY: ReadonlyMap<string, readonly Candidate[]> = new Map(
  Object.entries({
    cpu: [
      { metric: 'container_cpu_time_seconds_total', isCounter: true },
      { metric: 'container_cpu_usage', isCounter: false },
      { metric: 'container.cpu.time', isCounter: true },
      { metric: 'container.cpu.usage', isCounter: false },
      { metric: 'k8s_pod_cpu_time_seconds_total', isCounter: true },
      { metric: 'k8s_pod_cpu_usage', isCounter: false },
      { metric: 'k8s.pod.cpu.usage', isCounter: false },
    ],
    memory: [
      { metric: 'container.memory.working_set', isCounter: false },
      { metric: 'container_memory_working_set', isCounter: false },
      { metric: 'k8s_pod_memory_working_set_bytes', isCounter: false },
      { metric: 'k8s.pod.memory.working_set', isCounter: false },
    ],
  }),
);

/** windows_exporter identifies a container only by the label `container_id`. */
const WINDOWS: ReadonlyMap<string, Candidate> = new Map(
  Object.entries({
    cpu: { metric: 'windows_container_cpu_usage_seconds_total', isCounter: true },
    memory: { metric: 'windows_container_memory_usage_private_working_set_bytes', isCounter: false },
  }),
);

export async function findOtherExporter(runQuery: RunQuery, resource: string): Promise<OtherExporter | null> {
  const windows = WINDOWS.get(resource);
  if (windows !== undefined && (await labelsOf(runQuery, windows.metric)) !== null)
    return { metric: windows.metric, query: windowsQuery(windows) };
  for (const { metric, isCounter } of OPEN_TELEMETRY.get(resource) ?? []) {
    const present = await labelsOf(runQuery, metric);
    const labels = present === null ? null : findLabelScheme(present);
    if (labels !== null) return { metric, query: resourceQueryFor(metric, labels, { isCounter }) };
  }
  return null;
}

/** Joins with kube-state-metrics, which maps container IDs to names. */
function windowsQuery({ metric, isCounter }: Candidate): string {
  const selector = `${metric}{container_id!=""}`;
  const usage = isCounter ? `rate(${selector}[$window])` : selector;
  const names =
    'max by (container_id, namespace, pod, container) (kube_pod_container_info{namespace=~"$namespaces", container_id!=""})';
  return `sum by (namespace, pod, container) (sum by (container_id) (${usage}) * on (container_id) group_left (namespace, pod, container) ${names})`;
}

async function labelsOf(runQuery: RunQuery, metric: string): Promise<ReadonlySet<string> | null> {
  const answer = await runQuery(`topk(20, ${metricText(metric)})`);
  if (answer.class !== 'value' && answer.class !== 'partial') return null;
  return answer.series.length === 0
    ? null
    : new Set(answer.series.flatMap(({ labels }) => Object.keys(labels)));
}
