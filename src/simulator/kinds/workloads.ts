import { condition, kind, labelSelector } from './meta.js';
import { podTemplate } from './pod.js';
import {
  type Field,
  type ObjectType,
  type Type,
  always,
  any,
  bool,
  int32,
  int64,
  intOrString,
  list,
  map,
  object,
  pointer,
  string,
  value,
} from './type.js';

function workload(
  go: string,
  spec: Readonly<Record<string, Field | Type>>,
  status: Readonly<Record<string, Field | Type>>,
): ObjectType {
  return kind(go, {
    spec: object(`${go}Spec`, spec),
    status: object(`${go}Status`, { ...status, conditions: list(condition, ['type']) }),
  });
}

const rolling = object('RollingUpdateDeployment', {
  maxUnavailable: pointer(intOrString),
  maxSurge: pointer(intOrString),
});

const REPLICA_COUNTS = {
  replicas: always(int32),
  fullyLabeledReplicas: int32,
  readyReplicas: int32,
  availableReplicas: int32,
  terminatingReplicas: pointer(int32),
  observedGeneration: int64,
};

export const WORKLOAD_TYPES = {
  'apps/v1/Deployment': workload(
    'Deployment',
    {
      replicas: pointer(int32, 1),
      selector: pointer(labelSelector),
      template: podTemplate,
      strategy: object('DeploymentStrategy', {
        type: value(string, 'RollingUpdate'),
        rollingUpdate: pointer(rolling),
      }),
      minReadySeconds: int32,
      revisionHistoryLimit: pointer(int32, 10),
      paused: bool,
      progressDeadlineSeconds: pointer(int32, 600),
    },
    {
      observedGeneration: int64,
      replicas: int32,
      updatedReplicas: int32,
      readyReplicas: int32,
      availableReplicas: int32,
      unavailableReplicas: int32,
      terminatingReplicas: pointer(int32),
      collisionCount: pointer(int32),
    },
  ),
  'apps/v1/StatefulSet': workload(
    'StatefulSet',
    {
      replicas: pointer(int32, 1),
      selector: pointer(labelSelector),
      template: podTemplate,
      volumeClaimTemplates: list(any),
      serviceName: always(string),
      podManagementPolicy: value(string, 'OrderedReady'),
      updateStrategy: object('StatefulSetUpdateStrategy', {
        type: value(string, 'RollingUpdate'),
        rollingUpdate: pointer(
          object('RollingUpdateStatefulSetStrategy', {
            partition: pointer(int32, 0),
            maxUnavailable: pointer(intOrString),
          }),
        ),
      }),
      revisionHistoryLimit: pointer(int32, 10),
      minReadySeconds: int32,
      persistentVolumeClaimRetentionPolicy: pointer(any),
      ordinals: pointer(any),
    },
    {
      observedGeneration: int64,
      replicas: always(int32),
      readyReplicas: int32,
      currentReplicas: int32,
      updatedReplicas: int32,
      currentRevision: string,
      updateRevision: string,
      collisionCount: pointer(int32),
      availableReplicas: always(int32),
    },
  ),
  'apps/v1/ReplicaSet': workload(
    'ReplicaSet',
    {
      replicas: pointer(int32, 1),
      minReadySeconds: int32,
      selector: pointer(labelSelector),
      template: podTemplate,
    },
    REPLICA_COUNTS,
  ),
  'v1/ReplicationController': workload(
    'ReplicationController',
    {
      replicas: pointer(int32, 1),
      minReadySeconds: int32,
      selector: map(string),
      template: pointer(podTemplate),
    },
    REPLICA_COUNTS,
  ),
  'apps/v1/DaemonSet': workload(
    'DaemonSet',
    {
      selector: pointer(labelSelector),
      template: podTemplate,
      updateStrategy: object('DaemonSetUpdateStrategy', {
        type: value(string, 'RollingUpdate'),
        rollingUpdate: pointer(
          object('RollingUpdateDaemonSet', {
            maxUnavailable: pointer(intOrString),
            maxSurge: pointer(intOrString),
          }),
        ),
      }),
      minReadySeconds: int32,
      revisionHistoryLimit: pointer(int32, 10),
    },
    {
      currentNumberScheduled: always(int32),
      numberMisscheduled: always(int32),
      desiredNumberScheduled: always(int32),
      numberReady: always(int32),
      observedGeneration: int64,
      updatedNumberScheduled: int32,
      numberAvailable: int32,
      numberUnavailable: int32,
      collisionCount: pointer(int32),
    },
  ),
} as const;
