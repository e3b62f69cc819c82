import { MAX_DEPTH, isPlainObject } from '../plain-json.js';
import { type Finding, type Path, finding } from '../problems/finding.js';

/**
 * Returns a copy without fields that are null, because null means unset, as in Kubernetes. Keeps nulls in lists.
 * Reports keys named `__proto__`, and nesting of more than 64 levels.
 */
export function readPlain(value: unknown): {
  readonly value: unknown;
  readonly findings: readonly Finding[];
} {
  const findings: Finding[] = [];
  const copy = (item: unknown, path: Path): unknown => {
    if (path.length >= MAX_DEPTH && typeof item === 'object' && item !== null) {
      findings.push(finding('too-deep', path, `the document is nested deeper than ${MAX_DEPTH} levels`));
      return undefined;
    }
    if (Array.isArray(item)) return item.map((entry: unknown, index) => copy(entry, [...path, index]));
    if (!isPlainObject(item)) return item;
    const members: [string, unknown][] = [];
    for (const [key, member] of Object.entries(item)) {
      if (key === '__proto__') {
        const message = 'a field cannot be called __proto__';
        findings.push({ ...finding('reserved-key', [...path, key], message), at: 'key' });
      } else if (member !== null && member !== undefined) members.push([key, copy(member, [...path, key])]);
    }
    return Object.fromEntries(members);
  };
  return { value: copy(value, []), findings };
}
