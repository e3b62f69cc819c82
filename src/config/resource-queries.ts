import type { Flavor, SourceConfig } from '../prometheus/data-source/source-config.js';

/** The default queries. They use the metrics of cAdvisor, which is part of the kubelet. */
export const RESOURCE_QUERIES = {
  cpu: 'sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD"}[$window]))',
  memory:
    'sum by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
} as const;

/**
 * Queries for containers that several jobs scrape. They use the job with the largest value, and sum series that differ
 * only by restart or CPU. They are not the default: if a scrape label changes, the old and the new series each cover a
 * part of the window and must be summed.
 */
const ONCE_QUERIES = {
  cpu: (() => {
    const rateOf = (id: string): string =>
      `sum without (id, name, image, cpu) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD", ${id}}[$window]))`;
    // Series of /metrics/resource have no `id`. This label alone may distinguish them from series of cAdvisor.
    return `max by (namespace, pod, container) (${rateOf('id!=""')} or ${rateOf('id=""')})`;
  })(),
  memory:
    'max by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
} as const;

/**
 * The cpu query for VictoriaMetrics. There, a rate is divided by the part of the window that has samples. So after a
 * restart of a container, the old and the new series each show the whole usage, and must not be added up. `and` removes
 * the old series, because it has no new samples. If several jobs scrape the container, `max` uses one of them.
 */
const VICTORIA_METRICS_CPU = (() => {
  const selector =
    'container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD"}';
  return `max by (namespace, pod, container) (sum without (cpu) (rate(${selector}[$window]) and ${selector}))`;
})();

/** The queries as in the config; unset: the default query. */
interface WrittenQueries {
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
}

export function resolveResourceQueries(
  written: WrittenQueries,
  flavor: Flavor,
): Pick<SourceConfig, 'resourceQueries' | 'onceQueries'> {
  const { cpu = RESOURCE_QUERIES.cpu, memory = RESOURCE_QUERIES.memory } = written;
  // The default query counts as the default even if the config repeats it.
  const isDefault = (query: string, other: string): boolean => withoutSpaces(query) === withoutSpaces(other);
  const isDefaultCpu = isDefault(cpu, RESOURCE_QUERIES.cpu);
  const isVictoriaMetrics = flavor === 'victoriametrics';
  return {
    resourceQueries: { cpu: isVictoriaMetrics && isDefaultCpu ? VICTORIA_METRICS_CPU : cpu, memory },
    onceQueries: {
      ...(isDefaultCpu && !isVictoriaMetrics ? { cpu: ONCE_QUERIES.cpu } : {}),
      ...(isDefault(memory, RESOURCE_QUERIES.memory) ? { memory: ONCE_QUERIES.memory } : {}),
    },
  };
}

function withoutSpaces(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
