import { addPod, createDeployment, deploymentJson, podJson, READY_AFTER_MS } from './objects.js';
import type { FakeDeployment, FakePod } from './objects.js';
import { namespacesOf, workloadsOf } from './workloads.js';
import type { SimulationSize } from './workloads.js';
import type { SimulationClock } from './simulation-clock.js';

export type WatchedPlural = 'pods' | 'deployments';

export interface SimulationEvent {
  readonly plural: WatchedPlural;
  readonly namespace: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly json: string;
}

/** Deployments and their pods; the controllers are part of it. */
export interface Simulation {
  readonly size: SimulationSize;
  readonly namespaces: readonly string[];
  /** By namespace, then by name, in the order of lists. */
  readonly deployments: ReadonlyMap<string, ReadonlyMap<string, FakeDeployment>>;
  /** Of the last change. */
  readonly version: () => number;
  readonly setReplicas: (deployment: FakeDeployment, replicas: number) => void;
  /** Events after a version, oldest first. */
  readonly eventsAfter: (version: number) => readonly SimulationEvent[];
  readonly onEvent: (listener: (event: SimulationEvent) => void) => void;
}

/** Events that a watch may begin behind. */
const KEPT_EVENTS = 20_000;
const DELETED_AFTER_MS = 2000;

export function createSimulation(size: SimulationSize, clock: SimulationClock): Simulation {
  let last = 1_000_000;
  const nextVersion = (): number => (last += 1);
  const namespaces = namespacesOf(size);
  const deployments = new Map(namespaces.map((name) => [name, new Map<string, FakeDeployment>()]));
  for (const workload of workloadsOf(size))
    deployments
      .get(workload.namespace)
      ?.set(workload.name, createDeployment(workload, size.pods, nextVersion));
  const listeners: ((event: SimulationEvent) => void)[] = [];
  let events: SimulationEvent[] = [];

  const publish = (event: SimulationEvent): void => {
    events.push(event);
    if (events.length > 2 * KEPT_EVENTS) events = events.slice(-KEPT_EVENTS);
    for (const listener of listeners) listener(event);
  };
  const changePod = (deployment: FakeDeployment, pod: FakePod, type: SimulationEvent['type']): void => {
    pod.version = nextVersion();
    if (type === 'DELETED') deployment.pods.delete(pod.name);
    const { namespace } = deployment.workload;
    publish({ plural: 'pods', namespace, type, version: pod.version, json: podJson(deployment, pod) });
  };
  const changeDeployment = (deployment: FakeDeployment): void => {
    deployment.version = nextVersion();
    const { version, workload } = deployment;
    const json = deploymentJson(deployment);
    publish({ plural: 'deployments', namespace: workload.namespace, type: 'MODIFIED', version, json });
  };

  const start = (deployment: FakeDeployment): void => {
    const nowMs = clock.now();
    const pod = addPod(deployment, { nowMs, version: nextVersion(), isReady: false });
    changePod(deployment, pod, 'ADDED');
    clock.after(READY_AFTER_MS, () => {
      if (!deployment.pods.has(pod.name)) return;
      pod.isReady = true;
      changePod(deployment, pod, 'MODIFIED');
      changeDeployment(deployment);
    });
  };
  const end = (deployment: FakeDeployment, pod: FakePod): void => {
    pod.isDeleting = true;
    changePod(deployment, pod, 'MODIFIED');
    clock.after(DELETED_AFTER_MS, () => {
      changePod(deployment, pod, 'DELETED');
      changeDeployment(deployment);
    });
  };

  return {
    size,
    namespaces,
    deployments,
    version: () => last,
    setReplicas: (deployment, replicas) => {
      deployment.replicas = replicas;
      deployment.generation += 1;
      const present = [...deployment.pods.values()].filter(({ isDeleting }) => !isDeleting);
      changeDeployment(deployment);
      for (let count = present.length; count < replicas; count += 1) start(deployment);
      // The youngest first, as the ReplicaSet controller does among equals.
      for (const pod of present.slice(replicas).toReversed()) end(deployment, pod);
      if (present.length !== replicas) changeDeployment(deployment);
    },
    eventsAfter: (version) => events.filter((event) => event.version > version),
    onEvent: (listener) => void listeners.push(listener),
  };
}
