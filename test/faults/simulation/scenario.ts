import type { Random } from './random.js';

/** One metric of a document, for the simulation and the checker. */
export interface MetricPlan {
  /**
   * cpu: usage of each pod. pod-rate: a rate of each pod. total-rate: one rate over all pods. gauge: one number. served:
   * what all pods serve, of cpu. backlog and capacity: those of a total rate, what waits and what one pod carries.
   */
  readonly kind: 'cpu' | 'pod-rate' | 'total-rate' | 'gauge' | 'served' | 'backlog' | 'capacity';
  readonly source: string;
  /** The true amount for one replica at the target: cores, requests a second, messages. */
  readonly perReplica: number;
  /** The rate window of its query, or of its metric; 0 for a gauge. */
  readonly windowSeconds: number;
  /** As the service sends it; for cpu a part of it. */
  readonly query: string;
}

/** One direction of `behavior`, as written. */
export interface RulePlan {
  readonly stabilizationWindowSeconds: number;
  readonly pods: number;
  readonly periodSeconds: number;
}

/** A workload and its document. */
export interface WorkloadPlan {
  readonly namespace: string;
  readonly name: string;
  readonly preset: 'hpa' | 'chpa' | 'hpa-1.11';
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly MetricPlan[];
  readonly behavior: { readonly up: RulePlan; readonly down: RulePlan } | null;
  readonly syncPeriodSeconds: number;
  /** Its pods take this much longer to start, have cpu limits, and its document has `podStart`; null: none of it. */
  readonly slowSeconds: number | null;
  /** The query of `maxReplicasFrom`. */
  readonly ceilingQuery?: string;
  /** What is served, of `capacity.auto` with `mode: Use`: only what it measures is the capacity of a pod. */
  readonly autoQuery?: string;
  /** True load at any time: replicas that would be exactly at the target. */
  readonly replicasNeeded: number;
}

/** What the documents, or the service config, of a simulation have besides. */
export const FEATURES = ['slow-starts', 'forecasts', 'recommendations'] as const;
export type Feature = (typeof FEATURES)[number];

export const NAMESPACE = 'shop';
/** The namespace of promscaler itself. */
export const OWN_NAMESPACE = 'promscaler';
/** Cores that a pod requests. */
export const CPU_REQUEST = 0.5;
export const SCRAPE_SECONDS = 15;
const CPU_PERCENT = 60;

/** Plans four workloads that together use every preset, every kind of metric and policies; numbers by the seed. */
export function planWorkloads(random: Random): readonly WorkloadPlan[] {
  const size = (): number => random.between(4, 14);
  return [
    { ...base('web', size()), metrics: [cpu()] },
    { ...base('api', size()), preset: 'chpa', metrics: [totalRate('api', random.integer(20, 60))] },
    {
      ...base('worker', size()),
      metrics: [gauge('worker', random.integer(10, 50))],
      behavior: {
        up: { stabilizationWindowSeconds: 0, pods: random.integer(2, 5), periodSeconds: 60 },
        down: {
          stabilizationWindowSeconds: random.pick([120, 300]),
          pods: random.integer(1, 3),
          periodSeconds: 60,
        },
      },
    },
    {
      ...base('cart', size()),
      preset: 'hpa-1.11',
      metrics: [podRate('cart', random.integer(20, 60)), cpu()],
      syncPeriodSeconds: 30,
    },
  ];
}

/**
 * Plans the same workloads with `podStart`; web has `saturation`, api has `backlog` and `capacity`, worker has
 * `maxReplicasFrom` and `capacity.auto`.
 */
export function planSlowWorkloads(random: Random): readonly WorkloadPlan[] {
  return planWorkloads(random).map((plan) => {
    const metrics = plan.metrics.flatMap((metric) => [metric, ...slowPartsOf(metric, plan.name)]);
    const slow = { ...plan, slowSeconds: random.integer(60, 240), metrics };
    if (plan.name !== 'worker') return slow;
    return { ...slow, ceilingQuery: 'sum(pods_allowed)', autoQuery: 'sum(rate(jobs_done_total[5m]))' };
  });
}

function slowPartsOf(metric: MetricPlan, name: string): readonly MetricPlan[] {
  if (name === 'web')
    return [{ ...metric, kind: 'served', perReplica: 10, query: 'sum(rate(served_total{job="web"}[2m]))' }];
  if (name !== 'api') return [];
  return [
    { ...metric, kind: 'backlog', query: 'sum(requests_waiting{job="api"})' },
    { ...metric, kind: 'capacity', query: 'max(requests_per_pod{job="api"})' },
  ];
}

function base(name: string, replicasNeeded: number): Omit<WorkloadPlan, 'metrics'> {
  return {
    namespace: NAMESPACE,
    name,
    preset: 'hpa',
    minReplicas: 2,
    maxReplicas: 40,
    behavior: null,
    slowSeconds: null,
    syncPeriodSeconds: 15,
    replicasNeeded,
  };
}

function cpu(): MetricPlan {
  const perReplica = (CPU_REQUEST * CPU_PERCENT) / 100;
  return { kind: 'cpu', source: 'default', perReplica, windowSeconds: 120, query: 'container_cpu' };
}

function totalRate(name: string, perReplica: number): MetricPlan {
  const query = `sum(rate(http_requests_total{job="${name}"}[2m]))`;
  return { kind: 'total-rate', source: 'default', perReplica, windowSeconds: 120, query };
}

function podRate(name: string, perReplica: number): MetricPlan {
  const query = `sum by (pod) (rate(pod_requests_total{job="${name}"}[5m]))`;
  return { kind: 'pod-rate', source: 'queues', perReplica, windowSeconds: 300, query };
}

function gauge(name: string, perReplica: number): MetricPlan {
  const query = `sum(queue_messages{queue="${name}"})`;
  return { kind: 'gauge', source: 'queues', perReplica, windowSeconds: 0, query };
}

/** Returns the documents as YAML, separated by `---`. */
export function writeDocuments(plans: readonly WorkloadPlan[]): string {
  return plans.map(writeDocument).join('---\n');
}

/** Writes each document as JSON, which is YAML. */
function writeDocument(plan: WorkloadPlan): string {
  const { namespace, name, preset, minReplicas, maxReplicas, syncPeriodSeconds, behavior } = plan;
  const spec = {
    preset,
    scaleTargetRef: { name },
    minReplicas,
    maxReplicas,
    syncPeriodSeconds,
    metrics: plan.metrics.flatMap((metric) => writeMetric(metric, plan)),
    ...(plan.slowSeconds === null ? {} : { podStart: {} }),
    ...(plan.ceilingQuery === undefined
      ? {}
      : { maxReplicasFrom: { query: plan.ceilingQuery, source: 'queues' } }),
    ...(behavior === null
      ? {}
      : { behavior: { scaleUp: writeRule(behavior.up), scaleDown: writeRule(behavior.down) } }),
  };
  const document = { apiVersion: 'promscaler.dev/v1', kind: 'Scaler', metadata: { name, namespace }, spec };
  return `${JSON.stringify(document)}\n`;
}

function writeRule({ stabilizationWindowSeconds, pods, periodSeconds }: RulePlan): object {
  return { stabilizationWindowSeconds, policies: [{ type: 'Pods', value: pods, periodSeconds }] };
}

function writeMetric(
  { kind, source, perReplica, query }: MetricPlan,
  { metrics: all, autoQuery }: WorkloadPlan,
): readonly object[] {
  const target = { type: 'AverageValue', averageValue: perReplica };
  const queryOf = (wanted: MetricPlan['kind']): string | undefined =>
    all.find((metric) => metric.kind === wanted)?.query;
  switch (kind) {
    case 'cpu': {
      const served = queryOf('served');
      const saturation = served === undefined ? {} : { saturation: { served: { query: served } } };
      const cpuTarget = { type: 'Utilization', averageUtilization: CPU_PERCENT };
      return [{ type: 'Resource', resource: { name: 'cpu', target: cpuTarget, ...saturation } }];
    }
    case 'pod-rate':
      return [{ type: 'Pods', pods: { metric: { name: 'rate' }, query, source, target } }];
    case 'total-rate':
    case 'gauge': {
      const [backlog, capacity] = [queryOf('backlog'), queryOf('capacity')];
      const parts = {
        ...(backlog === undefined ? {} : { backlog: { query: backlog, drainSeconds: 60 } }),
        ...(capacity === undefined ? {} : { capacity: { query: capacity } }),
      };
      if (autoQuery === undefined)
        return [{ type: 'External', external: { metric: { name: kind }, query, source, target, ...parts } }];
      // Without what was measured, half of the pods that are needed would seem enough.
      const wrong = { type: 'AverageValue', averageValue: 2 * perReplica };
      const auto = { mode: 'Use', served: { query: autoQuery } };
      const external = { metric: { name: kind }, query, source, target: wrong, capacity: { auto } };
      return [{ type: 'External', external }];
    }
    case 'served':
    case 'backlog':
    case 'capacity':
      return [];
    default:
      return kind satisfies never;
  }
}

/** The service config: two servers with the same targets, so that one can fail without the other. */
export function serviceConfig({
  isSharded,
  hasBackTests,
}: {
  readonly isSharded: boolean;
  readonly hasBackTests: boolean;
}): string {
  return `
prometheus:
  default: { urls: ["http://default:9090"], scrapeIntervalSeconds: ${SCRAPE_SECONDS}, resourceWindowSeconds: 120 }
  queues: { urls: ["http://queues:9090"], scrapeIntervalSeconds: ${SCRAPE_SECONDS} }
log: { level: warn, format: text }
${isSharded ? 'sharding: { enabled: true }\n' : ''}${hasBackTests ? NIGHTS : ''}`;
}

/** A night begins each hour, so that some hours have several. */
const NIGHTS =
  'recommendations: { enabled: true, schedule: "0 * * * *", spreadMinutes: 50, days: 2, events: true }\n';
