import type { Flavor, SourceConfig } from '../prometheus/data-source/source-config.js';

/** Metrics of cAdvisor, which is part of the kubelet. */
export const RESOURCE_QUERIES = {
  cpu: 'sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD"}[$window]))',
  memory:
    'sum by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
} as const;

/**
 * For containers that several jobs scrape: uses the job with the largest value, and sums series that differ only by
 * restart or CPU. Not the default: if a scrape label changes, the old and the new series each cover a part of the
 * window and must be summed.
 */
const ONCE_QUERIES = {
  cpu: (() => {
    const rateOf = (id: string): string =>
      `sum without (id, name, image, cpu) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD", ${id}}[$window]))`;
    // Series of /metrics/resource have no `id`; only this label may distinguish them from series of cAdvisor.
    return `max by (namespace, pod, container) (${rateOf('id!=""')} or ${rateOf('id=""')})`;
  })(),
  memory:
    'max by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
} as const;

/**
 * VictoriaMetrics divides a rate by the part of the window that the series covers, so the usage of a restarted
 * container would be counted twice, in its old and its new series: `and` keeps only series that still have samples.
 * Each of them has the whole usage of the container, so `max` is correct if several jobs scrape it.
 */
const VICTORIA_METRICS_CPU = (() => {
  const selector =
    'container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD"}';
  return `max by (namespace, pod, container) (sum without (cpu) (rate(${selector}[$window]) and ${selector}))`;
})();

/** Fields as in the config; unset: the default query. */
interface WrittenQueries {
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
}

export function resolveResourceQueries(
  written: WrittenQueries,
  flavor: Flavor,
): Pick<SourceConfig, 'resourceQueries' | 'onceQueries'> {
  const { cpu = RESOURCE_QUERIES.cpu, memory = RESOURCE_QUERIES.memory } = written;
  // A copy of the default query in the config counts as the default.
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
