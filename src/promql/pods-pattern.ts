import { quoteRegex } from './quoting.js';

/**
 * A regular expression (RE2, anchored by Prometheus) for the pod names of a workload. It does not depend on the current
 * pods. It has two parts, because workloads of the same kind usually have the same `end`.
 */
export interface PodsPattern {
  readonly start: string;
  readonly end: string;
}

/**
 * `generateName` is truncated to 58 characters before 5 random ones are appended. Source: apiserver,
 * storage/names/generate.go.
 */
const MAX_GENERATED_STEM = 58;
const RANDOM = '[a-z0-9]{5}';

/** A `pod-template-hash` is a 32-bit number with one letter per decimal digit. */
const MAX_HASH = 10;

/** Returns the value of `$pods`. */
export function podsPattern(kind: string, name: string): string {
  return patternText(podsPatternOf(kind, name));
}

/**
 * Returns the pattern for the pods of a workload. For an unknown kind, it matches any name that starts with `NAME-`.
 *
 * Workloads with names of 58 or more characters that share the first 58 have the same pattern.
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
 * The ReplicaSet is `NAME-HASH`. Its pods have the `generateName` `NAME-HASH-`, which is truncated depending on the
 * length of the hash.
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
 * Returns a pattern for the pods of several workloads. Each `end` occurs once, and the names before it are sorted: Go's
 * regular expressions combine prefixes only of adjacent alternatives. One query for 100 workloads then costs Prometheus
 * as much as 3 separate queries.
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
