import { metricText } from '../../../promql/vector-selectors.js';
import type { SourceInquiry } from '../inquiry.js';
import { findWhoseLabels, resourceQueryFor } from './resource-labels.js';

/** An exporter of container usage other than cAdvisor, and the resource query that fits it. */
export interface OtherExporter {
  readonly metric: string;
  readonly query: string;
}

type Ask = SourceInquiry['ask'];

/** A metric of an exporter; `isCounter`: of seconds, so that a rate is taken. */
interface Candidate {
  readonly metric: string;
  readonly isCounter: boolean;
}

/**
 * What the kubelet stats receiver of the OpenTelemetry Collector calls it, as Prometheus translates the names or takes
 * them as they are (UTF-8). Metrics of containers before those of whole pods.
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

/** What windows_exporter calls it; its only label of the container is `container_id`. */
const WINDOWS: ReadonlyMap<string, Candidate> = new Map(
  Object.entries({
    cpu: { metric: 'windows_container_cpu_usage_seconds_total', isCounter: true },
    memory: { metric: 'windows_container_memory_usage_private_working_set_bytes', isCounter: false },
  }),
);

/** The first exporter whose series of the resource are there; null where none is known. */
export async function findOtherExporter(ask: Ask, resource: string): Promise<OtherExporter | null> {
  const windows = WINDOWS.get(resource);
  if (windows !== undefined && (await labelsOf(ask, windows.metric)) !== null)
    return { metric: windows.metric, query: windowsQuery(windows) };
  for (const { metric, isCounter } of OPEN_TELEMETRY.get(resource) ?? []) {
    const present = await labelsOf(ask, metric);
    const labels = present === null ? null : findWhoseLabels(present);
    if (labels !== null) return { metric, query: resourceQueryFor(metric, labels, { isCounter }) };
  }
  return null;
}

/** The names come from kube-state-metrics, which knows the same container id. */
function windowsQuery({ metric, isCounter }: Candidate): string {
  const selector = `${metric}{container_id!=""}`;
  const usage = isCounter ? `rate(${selector}[$window])` : selector;
  const names =
    'max by (container_id, namespace, pod, container) (kube_pod_container_info{namespace=~"$namespaces", container_id!=""})';
  return `sum by (namespace, pod, container) (sum by (container_id) (${usage}) * on (container_id) group_left (namespace, pod, container) ${names})`;
}

/** The labels of some series of a metric; null where there are none. */
async function labelsOf(ask: Ask, metric: string): Promise<ReadonlySet<string> | null> {
  const answer = await ask(`topk(20, ${metricText(metric)})`);
  if (answer.class !== 'value' && answer.class !== 'partial') return null;
  return answer.series.length === 0
    ? null
    : new Set(answer.series.flatMap(({ labels }) => Object.keys(labels)));
}
