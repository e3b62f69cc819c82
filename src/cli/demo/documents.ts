import { DEMO_NAMESPACE } from './workloads.js';

/** The scrape interval, short enough that the shortest window of a query contains several scrapes. */
export const SCRAPE_SECONDS = 1;

/** The window of `rate`. `--speed` does not shorten it, because a shorter window would distort the metrics. */
export const RATE_SECONDS = 10;

export function demoServiceConfig(addresses: {
  readonly prometheusUrl: string;
  /** Path relative to the directory of the config. */
  readonly kubeconfig: string;
  readonly port: number;
}): string {
  return `# The service config of the demo. It is read only at startup.
prometheus:
  default:
    urls: [${addresses.prometheusUrl}]
    scrapeIntervalSeconds: ${SCRAPE_SECONDS}
    resourceWindowSeconds: ${RATE_SECONDS}
recoveryHoldMaxSeconds: 0  # Prometheus is new: a hold would last for much of the demo
kubernetes:
  kubeconfig: ${addresses.kubeconfig}
scalers:
  paths: [scalers]       # mailer is a file,
  customResources: true  # checkout and search are objects of the cluster
server: { port: ${addresses.port} }
leaderElection: { enabled: true }
state: { enabled: true }
log: { level: info, format: text }  # goes to promscaler.log; the demo prints its own messages
`;
}

/** File next to prometheus.yml with the address of promscaler. It is written once the port is known. */
export const SERVICE_TARGETS_FILE = 'promscaler.json';

/** Returns the Prometheus config of the demo. It scrapes the targets of the cluster's http_sd, and promscaler. */
export function demoPrometheusConfig(sdUrl: string): string {
  return `global:
  scrape_interval: ${SCRAPE_SECONDS}s
scrape_configs:
  - job_name: cluster
    honor_labels: true
    http_sd_configs:
      - url: ${sdUrl}
        refresh_interval: 1s
  - job_name: promscaler
    honor_labels: true
    file_sd_configs:
      - files: [${SERVICE_TARGETS_FILE}]
        refresh_interval: 1s
`;
}

/**
 * Returns the content of `SERVICE_TARGETS_FILE`. As with a ServiceMonitor, the label `namespace` is the namespace of
 * the service.
 */
export function demoServiceTargets(port: number): string {
  return JSON.stringify([{ targets: [`127.0.0.1:${port}`], labels: { namespace: DEMO_NAMESPACE } }]);
}

interface DemoDocuments {
  /** Maps file names to documents as YAML. */
  readonly files: ReadonlyMap<string, string>;
  /** Documents as YAML that are created as Scaler objects. */
  readonly objects: readonly string[];
}

export function demoDocuments(speed: number): DemoDocuments {
  const seconds = (atSpeedOne: number): number => Math.max(1, Math.round(atSpeedOne / speed));
  return {
    files: new Map([['mailer.yaml', mailer(seconds)]]),
    objects: [checkout(seconds), search(seconds)],
  };
}

type Seconds = (atSpeedOne: number) => number;

function head(name: string): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: ${DEMO_NAMESPACE} }`;
}

function checkout(seconds: Seconds): string {
  return `# A Deployment at 60 % of the cpu requests of its pods.
${head('checkout')}
spec:
  scaleTargetRef: { name: checkout }
  minReplicas: 2
  maxReplicas: 20
  metrics:
    - resource: { name: cpu, target: { averageUtilization: 60 } }
  downscaleStabilizationSeconds: ${seconds(100)}
  syncPeriodSeconds: ${seconds(15)}
`;
}

function search(seconds: Seconds): string {
  return `# A StatefulSet at 20 requests per second per pod; at most 3 more pods per minute at --speed 1.
${head('search')}
spec:
  scaleTargetRef: { kind: StatefulSet, name: search }
  minReplicas: 2
  maxReplicas: 12
  metrics:
    - pods:
        metric: { name: requests-per-second }
        query: sum by (namespace, pod) (rate(http_requests_total{namespace="$namespace", pod=~"$pods"}[${RATE_SECONDS}s]))
        target: { averageValue: 20 }
  behavior:
    scaleUp:
      policies: [{ type: Pods, value: 3, periodSeconds: ${seconds(60)} }]
    scaleDown:
      stabilizationWindowSeconds: ${Math.max(RATE_SECONDS, seconds(300))}
  syncPeriodSeconds: ${seconds(15)}
`;
}

function mailer(seconds: Seconds): string {
  return `# A worker on a queue: 30 waiting messages per pod, with a minimum time between two changes.
${head('mailer')}
spec:
  preset: chpa
  scaleTargetRef: { name: mailer }
  minReplicas: 1
  maxReplicas: 10
  metrics:
    - external:
        metric: { name: queue-depth, selector: { matchLabels: { queue: mails } } }
        query: sum by (namespace, queue) (rabbitmq_queue_messages)
        target: { averageValue: 30 }
  downscaleConfirmation: { decisions: 3, seconds: ${seconds(60)} }
  upscaleForbiddenWindowSeconds: ${seconds(120)}
  downscaleForbiddenWindowSeconds: ${seconds(300)}
  syncPeriodSeconds: ${seconds(15)}
`;
}

/** The CustomResourceDefinition of KEDA without its schema, so that `adopt` can be tried. The demo runs no KEDA. */
export const SCALED_OBJECTS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'scaledobjects.keda.sh' },
  spec: {
    group: 'keda.sh',
    scope: 'Namespaced',
    names: {
      plural: 'scaledobjects',
      singular: 'scaledobject',
      kind: 'ScaledObject',
      listKind: 'ScaledObjectList',
      shortNames: ['so'],
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
