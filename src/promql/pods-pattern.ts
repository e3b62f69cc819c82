import { quoteRegex } from './quoting.js';

/**
 * `generateName` is truncated to 58 characters before 5 random ones are appended. Source: apiserver,
 * storage/names/generate.go.
 */
const MAX_GENERATED_STEM = 58;
const RANDOM = '[a-z0-9]{5}';

/** A `pod-template-hash` is a 32-bit number with one letter per decimal digit. */
const MAX_HASH = 10;

/**
 * Returns the value of `$pods`: a regular expression (RE2, anchored by Prometheus) for the pod names of a
 * workload, independent of the current pods. For an unknown kind, it matches any name that starts with
 * `NAME-`.
 *
 * Workloads with names of 58 or more characters that share the first 58 have the same pattern.
 */
export function podsPattern(kind: string, name: string): string {
  const quoted = quoteRegex(name);
  switch (kind) {
    case 'Deployment':
      return deploymentPattern(name);
    case 'ReplicaSet':
    case 'ReplicationController':
      return quoteRegex(`${name}-`.slice(0, MAX_GENERATED_STEM)) + RANDOM;
    case 'StatefulSet':
      return `${quoted}-[0-9]+`;
    default:
      return name.length < MAX_GENERATED_STEM
        ? `${quoted}-.*`
        : `(?:${quoted}-.*|${quoteRegex(name.slice(0, MAX_GENERATED_STEM))}${RANDOM})`;
  }
}

/**
 * The ReplicaSet is `NAME-HASH`. Its pods have the `generateName` `NAME-HASH-`, which is truncated depending on the
 * length of the hash.
 */
function deploymentPattern(name: string): string {
  const quoted = quoteRegex(name);
  const left = MAX_GENERATED_STEM - name.length;
  if (left >= MAX_HASH + 2) return `${quoted}-[a-z0-9]+-${RANDOM}`;
  if (left <= 1) return quoteRegex(`${name}-`.slice(0, MAX_GENERATED_STEM)) + RANDOM;
  const cut = `${quoted}-[a-z0-9]{${left - 1}}${RANDOM}`;
  return left === 2 ? cut : `(?:${quoted}-[a-z0-9]{1,${left - 2}}-${RANDOM}|${cut})`;
}
