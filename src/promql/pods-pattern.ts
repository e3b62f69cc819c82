import { quoteRegex } from './quoting.js';

/**
 * A regular expression for the pod names of a workload, in the syntax RE2. Prometheus anchors it. It does not depend on
 * the current pods. It has two parts, because `end` is usually equal for workloads of the same kind (`joinPatterns`).
 */
export interface PodsPattern {
  readonly start: string;
  readonly end: string;
}

/**
 * Kubernetes truncates `generateName` to this length before it appends 5 random characters. Source: apiserver,
 * storage/names/generate.go.
 */
const MAX_GENERATED_STEM = 58;
const RANDOM = '[a-z0-9]{5}';

/** Longest `pod-template-hash`: a 32-bit number with one letter per decimal digit. */
const MAX_HASH = 10;

/** Returns the value of the variable `$pods`. */
export function podsPattern(kind: string, name: string): string {
  return patternText(podsPatternOf(kind, name));
}

/**
 * Returns the pattern for the pods of a workload. If the kind of the workload is unknown, the pattern matches any name
 * that starts with `NAME-`. Two workloads have the same pattern if their names have at least 58 characters and the
 * first 58 are equal.
 */
export function podsPatternOf(kind: string, name: string): PodsPattern {
  const start = quoteRegex(name);
  switch (kind) {
    case 'Deployment':
      return deploymentPattern(name);
    case 'ReplicaSet':
    case 'ReplicationController':
      return { start: quoteRegex(`${name}-`.slice(0, MAX_GENERATED_STEM)), end: RANDOM };
    case 'StatefulSet':
      return { start, end: '-[0-9]+' };
    default:
      if (name.length < MAX_GENERATED_STEM) return { start, end: '-.*' };
      return {
        start: `(?:${start}-.*|${quoteRegex(name.slice(0, MAX_GENERATED_STEM))}${RANDOM})`,
        end: '',
      };
  }
}

/**
 * Returns the pattern for the pods of a Deployment. Its ReplicaSet is `NAME-HASH`, so its pods have the `generateName`
 * `NAME-HASH-`. How much of the `generateName` is truncated depends on the length of the hash.
 */
function deploymentPattern(name: string): PodsPattern {
  const start = quoteRegex(name);
  const left = MAX_GENERATED_STEM - name.length;
  if (left >= MAX_HASH + 2) return { start, end: `-[a-z0-9]+-${RANDOM}` };
  if (left <= 1) return { start: quoteRegex(`${name}-`.slice(0, MAX_GENERATED_STEM)), end: RANDOM };
  const cut = `-[a-z0-9]{${left - 1}}${RANDOM}`;
  if (left === 2) return { start, end: cut };
  return { start, end: `(?:-[a-z0-9]{1,${left - 2}}-${RANDOM}|${cut})` };
}

export function patternText({ start, end }: PodsPattern): string {
  return start + end;
}

/**
 * Returns a pattern for the pods of several workloads. Each `end` occurs once, after the sorted names that have it,
 * because Go combines the prefixes of alternatives only if they are adjacent. One query for 100 workloads then costs
 * Prometheus as much as 3 separate queries.
 */
export function joinPatterns(patterns: Iterable<PodsPattern>): string {
  const startsByEnd = new Map<string, string[]>();
  for (const { start, end } of patterns) {
    const starts = startsByEnd.get(end);
    if (starts === undefined) startsByEnd.set(end, [start]);
    else starts.push(start);
  }
  const parts = Array.from(startsByEnd, ([end, starts]) => `${alternatives(starts)}${end}`);
  return parts.toSorted().join('|');
}

function alternatives(starts: readonly string[]): string {
  const sorted = starts.toSorted().join('|');
  return starts.length === 1 ? sorted : `(?:${sorted})`;
}
