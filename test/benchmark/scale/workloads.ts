/** A Deployment of the benchmark's cluster, and what its scaler reads. */
export interface Workload {
  readonly index: number;
  readonly namespace: string;
  readonly name: string;
  readonly kind: MetricKind;
}

/** `cpu`: Resource metric; `own`: Pods metric with a distinct query; `shared`: with the query of its namespace. */
export type MetricKind = 'cpu' | 'own' | 'shared';

export interface SimulationSize {
  readonly scalers: number;
  /** Of each Deployment at the start. */
  readonly pods: number;
  /** Whether each document has a forecast that observes. Default: none has. */
  readonly hasForecasts?: boolean;
}

export const WORKLOADS_PER_NAMESPACE = 100;
export const PERIOD_SECONDS = 15;

/** Cores of each pod at the start: 60 % of the 500m that it requests. */
export const CPU_REQUEST = '500m';
export const CPU_PERCENT = 60;
const CORES_PER_POD = 0.3;
export const REQUESTS_PER_SECOND_PER_POD = 10;

/** A half, a quarter and a quarter, in every namespace. */
const KINDS: readonly MetricKind[] = ['cpu', 'own', 'cpu', 'shared'];

/** `team-000/app-00000` and so on. */
export function workloadsOf({ scalers }: Pick<SimulationSize, 'scalers'>): readonly Workload[] {
  return Array.from({ length: scalers }, (_, index) => ({
    index,
    namespace: namespaceOf(index),
    name: `app-${String(index).padStart(5, '0')}`,
    kind: KINDS[index % KINDS.length] ?? 'cpu',
  }));
}

function namespaceOf(index: number): string {
  return `team-${String(Math.floor(index / WORKLOADS_PER_NAMESPACE)).padStart(3, '0')}`;
}

export function namespacesOf({ scalers }: Pick<SimulationSize, 'scalers'>): readonly string[] {
  return Array.from({ length: Math.ceil(scalers / WORKLOADS_PER_NAMESPACE) }, (_, index) =>
    namespaceOf(index * WORKLOADS_PER_NAMESPACE),
  );
}

/** Queries of the documents in a round, without the resource query, which is split by its series. */
export function documentQueries(size: Pick<SimulationSize, 'scalers'>): number {
  const placed = workloadsOf(size).filter(({ kind }) => kind !== 'cpu');
  return new Set(placed.map(({ kind, namespace }) => `${kind} ${namespace}`)).size;
}

/** One workload in 25 has a step of load, up for 10 minutes and down for 10, each at a different time. */
const MOVING = 25;
const MOVING_REMAINDER = 3;
const STEP_SLOTS = 40;
const STEP = 1.35;

/** The load of a workload in a slot of 15 s since the start, relative to its first one. */
export function loadFactor(index: number, slot: number): number {
  if (index % MOVING !== MOVING_REMAINDER) return 1;
  const behind = slot - ((Math.floor(index / MOVING) * 37) % (2 * STEP_SLOTS));
  return behind >= 0 && behind % (2 * STEP_SLOTS) < STEP_SLOTS ? STEP : 1;
}

/** Up to 2 % around 1, other for each pod and slot: far inside the tolerance, and with the digits of a rate. */
export function noise(index: number, pod: number, slot: number): number {
  let hash =
    Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(pod + 1, 0x85ebca6b) ^ Math.imul(slot + 1, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return 1 + (((hash ^ (hash >>> 12)) >>> 0) / 2 ** 32 - 0.5) * 0.04;
}

/** The value of one pod, with the load of its workload spread over the pods that are ready. */
export function usageOf(
  { index, kind }: Workload,
  { pod, ready, slot, pods }: { pod: number; ready: number; slot: number; pods: number },
  metric: 'cpu' | 'requests',
): number {
  const perPod = metric === 'cpu' ? CORES_PER_POD : REQUESTS_PER_SECOND_PER_POD;
  const isMoved = (metric === 'cpu') === (kind === 'cpu');
  const load = perPod * pods * (isMoved ? loadFactor(index, slot) : 1);
  return (load / Math.max(1, ready)) * noise(index, pod, slot);
}
