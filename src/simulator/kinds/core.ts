import { condition, kind, objectReference } from './meta.js';
import {
  type Type,
  always,
  any,
  bool,
  int32,
  intOrString,
  list,
  map,
  microTime,
  object,
  pointer,
  string,
  time,
  value,
} from './type.js';

const servicePort = object('ServicePort', {
  name: string,
  protocol: value(string, 'TCP'),
  appProtocol: pointer(string),
  port: always(int32),
  targetPort: pointer(intOrString),
  nodePort: int32,
});

const series = (): Type => object('EventSeries', { count: int32, lastObservedTime: always(microTime) });
const source = object('EventSource', { component: string, host: string });

export const CORE_TYPES = {
  'v1/ConfigMap': kind('ConfigMap', {
    immutable: pointer(bool),
    data: map(string),
    binaryData: map(string),
  }),
  'v1/Namespace': kind('Namespace', {
    spec: object('NamespaceSpec', { finalizers: list(string) }),
    status: object('NamespaceStatus', { phase: string, conditions: list(condition, ['type']) }),
  }),
  'v1/Node': kind('Node', {
    spec: object('NodeSpec', {
      podCIDR: string,
      podCIDRs: list(string, []),
      providerID: string,
      unschedulable: bool,
      taints: list(any),
    }),
    status: pointer(any, {}),
  }),
  // `stringData` is write-only: `fillDefaults` moves it to `data`.
  'v1/Secret': kind('Secret', {
    immutable: pointer(bool),
    data: map(string),
    stringData: map(string),
    type: value(string, 'Opaque'),
  }),
  'v1/ServiceAccount': kind('ServiceAccount', {
    secrets: list(any),
    imagePullSecrets: list(any),
    automountServiceAccountToken: pointer(bool),
  }),
  'v1/Service': kind('Service', {
    spec: object('ServiceSpec', {
      ports: list(servicePort, ['port', 'protocol']),
      selector: map(string),
      clusterIP: string,
      clusterIPs: list(string),
      type: value(string, 'ClusterIP'),
      externalIPs: list(string),
      sessionAffinity: value(string, 'None'),
      loadBalancerIP: string,
      loadBalancerSourceRanges: list(string),
      externalName: string,
      externalTrafficPolicy: string,
      healthCheckNodePort: int32,
      publishNotReadyAddresses: bool,
      sessionAffinityConfig: pointer(any),
      ipFamilies: list(string),
      ipFamilyPolicy: pointer(string),
      allocateLoadBalancerNodePorts: pointer(bool),
      loadBalancerClass: pointer(string),
      internalTrafficPolicy: pointer(string, 'Cluster'),
      trafficDistribution: pointer(string),
    }),
    status: object('ServiceStatus', {
      loadBalancer: object('LoadBalancerStatus', { ingress: list(any) }),
      conditions: list(condition, ['type']),
    }),
  }),
  'coordination.k8s.io/v1/Lease': kind('Lease', {
    spec: object('LeaseSpec', {
      holderIdentity: pointer(string),
      leaseDurationSeconds: pointer(int32),
      acquireTime: pointer(microTime),
      renewTime: pointer(microTime),
      leaseTransitions: pointer(int32),
      strategy: pointer(string),
      preferredHolder: pointer(string),
    }),
  }),
  'v1/Event': kind('Event', {
    involvedObject: objectReference,
    reason: string,
    message: string,
    source,
    firstTimestamp: always(time),
    lastTimestamp: always(time),
    count: int32,
    type: string,
    eventTime: always(microTime),
    series: pointer(series()),
    action: string,
    related: pointer(objectReference),
    reportingComponent: always(string),
    reportingInstance: always(string),
  }),
  'events.k8s.io/v1/Event': kind('Event', {
    eventTime: always(microTime),
    series: pointer(series()),
    reportingController: string,
    reportingInstance: string,
    action: string,
    reason: string,
    regarding: objectReference,
    related: pointer(objectReference),
    note: string,
    type: string,
    deprecatedSource: source,
    deprecatedFirstTimestamp: always(time),
    deprecatedLastTimestamp: always(time),
    deprecatedCount: int32,
  }),
} as const;
