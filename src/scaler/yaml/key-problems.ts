import { type Document, isScalar, visit } from 'yaml';

/** More than any document needs, few enough that nothing which looks a key up by walking takes long. */
export const MAX_KEYS = 1000;

/** What is wrong with the keys of a document's mappings, each with the offset of the key. */
export interface KeyFault {
  readonly kind: 'twice' | 'too-many';
  readonly message: string;
  readonly offset: number;
}

/**
 * Keys that stand twice in one mapping, and mappings with more than `MAX_KEYS`. In one pass: the parser's own check
 * compares each key with every other, which takes minutes for a file of 60,000.
 */
export function findKeyFaults(document: Document): readonly KeyFault[] {
  const faults: KeyFault[] = [];
  visit(document, {
    Map: (_key, map) => {
      if (map.items.length > MAX_KEYS) {
        const message = `a mapping has ${map.items.length} keys, must have at most ${MAX_KEYS}`;
        faults.push({ kind: 'too-many', message, offset: map.range?.[0] ?? 0 });
        return visit.SKIP;
      }
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const message = 'this key stands twice in one mapping';
          faults.push({ kind: 'twice', message, offset: key.range?.[0] ?? 0 });
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return faults;
}
