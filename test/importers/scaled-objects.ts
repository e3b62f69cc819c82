/** The Prometheus of the triggers. */
export const SERVER = 'http://prometheus.monitoring:9090';

/** A ScaledObject `shop/worker` with these fields of its spec. */
export function scaledObject(spec: string, { annotations = '{}', name = 'worker' } = {}): string {
  return `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: ${name}, namespace: shop, annotations: ${annotations} }
spec:
  scaleTargetRef: { name: ${name} }
${spec.replace(/^/gm, '  ')}
`;
}

/** A prometheus trigger with more metadata and fields. */
export function prometheus(metadata = '', rest = ''): string {
  return `{ type: prometheus, ${rest} metadata: { serverAddress: ${SERVER}, query: sum(queue_depth), threshold: "30"${metadata} } }`;
}

/** The field of these triggers. */
export function triggers(...list: readonly string[]): string {
  return `triggers:\n${list.map((one) => `  - ${one}`).join('\n')}`;
}
