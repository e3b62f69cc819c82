import { describe, it } from '@jest/globals';
import type { Simulator } from '../../src/simulator/simulator.js';
import { NEEDS } from './abilities.js';
import type { Ability } from './abilities.js';
import { startClusterWorld } from './cluster-world.js';
import { startSimulatorWorld } from './simulator-world.js';
import type { ReplicaChange } from './replica-history.js';
import type { Stage } from './stage.js';
import { CLUSTER } from './waiting.js';

// What a test needs beside a world.
export { CLI } from './service-process.js';
export { E2E_TIMEOUT_MS, pause, waitFor } from './waiting.js';

/** A Deployment that is there from the start, its pods ready. */
export interface Workload {
  readonly name: string;
  readonly replicas: number;
  /**
   * The cpu that all its pods use together, counted in what one pod requests: 6 are 60 % of the requests of 10 pods,
   * and 300 % of those of 2.
   */
  readonly load: number;
  /** Its pods ask for more cpu than any node has, and stay Pending: nobody waits for them. */
  readonly isTooLarge?: boolean;
}

/** A cluster with workloads in it, a real Prometheus that knows what they use, and a folder for the service. */
export interface World extends Stage {
  /** Where the workloads are; nothing outside of it is touched. */
  readonly namespace: string;
  /** Null on a real cluster. */
  readonly simulator: Simulator | null;
  readonly setLoad: (name: string, load: number) => void;
  /** `spec.replicas` of a Deployment. */
  readonly replicas: (name: string) => Promise<number>;
  /** How often they were written since the start. */
  readonly changes: (name: string) => Promise<number>;
  /** The changes of `spec.replicas` of a Deployment that the API server has carried out since the start. */
  readonly history: (name: string) => readonly ReplicaChange[];
  /** A kubeconfig for kubectl and the command line, whose namespace is that of the world. */
  readonly kubeconfig: string;
  /** Who holds the Lease of the service; undefined where nobody does. */
  readonly leaseHolder: () => Promise<string | undefined>;
  /** Puts an HPA on a Deployment, for cpu at 60 % and with its `min`, and waits until it has said that it wants those. */
  readonly addHpa: (name: string, min: number) => Promise<void>;
  /** All Events of the namespace, as JSON. */
  readonly events: () => Promise<string>;
}

/** A world on the cluster that the tests were given, else on the embedded one. */
export function startWorld(workloads: readonly Workload[]): Promise<World> {
  return CLUSTER === null ? startSimulatorWorld(workloads) : startClusterWorld(CLUSTER, workloads);
}

/** As `it`, for what no real cluster can be asked for: there it is skipped, with the reason in its name. */
export function itOnSimulator(reason: string, name: string, test: () => Promise<void>): void {
  if (CLUSTER === null) it(name, test);
  else it.skip(skipped(name, reason), test);
}

/** The same for all the tests of a `describe`. */
export function describeOnSimulator(reason: string, name: string, tests: () => void): void {
  if (CLUSTER === null) describe(name, tests);
  else describe.skip(skipped(name, reason), tests);
}

/** As `it`, for what a real cluster is asked for where the kubeconfig may do it. */
export function itWhereAble(ability: Ability, name: string, test: () => Promise<void>): void {
  if (isAble(ability)) it(name, test);
  else it.skip(skipped(name, NEEDS[ability]), test);
}

/** The same for all the tests of a `describe`. */
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

/** A document that keeps `name` at 60 % of its cpu requests, with a stabilization of 10 s. */
export function cpuDocument({ namespace }: World, name: string, more = ''): string {
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
