import { HPAS, replicasOf } from './cluster.js';
import type { Fault } from './faults.js';
import { OWN_NAMESPACE } from './scenario.js';
import type { Simulation } from './simulation.js';

export type ClusterFault = Extract<Fault, { readonly kind: 'cluster' }>;

/** Applies faults of processes, workloads, other writers and documents; `later` is when the fault ends. */
export function applyClusterFault(
  simulation: Simulation,
  fault: ClusterFault,
  later: (run: () => void) => void,
): void {
  const { what } = fault;
  const replica = simulation.replicas[fault.replica];
  const workload = simulation.workload(fault.target);
  const forMs = fault.endMs - fault.startMs;
  const repeat = (periodMs: number, run: () => void): void => {
    for (let ms = 0; ms < forMs; ms += periodMs) simulation.timeline.after(ms, run);
  };
  switch (what.mode) {
    case 'crash':
      if (what.point === null) replica?.crash();
      else if (replica !== undefined) {
        replica.crashPoint = what.point;
        later(() => (replica.crashPoint = null));
      }
      return;
    case 'gone':
      replica?.crash(forMs);
      return;
    case 'switched':
      replica?.replace(what.isSharded);
      return;
    case 'stopped': {
      const process = replica?.process;
      process?.pause();
      later(() => process?.resume());
      return;
    }
    case 'suspended': {
      const process = replica?.process;
      process?.suspend();
      later(() => process?.resume());
      return;
    }
    case 'restart':
      replica?.restart();
      return;
    case 'clock-jump':
      if (replica === undefined) return;
      replica.wallOffsetMs += what.seconds * 1000;
      later(() => (replica.wallOffsetMs -= what.seconds * 1000));
      return;
    case 'pods-crash':
      workload.crash(what.percent, { forMs, forgets: true });
      return;
    case 'node-lost':
      workload.crash(what.percent, { forMs, forgets: false });
      return;
    case 'slow-start':
      workload.slowStartSeconds += what.seconds;
      later(() => (workload.slowStartSeconds = workload.plan.slowSeconds ?? 0));
      return;
    case 'never-ready':
      workload.slowStartSeconds = Number.POSITIVE_INFINITY;
      later(() => {
        workload.slowStartSeconds = workload.plan.slowSeconds ?? 0;
        workload.finishStarts();
      });
      return;
    case 'recreate': {
      const object = workload.deployment();
      workload.destroy();
      later(() => workload.create(object === null ? 2 : replicasOf(object)));
      return;
    }
    case 'foreign-write':
    case 'foreign-storm': {
      const write = (): void => {
        const object = workload.deployment();
        if (object === null) return;
        const { minReplicas, maxReplicas } = workload.plan;
        const wanted = Math.round(replicasOf(object) * what.factor);
        workload.setReplicas(Math.min(maxReplicas, Math.max(minReplicas, wanted)));
      };
      if (what.mode === 'foreign-write') write();
      else repeat(what.periodMs, write);
      return;
    }
    case 'status-churn':
      repeat(what.periodMs, () => workload.churn());
      return;
    case 'hpa-appears':
      putHpa(simulation, fault.target);
      simulation.hpas.add(fault);
      later(() => {
        simulation.hpas.delete(fault);
        const isThere = [...simulation.hpas].some(({ target }) => target === fault.target);
        if (!isThere) simulation.cluster.store.remove(HPAS, workload.plan.namespace, fault.target);
      });
      return;
    case 'document-changed':
      simulation.changeDocument(fault.target, { ...workload.plan, maxReplicas: what.maxReplicas });
      later(() => simulation.changeDocument(fault.target, workload.plan));
      return;
    case 'document-removed':
      simulation.changeDocument(fault.target, null);
      later(() => simulation.changeDocument(fault.target, workload.plan));
      return;
    case 'documents-emptied':
      simulation.changeDocuments(() => null);
      later(() => simulation.changeDocuments((plan) => plan));
      return;
    case 'api-restart': {
      const all = { ...fault, kind: 'api', group: 'all', replica: null, probability: 1 } as const;
      const gone = { ...all, what: { mode: 'refused' } } as const;
      const starting = { ...all, what: { mode: 'status', status: 403, retryAfter: null } } as const;
      simulation.api.faults.add(gone);
      simulation.watches.breakAll();
      later(() => {
        simulation.api.faults.delete(gone);
        simulation.api.faults.add(starting);
        simulation.timeline.after(what.forbiddenMs, () => simulation.api.faults.delete(starting));
      });
      return;
    }
    case 'compaction':
      simulation.cluster.store.compact();
      return;
    case 'hostile-tenant':
      simulation.changeTenant(what.way);
      later(() => simulation.changeTenant(null));
      return;
    case 'forged-leases': {
      const names = Array.from({ length: what.count }, (_, index) => `forged${fault.startMs}x${index}`);
      for (const name of names) putLease(simulation, name, what.claims);
      if (what.isRenewed)
        repeat(2000, () => {
          for (const name of names) renewLease(simulation, name);
        });
      return;
    }
    default:
      what satisfies never;
  }
}

const LEASES = 'coordination.k8s.io/leases';

function putLease(simulation: Simulation, id: string, claims: string): void {
  simulation.cluster.create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: `promscaler-${id}`,
      namespace: OWN_NAMESPACE,
      labels: { 'promscaler.dev/member-of': 'promscaler' },
      annotations: { 'promscaler.dev/buckets': claims },
    },
    spec: { holderIdentity: `evil_${id}`, leaseDurationSeconds: 1_000_000_000 },
  });
}

/** A member deletes it if it was not renewed, e.g. while the process of the stranger was stopped. */
function renewLease(simulation: Simulation, id: string): void {
  if (simulation.cluster.store.get(LEASES, OWN_NAMESPACE, `promscaler-${id}`) === null) return;
  const path = `/apis/coordination.k8s.io/v1/namespaces/${OWN_NAMESPACE}/leases/promscaler-${id}`;
  simulation.cluster.patch(path, {
    metadata: { annotations: { renewed: String(simulation.timeline.nowMs) } },
    spec: { leaseTransitions: Math.floor(simulation.timeline.nowMs / 1000) },
  });
}

function putHpa(simulation: Simulation, name: string): void {
  const { namespace } = simulation.workload(name).plan;
  if (simulation.cluster.store.get(HPAS, namespace, name) !== null) return;
  simulation.cluster.create({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, maxReplicas: 10 },
  });
}
