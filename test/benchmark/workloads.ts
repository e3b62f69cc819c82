/** One workload of the benchmark's cluster. */
export interface Workload {
  readonly namespace: string;
  readonly name: string;
}

export const NAMESPACES = 10;
const WORKLOADS_PER_NAMESPACE = 100;
export const PODS_PER_WORKLOAD = 5;
export const PODS = NAMESPACES * WORKLOADS_PER_NAMESPACE * PODS_PER_WORKLOAD;

/** Of each pod: with 0.05 s of cpu for a request and 5 mcores at rest, 60 % of the 500 mcores that it requests. */
export const REQUESTS_PER_SECOND_PER_POD = 5.9;
export const CPU_PERCENT = 60;

/** Returns `team-0/app-00` to `team-9/app-99`. */
export function allWorkloads(): readonly Workload[] {
  return Array.from({ length: NAMESPACES * WORKLOADS_PER_NAMESPACE }, (_, index) => ({
    namespace: `team-${Math.floor(index / WORKLOADS_PER_NAMESPACE)}`,
    name: `app-${String(index % WORKLOADS_PER_NAMESPACE).padStart(2, '0')}`,
  }));
}
