import { DEMO_NAMESPACE } from './workloads.js';

/** How often Prometheus looks at the pods. As in life, several times within the shortest window of a query. */
export const SCRAPE_SECONDS = 1;

/** Over how long rates are taken. Not shortened by the speed: that would make the metrics untrue. */
export const RATE_SECONDS = 10;

/**
 * How long a metric must be there again before it scales down, at speed 1. Prometheus is as young as the demo, which
 * doubles it: with less patience than in life the queue's worker shrinks before a demo of two minutes is over.
 */
const HOLD_SECONDS = 150;

/** The text of the service config of the demo. */
export function demoServiceConfig(addresses: {
  readonly prometheusUrl: string;
  /** The file, relative to the config. */
  readonly kubeconfig: string;
  readonly port: number;
  /** How much faster than life: what waits for metrics that are back is shortened like the windows. */
  readonly speed: number;
}): string {
  return `# The service config of the demo. It is read at the start only.
prometheus:
  default:
    urls: [${addresses.prometheusUrl}]
    scrapeIntervalSeconds: ${SCRAPE_SECONDS}
    resourceWindowSeconds: ${RATE_SECONDS}
recoveryHoldMaxSeconds: ${Math.max(1, Math.round(HOLD_SECONDS / addresses.speed))}
kubernetes:
  kubeconfig: ${addresses.kubeconfig}
scalers:
  paths: [scalers]       # mailer is a file,
  customResources: true  # checkout and search are objects of the cluster
server: { port: ${addresses.port} }
leaderElection: { enabled: true }
state: { enabled: true }
log: { level: error, format: text }  # the demo tells its own story
`;
}

/** The text of the Prometheus config of the demo: targets come from the cluster by http_sd. */
export function demoPrometheusConfig(sdUrl: string): string {
  return `global:
  scrape_interval: ${SCRAPE_SECONDS}s
scrape_configs:
  - job_name: cluster
    honor_labels: true
    http_sd_configs:
      - url: ${sdUrl}
        refresh_interval: 1s
`;
}

/** The scaler documents of the demo. */
export interface DemoDocuments {
  /** YAML by file name: those that are read from files. */
  readonly files: ReadonlyMap<string, string>;
  /** YAML: those that are objects of the cluster. */
  readonly objects: readonly string[];
}

/** The documents of the demo. Windows and periods are shortened by `speed`, like the load. */
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
  return `# A Deployment, kept at 60 % of the cpu that its pods request.
${head('checkout')}
spec:
  scaleTargetRef: { name: checkout }
  minReplicas: 2
  maxReplicas: 20
  metrics:
    - resource: { name: cpu, target: { averageUtilization: 60 } }
  downscaleStabilizationSeconds: ${seconds(300)}
  syncPeriodSeconds: ${seconds(15)}
`;
}

function search(seconds: Seconds): string {
  return `# A StatefulSet, kept at 20 requests per second for each pod, that grows by at most 3 pods a minute of the load's time.
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
      stabilizationWindowSeconds: ${seconds(300)}
  syncPeriodSeconds: ${seconds(15)}
`;
}

function mailer(seconds: Seconds): string {
  return `# A worker on a queue: 30 waiting messages for each pod, with CHPA's windows (no change too soon after the last one).
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
