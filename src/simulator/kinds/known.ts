import { autoscaler, autoscalerV1 } from './autoscaler.js';
import {
  configMap,
  event,
  eventsEvent,
  lease,
  namespace,
  node,
  secret,
  service,
  serviceAccount,
} from './core.js';
import { pod } from './pod.js';
import type { ObjectType } from './type.js';
import { daemonSet, deployment, replicaSet, replicationController, statefulSet } from './workloads.js';

const TYPES: ReadonlyMap<string, ObjectType> = new Map([
  ['v1/ConfigMap', configMap],
  ['v1/Event', event],
  ['v1/Namespace', namespace],
  ['v1/Node', node],
  ['v1/Pod', pod],
  ['v1/ReplicationController', replicationController],
  ['v1/Secret', secret],
  ['v1/Service', service],
  ['v1/ServiceAccount', serviceAccount],
  ['apps/v1/DaemonSet', daemonSet],
  ['apps/v1/Deployment', deployment],
  ['apps/v1/ReplicaSet', replicaSet],
  ['apps/v1/StatefulSet', statefulSet],
  ['autoscaling/v1/HorizontalPodAutoscaler', autoscalerV1],
  ['autoscaling/v2/HorizontalPodAutoscaler', autoscaler],
  ['coordination.k8s.io/v1/Lease', lease],
  ['events.k8s.io/v1/Event', eventsEvent],
]);

/** Returns the type of a built-in kind; null for custom resources and CustomResourceDefinitions. */
export function knownType(apiVersion: string, kind: string): ObjectType | null {
  return TYPES.get(`${apiVersion}/${kind}`) ?? null;
}
