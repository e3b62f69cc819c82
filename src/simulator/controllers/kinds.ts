import { type Json, type JsonObject, listAt, numberAt, objectAt, stringAt, valueAt } from '../kinds/json.js';
import { templateHash } from '../objects/names.js';
import type { PodTiming, WorkloadSpec } from './step-workload.js';
import { milliToNumber, parseQuantity } from '../../units/quantity.js';
import { RESOURCES } from '../objects/resources.js';
import type { KubeObject } from '../objects/kube-object.js';

export interface WorkloadKind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly storage: string;
  readonly style: 'replicasets' | 'ordered' | 'plain';
}

const STYLES: ReadonlyMap<string, WorkloadKind['style']> = new Map([
  ['Deployment', 'replicasets'],
  ['Rollout', 'replicasets'],
  ['StatefulSet', 'ordered'],
  ['ReplicaSet', 'plain'],
  ['ReplicationController', 'plain'],
]);

export const WORKLOAD_KINDS: readonly WorkloadKind[] = RESOURCES.flatMap(({ kind, storedAs, storage }) => {
  const style = STYLES.get(kind);
  return style === undefined ? [] : [{ kind, apiVersion: storedAs, storage, style }];
});

export const NODE_NAME = 'node-1';
/** The CPU cores of the only node. */
export const NODE_CORES = 64;

/** Returns the spec of a workload. Pods that request more than the node has are never scheduled. */
export function readSpec({ style }: WorkloadKind, object: KubeObject, timing: PodTiming): WorkloadSpec {
  const replicas = numberAt(object, 'spec', 'replicas') ?? 1;
  return {
    name: object.metadata.name,
    order: style === 'ordered' ? 'ordered' : 'rolling',
    replicas,
    revision: style === 'plain' ? '' : templateHash(JSON.stringify(templateOf(object))),
    isRevisionNamed: style === 'replicasets',
    isPaused: valueAt(object, 'spec', 'paused') === true,
    timing:
      requestedCores(templateOf(object)) > NODE_CORES
        ? { ...timing, startSeconds: Number.POSITIVE_INFINITY }
        : timing,
    ...surgeOf(object, replicas),
  };
}

export function templateOf(object: KubeObject): JsonObject {
  return objectAt(object, 'spec', 'template');
}

function requestedCores(template: JsonObject): number {
  const requests = listAt(template, 'spec', 'containers').map((container) =>
    parseQuantity(stringAt(container, 'resources', 'requests', 'cpu') ?? ''),
  );
  return requests.reduce((sum, milli) => sum + (milli === null ? 0 : milliToNumber(milli)), 0);
}

/**
 * Resolves maxSurge (rounded up) and maxUnavailable (rounded down); the default of both is 25 %. If both are 0,
 * maxUnavailable becomes 1. With the strategy Recreate, all pods may be unavailable.
 */
function surgeOf(object: KubeObject, replicas: number): Pick<WorkloadSpec, 'maxSurge' | 'maxUnavailable'> {
  if (stringAt(object, 'spec', 'strategy', 'type') === 'Recreate')
    return { maxSurge: 0, maxUnavailable: replicas };
  const rolling = objectAt(object, 'spec', 'strategy', 'rollingUpdate');
  const maxSurge = resolve(rolling['maxSurge'], replicas, Math.ceil);
  const maxUnavailable = resolve(rolling['maxUnavailable'], replicas, Math.floor);
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

function resolve(value: Json | undefined, replicas: number, round: (share: number) => number): number {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(typeof value === 'string' ? value : '25%')?.[1] ?? '25';
  return round((Number(percent) * replicas) / 100);
}

/** Returns the owner that has `controller: true`, or null. */
export function controllerOf(object: KubeObject): { readonly kind: string; readonly name: string } | null {
  for (const owner of listAt(object, 'metadata', 'ownerReferences')) {
    const kind = stringAt(owner, 'kind');
    const name = stringAt(owner, 'name');
    if (valueAt(owner, 'controller') === true && kind !== null && name !== null) return { kind, name };
  }
  return null;
}

export function ownerReference(owner: KubeObject): JsonObject {
  const { apiVersion, kind } = owner;
  const { name, uid } = owner.metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
