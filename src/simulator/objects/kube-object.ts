import type { Random } from './names.js';
import { type Json, type JsonObject, isObject, stringAt } from '../kinds/json.js';

type ObjectMeta = JsonObject & {
  readonly name: string;
  /** The namespace; unset: the object is cluster-scoped. */
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly generation?: number;
};

/** A stored object. It is never changed, only replaced. */
export type KubeObject = JsonObject & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
};

/** Checks that an object has the fields of every stored object. If it throws, the simulator has a defect. */
export function asKubeObject(value: JsonObject): KubeObject {
  const complete =
    typeof value['apiVersion'] === 'string' &&
    typeof value['kind'] === 'string' &&
    isObject(value['metadata']) &&
    ['name', 'uid', 'resourceVersion', 'creationTimestamp'].every(
      (field) => stringAt(value, 'metadata', field) !== null,
    );
  if (complete) return value as KubeObject;
  const shown = `${stringAt(value, 'kind') ?? '?'} ${stringAt(value, 'metadata', 'name') ?? '?'}`;
  throw new Error(`storing an object without apiVersion, kind or metadata: ${shown}`);
}

/**
 * Annotation of a pod with its deletion cost. Among otherwise equal pods, the pod with the lowest cost is deleted
 * first.
 */
export const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

/** Returns `NAMESPACE/NAME`, or `/NAME` for a cluster-scoped object. */
export function keyOf(namespace: string | null | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/** Returns the namespace of an object; null: it is cluster-scoped. */
export function namespaceOf(object: KubeObject): string | null {
  return object.metadata.namespace ?? null;
}

/** Returns the object with changed metadata. A field that is `undefined` in `change` is removed. */
export function withMetadata(
  object: KubeObject,
  change: Readonly<Record<string, Json | undefined>>,
): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...change } };
}

export function makeUid(random: Random): string {
  let hex = '';
  for (let i = 0; i < 4; i += 1) {
    hex += Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  }
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Formats a time like Kubernetes: RFC 3339 in UTC with whole seconds. */
export function timestamp(ms: number): string {
  return `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}
