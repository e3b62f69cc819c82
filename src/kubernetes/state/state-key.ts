/** However many replicas run: a scaler's place never changes. */
export const STATE_BUCKETS = 16;

/** A key of a ConfigMap is limited to that; the server refuses longer ones. */
const MAX_KEY_LENGTH = 253;

/** Which scaler an entry is of. */
export interface ScalerName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The bucket of a scaler, 0 to 15: FNV-1a (32 bits) of the UTF-8 of `namespace/name`, modulo 16. Must never change: two
 * versions that run side by side would keep two states of one scaler. Source: contract.md, section 6.
 */
export function bucketOf({ namespace, name }: ScalerName): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(`${namespace}/${name}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return (hash >>> 0) % STATE_BUCKETS;
}

/** `promscaler-state-07`. */
export function configMapName(bucket: number): string {
  return `promscaler-state-${String(bucket).padStart(2, '0')}`;
}

/** `NAMESPACE.NAME`: a namespace has no dot, so no two scalers share one. Null where it is too long for a key. */
export function entryKey({ namespace, name }: ScalerName): string | null {
  const key = `${namespace}.${name}`;
  return key.length > MAX_KEY_LENGTH ? null : key;
}
