import type { KubeObject } from '../objects/kube-object.js';
import type { Resource } from '../objects/resources.js';
import { type FieldCause, invalidFields } from '../objects/status-error.js';
import type { JsonObject } from '../json/json.js';
import { valueAt } from '../json/json.js';
import { negative } from './causes.js';
import { metadataCauses } from './metadata.js';
import { autoscalerCauses, configMapCauses, eventCauses, leaseCauses } from './objects.js';
import { podCauses } from './pods.js';
import { replicationControllerCauses, workloadCauses } from './workloads.js';

/** Throws 422 with all causes if an object in its complete stored form is invalid. */
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
