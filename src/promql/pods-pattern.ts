import { quoteRegex } from './quoting.js';

/**
 * The value of `$pods`: a regular expression (RE2, anchored by Prometheus) for the names that this kind gives its
 * pods, the same whatever pods exist now. A kind that is not known here may name them in any way behind `NAME-`.
 */
export function podsPattern(kind: string, name: string): string {
  const quoted = quoteRegex(name);
  switch (kind) {
    case 'Deployment':
      return `${quoted}-[a-z0-9]+-[a-z0-9]{5}`;
    case 'ReplicaSet':
    case 'ReplicationController':
      return `${quoted}-[a-z0-9]{5}`;
    case 'StatefulSet':
      return `${quoted}-[0-9]+`;
    default:
      return `${quoted}-.*`;
  }
}
