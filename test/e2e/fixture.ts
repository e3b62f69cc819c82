import { describe, it } from '@jest/globals';
import type { Simulator } from '../../src/simulator/simulator.js';
import { NEEDS } from './abilities.js';
import type { Ability } from './abilities.js';
import { startClusterFixture } from './cluster-fixture.js';
import { startSimulatorFixture } from './simulator-fixture.js';
import type { Engine } from './engine.js';
import type { ReplicaChange } from './replica-history.js';
import type { Stage } from './stage.js';
import { CLUSTER } from './waiting.js';

export { CLI } from './service-process.js';
export { E2E_TIMEOUT_MS, pause, waitFor } from './waiting.js';

/** A Deployment that exists from the start, with ready pods. */
export interface Workload {
  readonly name: string;
  readonly replicas: number;
  /**
   * The total cpu of its pods, in units of one pod's request: 6 are 60 % of the requests of 10 pods, and 300 % of those
   * of 2.
   */
  readonly load: number;
  /** Its pods request more cpu than any node has, and stay Pending: no test waits for them. */
  readonly isTooLarge?: boolean;
}

/** A cluster with workloads, a real Prometheus or VictoriaMetrics with their usage, and a directory for the service. */
export interface Fixture extends Stage {
  /** The namespace of the workloads; nothing outside of it is modified. */
  readonly namespace: string;
  /** Null on a real cluster. */
  readonly simulator: Simulator | null;
  readonly setLoad: (name: string, load: number) => void;
  /** `spec.replicas` of a Deployment. */
  readonly replicas: (name: string) => Promise<number>;
  /** Counts its writes since the start. */
  readonly changes: (name: string) => Promise<number>;
  /** Returns the changes of a Deployment's `spec.replicas` that the API server has applied since the start. */
  readonly history: (name: string) => readonly ReplicaChange[];
  /** A kubeconfig for kubectl and the command line, whose namespace is that of the fixture. */
  readonly kubeconfig: string;
  /** Returns the holder of the Lease of the service, or undefined. */
  readonly leaseHolder: () => Promise<string | undefined>;
  /** Creates an HPA for a Deployment, with cpu at 60 % and `min`, and waits until it has those desired replicas. */
  readonly addHpa: (name: string, min: number) => Promise<void>;
  /** Returns all Events of the namespace, as JSON. */
  readonly events: () => Promise<string>;
}

/** Starts a fixture on the configured cluster, by default on the embedded one. */
export function startFixture(
  workloads: readonly Workload[],
  engine: Engine = 'prometheus',
): Promise<Fixture> {
  return CLUSTER === null
    ? startSimulatorFixture(workloads, engine)
    : startClusterFixture(CLUSTER, workloads, engine);
}

/** As `it`, for tests that no real cluster can run: there it is skipped, with the reason in its name. */
export function itOnSimulator(reason: string, name: string, test: () => Promise<void>): void {
  if (CLUSTER === null) it(name, test);
  else it.skip(skipped(name, reason), test);
}

/** As `describe`, for tests that no real cluster can run. */
export function describeOnSimulator(reason: string, name: string, tests: () => void): void {
  if (CLUSTER === null) describe(name, tests);
  else describe.skip(skipped(name, reason), tests);
}

/** As `it`, for tests that need an ability of the kubeconfig on a real cluster. */
export function itWhereAble(ability: Ability, name: string, test: () => Promise<void>): void {
  if (isAble(ability)) it(name, test);
  else it.skip(skipped(name, NEEDS[ability]), test);
}

/** As `describe`, for tests that need an ability of the kubeconfig on a real cluster. */
export function describeWhereAble(ability: Ability, name: string, tests: () => void): void {
  if (isAble(ability)) describe(name, tests);
  else describe.skip(skipped(name, NEEDS[ability]), tests);
}

function isAble(ability: Ability): boolean {
  return CLUSTER === null || CLUSTER.abilities.has(ability);
}

function skipped(name: string, reason: string): string {
  return `${name} (skipped on this cluster: ${reason})`;
}

/** Returns a document that keeps `name` at 60 % of its cpu requests, with a stabilization of 10 s. */
export function cpuDocument({ namespace }: Fixture, name: string, more = ''): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  scaleTargetRef: { name: ${name} }
  minReplicas: 2
  maxReplicas: 12
  metrics:
    - resource: { name: cpu, target: { averageUtilization: 60 } }
  downscaleStabilizationSeconds: 10
${more}`;
}
