import type { Flavor, SourceConfig } from '../prometheus/data-source/source-config.js';

/** The default queries. They use the metrics of cAdvisor, which is part of the kubelet. */
export const RESOURCE_QUERIES = {
  cpu: 'sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD"}[$window]))',
  memory:
    'sum by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
} as const;

/**
 * Queries for containers that several jobs scrape. They sum the series of each job, and use the job with the largest
 * value. They are not the default: if a scrape label changes, the old and the new series each cover a part of the
 * window and must be summed.
 */
const ONCE_QUERIES = {
  cpu: (() => {
    const rateOf = (id: string): string =>
      `sum without (id, name, image, cpu) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD", ${id}}[$window]))`;
    // Sums series with and without `id` separately. Series of /metrics/resource have no `id`, which may be their only
    // difference from series of cAdvisor.
    return `max by (namespace, pod, container) (${rateOf('id!=""')} or ${rateOf('id=""')})`;
  })(),
  memory:
    'max by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
} as const;

/**
 * The cpu query for VictoriaMetrics, which divides a rate by the part of the window that has samples. After a restart
 * of a container, the old and the new series would therefore each show the whole usage. `and` removes the old series,
 * because it has no new samples. If several jobs scrape the container, `max` uses one of them.
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
  // A query in the config that equals the default, apart from spaces, is treated like an unset query.
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
