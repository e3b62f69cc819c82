import type { ScalerName } from '../../scaler/spec.js';

/**
 * Number of ConfigMaps of the state store. A scaler keeps its bucket, because the number does not depend on the
 * replicas of promscaler.
 */
export const STATE_BUCKETS = 16;

export const ALL_BUCKETS: readonly number[] = Array.from({ length: STATE_BUCKETS }, (_, bucket) => bucket);

/** Maximum length of a key in a ConfigMap. */
const MAX_KEY_LENGTH = 253;

/**
 * Returns the bucket of a scaler, from 0 to 15: FNV-1a (32 bits) of `namespace/name` in UTF-8, modulo 16. The
 * function must never change: during an upgrade, two versions would store two states of one scaler.
 */
export function bucketOf({ namespace, name }: ScalerName): number {
  return (fnv1a(`${namespace}/${name}`) >>> 0) % STATE_BUCKETS;
}

/** Returns the FNV-1a hash of a string in UTF-8, as a signed 32-bit integer. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of ENCODER.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}

const ENCODER = new TextEncoder();

/** Returns the name of the ConfigMap of a bucket, such as `promscaler-state-07`. */
export function configMapName(bucket: number): string {
  return `promscaler-state-${String(bucket).padStart(2, '0')}`;
}

/** Returns the namespace in a key that `entryKey` has returned. */
export function namespaceOfKey(key: string): string {
  return key.slice(0, key.indexOf('.'));
}

/**
 * Returns `NAMESPACE.NAME`, which is unique because a namespace contains no dot; null: it is too long for a key of a
 * ConfigMap.
 */
export function entryKey({ namespace, name }: ScalerName): string | null {
  const key = `${namespace}.${name}`;
  return key.length > MAX_KEY_LENGTH ? null : key;
}
