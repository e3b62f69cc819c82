import { type Document, isScalar, visit } from 'yaml';

/** Limits the keys of an object: more than any document needs, and few enough for a fast linear search. */
export const MAX_KEYS = 1000;

interface KeyProblem {
  readonly kind: 'duplicate' | 'too-many';
  readonly message: string;
  readonly offset: number;
}

/**
 * Finds duplicate keys, and objects with more than `MAX_KEYS` keys, in one pass. The parser's own check is turned off,
 * because it compares each key with all others, which takes minutes for 60,000 keys.
 */
export function findKeyProblems(document: Document): readonly KeyProblem[] {
  const problems: KeyProblem[] = [];
  visit(document, {
    Map: (_key, map) => {
      if (map.items.length > MAX_KEYS) {
        const message = `an object has ${map.items.length} keys, must have at most ${MAX_KEYS}`;
        problems.push({ kind: 'too-many', message, offset: map.range?.[0] ?? 0 });
        return visit.SKIP;
      }
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const message = 'this key appears twice in one object';
          problems.push({ kind: 'duplicate', message, offset: key.range?.[0] ?? 0 });
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return problems;
}
