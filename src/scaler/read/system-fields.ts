import { type Finding, formatPath, type Path } from '../problems/finding.js';
import { valueAt, without } from '../plain-json.js';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Fields of `metadata` that the API server and controllers set. */
export const SYSTEM_METADATA: readonly string[] = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
  'ownerReferences',
  'finalizers',
];

/**
 * Fields that the API server, controllers and kubectl set. A manifest that was exported from a cluster contains them.
 */
const SYSTEM_FIELDS: readonly Path[] = [
  ...SYSTEM_METADATA.map((name) => ['metadata', name]),
  ['metadata', 'annotations', LAST_APPLIED],
  ['status'],
];

/** Removes system fields. Returns one warning that lists them, at the position of the first one. */
export function removeSystemFields(value: unknown): {
  readonly value: unknown;
  readonly findings: readonly Finding[];
} {
  const present = SYSTEM_FIELDS.filter((path) => valueAt(value, path) !== undefined);
  const [first] = present;
  if (first === undefined) return { value, findings: [] };
  const names = present.map(formatPath);
  const last = names.pop() ?? '';
  const subject = names.length === 0 ? `${last} is` : `${names.join(', ')} and ${last} are`;
  const message = `${subject} set by the cluster and ignored here: remove ${names.length === 0 ? 'it' : 'them'}`;
  const found: Finding = { code: 'system-fields', message, path: first, at: 'key', offset: null };
  return { value: present.reduce(without, value), findings: [found] };
}
