import { stringLiteral } from '../../promql/quoting.js';
import { labelText, selectorText } from '../../promql/vector-selectors.js';
import type { SourceContext } from './context.js';

export interface LabelScheme {
  readonly namespace: string;
  readonly pod: string;
  /** The label with the name of the container; null: each series is the usage of a whole pod. */
  readonly container: string | null;
}

const SPELLINGS = {
  namespace: [
    'namespace',
    'exported_namespace',
    'kubernetes_namespace',
    'kubernetes_namespace_name',
    'k8s_namespace_name',
    'k8s.namespace.name',
    'pod_namespace',
    'namespace_name',
    'container_label_io_kubernetes_pod_namespace',
  ],
  pod: [
    'pod',
    'pod_name',
    'exported_pod',
    'kubernetes_pod_name',
    'k8s_pod_name',
    'k8s.pod.name',
    'container_label_io_kubernetes_pod_name',
  ],
  container: [
    'container',
    'container_name',
    'exported_container',
    'kubernetes_container_name',
    'k8s_container_name',
    'k8s.container.name',
    'container_label_io_kubernetes_container_name',
  ],
} as const;

/**
 * Prefixes of labels of the measured container, in case the labels without a prefix belong to the pod of the exporter.
 * A scrape adds `exported_`; a standalone cAdvisor uses the other prefix.
 */
const OF_THE_CONTAINER = /^(?:exported_|container_label_io_kubernetes_)/;

/** Returns the labels that identify a container; null: there is no label for the namespace or the pod. */
export function findLabelScheme(present: ReadonlySet<string>): LabelScheme | null {
  const find = (names: readonly string[]): string | null => {
    const found = names.filter((name) => present.has(name));
    return found.find((name) => OF_THE_CONTAINER.test(name)) ?? found[0] ?? null;
  };
  const namespace = find(SPELLINGS.namespace);
  const pod = find(SPELLINGS.pod);
  if (namespace === null || pod === null) return null;
  return { namespace, pod, container: find(SPELLINGS.container) };
}

/** Returns whether the values of a label are names of namespaces or of pods; null: of something else. */
export function namesOf(label: string): 'namespace' | 'pod' | null {
  const has = (names: readonly string[]): boolean => names.includes(label);
  if (has(SPELLINGS.namespace)) return 'namespace';
  return has(SPELLINGS.pod) ? 'pod' : null;
}

export function selectorsOfNamespace(metric: string, namespace: string): readonly string[] {
  return SPELLINGS.namespace.map((label) =>
    selectorText(metric, [`${labelText(label)}=${stringLiteral(namespace)}`]),
  );
}

export function isDefaultScheme({ namespace, pod, container }: LabelScheme): boolean {
  return namespace === 'namespace' && pod === 'pod' && container === 'container';
}

/**
 * Returns a resource query that renames the labels to `namespace`, `pod` and, if there is one, `container`. The query
 * of a counter is a `rate` over `$window`.
 */
export function resourceQueryFor(
  metric: string,
  labels: LabelScheme,
  { isCounter, matchers = [] }: { readonly isCounter: boolean; readonly matchers?: readonly string[] },
): string {
  const { namespace, pod, container } = labels;
  const whole = labelText(container ?? pod);
  const selector = selectorText(metric, [
    ...matchers,
    `${labelText(namespace)}=~"$namespaces"`,
    `${whole}!=""`,
    ...(container === null ? [] : [`${whole}!="POD"`]),
  ]);
  const by = [namespace, pod, ...(container === null ? [] : [container])].map(labelText);
  const sum = `sum by (${by.join(', ')}) (${isCounter ? `rate(${selector}[$window])` : selector})`;
  const renamed: readonly (readonly [string, string])[] = [
    [namespace, 'namespace'],
    [pod, 'pod'],
    ...(container === null ? [] : [[container, 'container'] as const]),
  ];
  return renamed.reduce(
    (query, [from, to]) =>
      from === to ? query : `label_replace(${query}, "${to}", "$1", "${from}", "(.+)")`,
    sum,
  );
}

export interface UsedResource {
  readonly resource: string;
  readonly namespaces: readonly string[];
}

export function usedResources({ source, scalers }: SourceContext): readonly UsedResource[] {
  const byResource = new Map<string, Set<string>>();
  for (const { namespace, spec } of scalers) {
    for (const metric of spec.metrics) {
      if (metric.type !== 'Resource' && metric.type !== 'ContainerResource') continue;
      if (metric.source !== source.name) continue;
      const namespaces = byResource.get(metric.name) ?? new Set<string>();
      byResource.set(metric.name, namespaces.add(namespace));
    }
  }
  return [...byResource].map(([resource, namespaces]) => ({ resource, namespaces: [...namespaces].sort() }));
}
