import { type StatusError, badRequest } from './status-error.js';

/** apiVersion and kind -> supported fields of field selectors besides `metadata.name` and `metadata.namespace`. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'v1/Pod': [
    ...['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'],
    ...['spec.hostNetwork', 'status.phase', 'status.podIP', 'status.nominatedNodeName'],
  ],
  'v1/Event': [
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (name) => `involvedObject.${name}`,
    ),
    ...['reason', 'reportingComponent', 'source', 'type'],
  ],
  'v1/Namespace': ['status.phase'],
  'v1/Node': ['spec.unschedulable'],
  'v1/ReplicationController': ['status.replicas'],
  'v1/Service': ['spec.clusterIP', 'spec.type'],
  'apps/v1/ReplicaSet': ['status.replicas'],
};

/** Field of core events -> name in `events.k8s.io`. */
const EVENT_FIELDS: Readonly<Record<string, string>> = {
  reportingController: 'reportingComponent',
  regarding: 'involvedObject',
};

/** Returns the path in the stored object for a field of a selector. Throws 400 if the field is not supported. */
export function selectableField(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  label: string,
): readonly string[] {
  if (label === 'metadata.name' || label === 'metadata.namespace') return label.split('.');
  const isNewEvent = apiVersion === 'events.k8s.io/v1';
  const fields = FIELDS[isNewEvent ? 'v1/Event' : `${apiVersion}/${kind}`] ?? [];
  const [first = '', ...rest] = label.split('.');
  const path = isNewEvent ? [EVENT_FIELDS[first] ?? first, ...rest] : [first, ...rest];
  if (!fields.includes(path.join('.'))) throw unknownLabel(fields, label);
  return label === 'source' ? ['source', 'component'] : path;
}

function unknownLabel(fields: readonly string[], label: string): StatusError {
  return badRequest(
    fields.length > 0
      ? `field label not supported: ${label}`
      : `"${label}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}
