import { stringLiteral } from '../../../promql/quoting.js';
import { labelText, selectorText } from '../../../promql/vector-selectors.js';

/** The labels that tell whose a container's series is. */
export interface WhoseLabels {
  readonly namespace: string;
  readonly pod: string;
  /** Null: the series are of whole pods. */
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
 * Which labels of some series name namespace, pod and container; null where none could be the namespace or the pod.
 * `exported_pod` wins beside `pod`: then `pod` is the exporter's own.
 */
export function findWhoseLabels(present: ReadonlySet<string>): WhoseLabels | null {
  const find = (names: readonly string[]): string | null => {
    const found = names.filter((name) => present.has(name));
    return found.find((name) => name.startsWith('exported_')) ?? found[0] ?? null;
  };
  const namespace = find(SPELLINGS.namespace);
  const pod = find(SPELLINGS.pod);
  if (namespace === null || pod === null) return null;
  return { namespace, pod, container: find(SPELLINGS.container) };
}

/** Selectors of a metric for one namespace, one for each label that may name it. */
export function selectorsOfNamespace(metric: string, namespace: string): readonly string[] {
  return SPELLINGS.namespace.map((label) =>
    selectorText(metric, [`${labelText(label)}=${stringLiteral(namespace)}`]),
  );
}

/** The labels as promscaler expects them. */
export function isAsExpected({ namespace, pod, container }: WhoseLabels): boolean {
  return namespace === 'namespace' && pod === 'pod' && container === 'container';
}

/**
 * A resource query that gives `namespace`, `pod` and (where there is one) `container` from series with other labels.
 * `isCounter`: a rate over `$window` is taken.
 */
export function resourceQueryFor(
  metric: string,
  labels: WhoseLabels,
  { isCounter }: { readonly isCounter: boolean },
): string {
  const { namespace, pod, container } = labels;
  const whole = labelText(container ?? pod);
  const selector = selectorText(metric, [
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
