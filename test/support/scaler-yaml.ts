/** A metric that no query answers, because the tests have no Prometheus. */
export const EXTERNAL_METRIC = 'external: { metric: { name: m }, query: sum(m), target: { value: 1 } }';

/** Returns a scaler document as YAML. `metrics`: one line each. `spec`: its other fields. */
export function scalerYaml({
  name = 'web',
  namespace = 'shop',
  metrics = [cpuMetric(70)],
  ...spec
}: {
  readonly name?: string;
  readonly namespace?: string;
  readonly metrics?: readonly string[];
  readonly minReplicas?: number;
  readonly maxReplicas?: number;
  readonly syncPeriodSeconds?: number;
  readonly tolerance?: number;
  /** A flow mapping of YAML. */
  readonly podStart?: string;
} = {}): string {
  const fields = Object.entries({ maxReplicas: 20, ...spec }).map(
    ([field, value]) => `  ${field}: ${value}\n`,
  );
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  scaleTargetRef: { name: ${name} }
${fields.join('')}  metrics:
${metrics.map((metric) => `    - ${metric}\n`).join('')}`;
}

export function cpuMetric(percent: number): string {
  return `resource: { name: cpu, target: { averageUtilization: ${percent} } }`;
}

/** Returns a document for the Deployment `web`, of which only the name matters, its maximum or further fields. */
export function shortScalerYaml(name: string, max: number | string = 10, fields = ''): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: shop }
spec: { scaleTargetRef: { name: web }, maxReplicas: ${max}${fields} }
`;
}
