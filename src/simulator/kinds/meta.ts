import {
  type Field,
  type ObjectType,
  type Type,
  any,
  always,
  atomic,
  bool,
  int32,
  int64,
  list,
  map,
  object,
  pointer,
  string,
  time,
} from './type.js';

const ownerReference = object('OwnerReference', {
  apiVersion: always(string),
  kind: always(string),
  name: always(string),
  uid: always(string),
  controller: pointer(bool),
  blockOwnerDeletion: pointer(bool),
});

export const objectMeta = object('ObjectMeta', {
  name: string,
  generateName: string,
  namespace: string,
  selfLink: string,
  uid: string,
  resourceVersion: string,
  generation: int64,
  creationTimestamp: time,
  deletionTimestamp: pointer(time),
  deletionGracePeriodSeconds: pointer(int64),
  labels: map(string),
  annotations: map(string),
  ownerReferences: list(ownerReference, ['uid']),
  finalizers: list(string, []),
  managedFields: list(any),
});

/** Returns the type of the objects of a kind. */
export function kind(go: string, fields: Readonly<Record<string, Field | Type>>): ObjectType {
  return object(go, { kind: string, apiVersion: string, metadata: objectMeta, ...fields });
}

const requirement = object('LabelSelectorRequirement', {
  key: always(string),
  operator: always(string),
  values: list(string),
});

export const labelSelector = atomic(
  object('LabelSelector', { matchLabels: map(string), matchExpressions: list(requirement) }),
);

export const condition = object('Condition', {
  type: always(string),
  status: always(string),
  observedGeneration: int64,
  lastProbeTime: pointer(time),
  lastUpdateTime: pointer(time),
  lastTransitionTime: always(time),
  reason: string,
  message: string,
});

export const objectReference = atomic(
  object('ObjectReference', {
    kind: string,
    namespace: string,
    name: string,
    uid: string,
    apiVersion: string,
    resourceVersion: string,
    fieldPath: string,
  }),
);

/** The type of the Scale in `autoscaling/v1`, which all kinds share. */
export const scale = kind('Scale', {
  spec: object('ScaleSpec', { replicas: int32 }),
  status: object('ScaleStatus', { replicas: always(int32), selector: string }),
});
