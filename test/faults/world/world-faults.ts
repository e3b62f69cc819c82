import { HPAS, replicasOf } from './cluster.js';
import type { Fault } from './faults.js';
import { OWN_NAMESPACE } from './scenario.js';
import type { World } from './world.js';

export type WorldFault = Extract<Fault, { readonly kind: 'world' }>;

/** Applies faults of processes, workloads, other writers and documents; `later` is when the fault ends. */
export function applyWorldFault(world: World, fault: WorldFault, later: (run: () => void) => void): void {
  const { what } = fault;
  const replica = world.replicas[fault.replica];
  const workload = world.workload(fault.target);
  const forMs = fault.endMs - fault.startMs;
  const repeat = (periodMs: number, run: () => void): void => {
    for (let ms = 0; ms < forMs; ms += periodMs) world.timeline.after(ms, run);
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
      putHpa(world, fault.target);
      world.hpas.add(fault);
      later(() => {
        world.hpas.delete(fault);
        const isThere = [...world.hpas].some(({ target }) => target === fault.target);
        if (!isThere) world.cluster.store.remove(HPAS, workload.plan.namespace, fault.target);
      });
      return;
    case 'document-changed':
      world.changeDocument(fault.target, { ...workload.plan, maxReplicas: what.maxReplicas });
      later(() => world.changeDocument(fault.target, workload.plan));
      return;
    case 'document-removed':
      world.changeDocument(fault.target, null);
      later(() => world.changeDocument(fault.target, workload.plan));
      return;
    case 'documents-emptied':
      world.changeDocuments(() => null);
      later(() => world.changeDocuments((plan) => plan));
      return;
    case 'api-restart': {
      const all = { ...fault, kind: 'api', group: 'all', replica: null, probability: 1 } as const;
      const gone = { ...all, what: { mode: 'refused' } } as const;
      const starting = { ...all, what: { mode: 'status', status: 403, retryAfter: null } } as const;
      world.api.faults.add(gone);
      world.watches.breakAll();
      later(() => {
        world.api.faults.delete(gone);
        world.api.faults.add(starting);
        world.timeline.after(what.forbiddenMs, () => world.api.faults.delete(starting));
      });
      return;
    }
    case 'compaction':
      world.cluster.store.compact();
      return;
    case 'hostile-tenant':
      world.changeTenant(what.way);
      later(() => world.changeTenant(null));
      return;
    case 'forged-leases': {
      const names = Array.from({ length: what.count }, (_, index) => `forged${fault.startMs}x${index}`);
      for (const name of names) putLease(world, name, what.claims);
      if (what.isRenewed)
        repeat(2000, () => {
          for (const name of names) renewLease(world, name);
        });
      return;
    }
    default:
      what satisfies never;
  }
}

const LEASES = 'coordination.k8s.io/leases';

function putLease(world: World, id: string, claims: string): void {
  world.cluster.create({
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
function renewLease(world: World, id: string): void {
  if (world.cluster.store.get(LEASES, OWN_NAMESPACE, `promscaler-${id}`) === null) return;
  const path = `/apis/coordination.k8s.io/v1/namespaces/${OWN_NAMESPACE}/leases/promscaler-${id}`;
  world.cluster.patch(path, {
    metadata: { annotations: { renewed: String(world.timeline.nowMs) } },
    spec: { leaseTransitions: Math.floor(world.timeline.nowMs / 1000) },
  });
}

function putHpa(world: World, name: string): void {
  const { namespace } = world.workload(name).plan;
  if (world.cluster.store.get(HPAS, namespace, name) !== null) return;
  world.cluster.create({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, maxReplicas: 10 },
  });
}
