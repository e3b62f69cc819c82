import { kind, labelSelector, objectMeta } from './meta.js';
import {
  type Type,
  always,
  any,
  atomic,
  bool,
  int32,
  int64,
  intOrString,
  list,
  map,
  object,
  pointer,
  quantity,
  string,
  time,
  value,
} from './type.js';

const quantities = map(quantity);
/** An object that is kept unchanged, without checking its fields. */
const open = pointer(any);
const localReference = atomic(object('LocalObjectReference', { name: string }));

const resources = object('ResourceRequirements', {
  limits: quantities,
  requests: quantities,
  claims: list(object('ResourceClaim', { name: always(string), request: string }), ['name']),
});

const fieldReference = atomic(
  object('ObjectFieldSelector', { apiVersion: value(string, 'v1'), fieldPath: always(string) }),
);

const keyReference = (go: string): Type =>
  atomic(object(go, { name: string, key: always(string), optional: pointer(bool) }));

const environment = object('EnvVar', {
  name: always(string),
  value: string,
  valueFrom: pointer(
    object('EnvVarSource', {
      fieldRef: pointer(fieldReference),
      resourceFieldRef: open,
      configMapKeyRef: pointer(keyReference('ConfigMapKeySelector')),
      secretKeyRef: pointer(keyReference('SecretKeySelector')),
    }),
  ),
});

const httpGet = object('HTTPGetAction', {
  path: value(string, '/'),
  port: always(intOrString),
  host: string,
  scheme: value(string, 'HTTP'),
  httpHeaders: list(any),
});

const probe = object('Probe', {
  exec: open,
  httpGet: pointer(httpGet),
  tcpSocket: open,
  grpc: open,
  initialDelaySeconds: int32,
  timeoutSeconds: value(int32, 1),
  periodSeconds: value(int32, 10),
  successThreshold: value(int32, 1),
  failureThreshold: value(int32, 3),
  terminationGracePeriodSeconds: pointer(int64),
});

const port = object('ContainerPort', {
  name: string,
  hostPort: int32,
  containerPort: always(int32),
  protocol: value(string, 'TCP'),
  hostIP: string,
});

const volumeMount = object('VolumeMount', {
  name: always(string),
  readOnly: bool,
  recursiveReadOnly: pointer(string),
  mountPath: always(string),
  subPath: string,
  mountPropagation: pointer(string),
  subPathExpr: string,
});

const container = object('Container', {
  name: always(string),
  image: string,
  command: list(string),
  args: list(string),
  workingDir: string,
  ports: list(port, ['containerPort', 'protocol']),
  envFrom: list(any),
  env: list(environment, ['name']),
  resources,
  resizePolicy: list(any),
  restartPolicy: pointer(string),
  volumeMounts: list(volumeMount, ['mountPath']),
  volumeDevices: list(any),
  livenessProbe: pointer(probe),
  readinessProbe: pointer(probe),
  startupProbe: pointer(probe),
  lifecycle: open,
  terminationMessagePath: value(string, '/dev/termination-log'),
  terminationMessagePolicy: value(string, 'File'),
  imagePullPolicy: string,
  securityContext: open,
  stdin: bool,
  stdinOnce: bool,
  tty: bool,
});

const VOLUME_SOURCES = [
  ...['hostPath', 'emptyDir', 'gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo', 'secret', 'nfs'],
  ...['iscsi', 'glusterfs', 'persistentVolumeClaim', 'rbd', 'flexVolume', 'cinder', 'cephfs', 'flocker'],
  ...['downwardAPI'],
  ...['fc', 'azureFile', 'configMap', 'vsphereVolume', 'quobyte', 'azureDisk', 'photonPersistentDisk'],
  ...['projected', 'portworxVolume', 'scaleIO', 'storageos', 'csi', 'ephemeral', 'image'],
];

const volume = object('Volume', {
  name: always(string),
  ...Object.fromEntries(VOLUME_SOURCES.map((name) => [name, open])),
});

const toleration = object('Toleration', {
  key: string,
  operator: string,
  value: string,
  effect: string,
  tolerationSeconds: pointer(int64),
});

const spread = object('TopologySpreadConstraint', {
  maxSkew: always(int32),
  topologyKey: always(string),
  whenUnsatisfiable: always(string),
  labelSelector: pointer(labelSelector),
  minDomains: pointer(int32),
  nodeAffinityPolicy: pointer(string),
  nodeTaintsPolicy: pointer(string),
  matchLabelKeys: list(string),
});

export const podSpec = object('PodSpec', {
  volumes: list(volume, ['name']),
  initContainers: list(container, ['name']),
  containers: always(list(container, ['name'])),
  ephemeralContainers: list(any),
  restartPolicy: value(string, 'Always'),
  terminationGracePeriodSeconds: pointer(int64, 30),
  activeDeadlineSeconds: pointer(int64),
  dnsPolicy: value(string, 'ClusterFirst'),
  nodeSelector: map(string),
  serviceAccountName: string,
  serviceAccount: string,
  automountServiceAccountToken: pointer(bool),
  nodeName: string,
  hostNetwork: bool,
  hostPID: bool,
  hostIPC: bool,
  shareProcessNamespace: pointer(bool),
  securityContext: pointer(any, {}),
  imagePullSecrets: list(localReference, ['name']),
  hostname: string,
  subdomain: string,
  affinity: open,
  schedulerName: value(string, 'default-scheduler'),
  tolerations: list(toleration),
  hostAliases: list(any),
  priorityClassName: string,
  priority: pointer(int32),
  dnsConfig: open,
  readinessGates: list(any),
  runtimeClassName: pointer(string),
  enableServiceLinks: pointer(bool),
  preemptionPolicy: pointer(string),
  overhead: quantities,
  topologySpreadConstraints: list(spread, ['topologyKey', 'whenUnsatisfiable']),
  setHostnameAsFQDN: pointer(bool),
  os: open,
  hostUsers: pointer(bool),
  schedulingGates: list(any),
  resourceClaims: list(any),
  resources: open,
});

const podCondition = object('PodCondition', {
  type: always(string),
  observedGeneration: int64,
  status: always(string),
  lastProbeTime: always(time),
  lastTransitionTime: always(time),
  reason: string,
  message: string,
});

const podStatus = object('PodStatus', {
  observedGeneration: int64,
  phase: string,
  conditions: list(podCondition, ['type']),
  message: string,
  reason: string,
  nominatedNodeName: string,
  hostIP: string,
  hostIPs: list(any),
  podIP: string,
  podIPs: list(any),
  startTime: pointer(time),
  initContainerStatuses: list(any),
  containerStatuses: list(any),
  qosClass: string,
  ephemeralContainerStatuses: list(any),
  resize: string,
  resourceClaimStatuses: list(any),
});

export const podTemplate = object('PodTemplateSpec', { metadata: objectMeta, spec: podSpec });

export const pod = kind('Pod', { spec: podSpec, status: podStatus });
