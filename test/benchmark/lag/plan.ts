/** All durations are a quarter of those in a cluster; only the scrape interval is shorter. */
export const TIME_SCALE = 4;
export const NAMESPACE = 'shop';
export const REPLICAS = 8;
export const NODES = 8;
export const SCRAPE_SECONDS = 1;
/** The default `resourceWindowSeconds` of 120 s, scaled. */
export const WINDOW_SECONDS = 30;
/** The default stabilization of 300 s, scaled. */
export const LONG_STABILIZATION_SECONDS = 75;
/** After a failure, samples are missing at the start of the range for this long, and a recovery hold may follow. */
export const RECOVERY_SECONDS = 45;

export const KINDS = ['cpu', 'Pods', 'Object', 'External'] as const;
export type Kind = (typeof KINDS)[number];

export const STABILIZATIONS = [0, LONG_STABILIZATION_SECONDS] as const;

/** A scaler with its own Deployment. */
export interface Subject {
  readonly name: string;
  readonly kind: Kind;
  readonly stabilizationSeconds: number;
}

export const SUBJECTS: readonly Subject[] = STABILIZATIONS.flatMap((stabilizationSeconds) =>
  KINDS.map((kind) => ({
    name: `${kind.toLowerCase()}-${stabilizationSeconds}`,
    kind,
    stabilizationSeconds,
  })),
);

/** The target of one pod: 60 % of the CPU request of 0.5 cores, and requests per second. */
export const REQUESTS_AT_TARGET = 10;
/** The share of its target that each pod uses: at exactly 1, a rate that reads 0.1 % too high needs one more pod. */
export const SHARE_OF_TARGET = 0.9875;
export const CORES_PER_POD = 0.3 * SHARE_OF_TARGET;
export const REQUESTS_PER_POD = REQUESTS_AT_TARGET * SHARE_OF_TARGET;

export const ENGINES = ['prometheus', 'victoriametrics'] as const;
export type EngineName = (typeof ENGINES)[number];

/** How samples reach the engine: it scrapes, or an agent writes to it, or the results of a recording rule are written. */
export const PATHS = ['scrape', 'agent', 'rule'] as const;
export type Path = (typeof PATHS)[number];

/** Names of the series that the recording rules write. */
export const CPU_RULE = 'container:cpu_usage:rate30s';
export const REQUESTS_RULE = 'pod:requests:rate30s';

/** Returns the scaler documents of all subjects, as YAML. */
export function documents(path: Path): string {
  return SUBJECTS.map((subject) => documentOf(subject, path)).join('---\n');
}

function documentOf({ name, kind, stabilizationSeconds }: Subject, path: Path): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: ${NAMESPACE} }
spec:
  scaleTargetRef: { name: ${name} }
  minReplicas: 1
  maxReplicas: 16
  downscaleStabilizationSeconds: ${stabilizationSeconds}
  metrics:
    - ${metricOf(name, kind, path)}
`;
}

function metricOf(name: string, kind: Kind, path: Path): string {
  const target = `target: { averageValue: ${REQUESTS_AT_TARGET} }`;
  const rated = (matchers: string): string =>
    path === 'rule'
      ? `${REQUESTS_RULE}{${matchers}}`
      : `rate(requests_total{${matchers}}[${WINDOW_SECONDS}s])`;
  const ofPods = rated('namespace="$namespace", pod=~"$pods"');
  const total = rated(`namespace="$namespace", workload="${name}"`);
  switch (kind) {
    case 'cpu':
      return 'resource: { name: cpu, target: { averageUtilization: 60 } }';
    case 'Pods':
      return `pods: { metric: { name: requests }, query: 'sum by (pod) (${ofPods})', ${target} }`;
    case 'Object':
      return `object: { metric: { name: requests }, describedObject: { apiVersion: v1, kind: Service, name: ${name} }, query: 'sum(${total})', ${target} }`;
    case 'External':
      return `external: { metric: { name: requests }, query: 'sum(${total})', ${target} }`;
    default:
      return kind satisfies never;
  }
}

/** Returns the service config, as YAML. */
export function serviceConfig(
  path: Path,
  given: {
    readonly engineUrl: string;
    readonly kubernetesUrl: string;
    readonly port: number;
    readonly record: string;
  },
): string {
  const cpu = `sum by (namespace, pod, container) (${CPU_RULE}{namespace=~"$namespaces"})`;
  const ruled =
    path === 'rule'
      ? `, resourceQueries: { cpu: '${cpu}' }, resourceWindows: { cpu: ${WINDOW_SECONDS} }`
      : '';
  return `prometheus:
  default: { urls: ['${given.engineUrl}'], scrapeIntervalSeconds: ${SCRAPE_SECONDS}, resourceWindowSeconds: ${WINDOW_SECONDS}${ruled} }
kubernetes: { url: '${given.kubernetesUrl}' }
scalers: { paths: [scalers.yaml] }
server: { port: ${given.port}, dashboard: false }
recoveryHoldMaxSeconds: ${WINDOW_SECONDS}
defaults: { syncPeriodSeconds: 1 }
record: { path: '${given.record}', which: all, maxFileBytes: 1073741824 }
log: { level: warn }
`;
}
