import type { KubeObject } from '../objects/kube-object.js';
import type { Resource } from '../objects/resources.js';
import { type FieldCause, invalidFields } from '../objects/status-error.js';
import { type JsonObject, valueAt, stringsAt } from '../kinds/json.js';
import {
  negative,
  invalid,
  autoscalerCauses,
  configMapCauses,
  eventCauses,
  leaseCauses,
  tooLong,
} from './objects.js';
import { podCauses, replicationControllerCauses, workloadCauses } from './pods.js';

/** Throws 422 with all violations if an object is invalid. `object` must be in its stored form. */
export function validate(
  { kind, group }: Pick<Resource, 'kind' | 'group'>,
  object: KubeObject,
  before: KubeObject | null,
): void {
  const causes = [...metadataCauses(object), ...causesOf(object, before)];
  if (causes.length > 0) throw invalidFields({ kind, group, name: object.metadata.name }, causes);
}

function causesOf(object: KubeObject, before: KubeObject | null): readonly FieldCause[] {
  switch (`${object.apiVersion}/${object.kind}`) {
    case 'apps/v1/Deployment':
    case 'apps/v1/StatefulSet':
    case 'apps/v1/ReplicaSet':
    case 'apps/v1/DaemonSet':
      return workloadCauses(object, before);
    case 'v1/ReplicationController':
      return replicationControllerCauses(object);
    case 'v1/Pod':
      return podCauses(object, before);
    case 'v1/ConfigMap':
      return configMapCauses(object, before);
    case 'v1/Event':
      return eventCauses(object);
    case 'coordination.k8s.io/v1/Lease':
      return leaseCauses(object);
    case 'autoscaling/v2/HorizontalPodAutoscaler':
      return autoscalerCauses(object, before);
    default:
      return [];
  }
}

export function validateScale(scale: JsonObject, name: string): void {
  const causes = negative('spec.replicas', valueAt(scale, 'spec', 'replicas'));
  if (causes.length > 0) throw invalidFields({ kind: 'Scale', group: 'autoscaling', name }, causes);
}

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const LABEL_VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const KEY_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const MOST_ANNOTATION_BYTES = 256 * 1024;

function metadataCauses({ kind, metadata }: KubeObject): readonly FieldCause[] {
  const labels = stringsAt(metadata, 'labels');
  const annotations = stringsAt(metadata, 'annotations');
  const bytes = Object.entries(annotations).reduce((sum, [key, text]) => sum + key.length + text.length, 0);
  return [
    ...nameCauses(kind, metadata.name),
    ...Object.keys(labels)
      .filter((key) => !isQualified(key))
      .map((key) => invalid('metadata.labels', key, KEY_RULE)),
    ...Object.values(labels)
      .filter((text) => text.length > 63 || !LABEL_VALUE.test(text))
      .map((text) => invalid('metadata.labels', text, LABEL_VALUE_RULE)),
    ...Object.keys(annotations)
      .filter((key) => !isQualified(key))
      .map((key) => invalid('metadata.annotations', key, KEY_RULE)),
    ...tooLong('metadata.annotations', bytes, MOST_ANNOTATION_BYTES),
  ];
}

function nameCauses(kind: string, name: string): readonly FieldCause[] {
  const isLabel = kind === 'Namespace';
  const isFine = isLabel ? name.length <= 63 && LABEL.test(name) : name.length <= 253 && SUBDOMAIN.test(name);
  return isFine ? [] : [invalid('metadata.name', name, isLabel ? LABEL_RULE : SUBDOMAIN_RULE)];
}

function isQualified(key: string): boolean {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  if (name.length > 63 || !QUALIFIED.test(name)) return false;
  const prefix = key.slice(0, Math.max(0, slash)).toLowerCase();
  return slash < 0 || (prefix.length <= 253 && SUBDOMAIN.test(prefix));
}
