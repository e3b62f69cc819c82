import { CPU_REQUEST } from './workloads.js';
import type { Workload } from './workloads.js';

export interface FakePod {
  readonly name: string;
  readonly number: number;
  readonly uid: string;
  readonly startMs: number;
  isReady: boolean;
  isDeleting: boolean;
  version: number;
}

export interface FakeDeployment {
  readonly workload: Workload;
  readonly uid: string;
  readonly hash: string;
  readonly pods: Map<string, FakePod>;
  replicas: number;
  version: number;
  generation: number;
  nextPod: number;
}

const CREATED_MS = Date.UTC(2026, 0, 1);

export function createDeployment(workload: Workload, pods: number, version: () => number): FakeDeployment {
  const deployment: FakeDeployment = {
    workload,
    uid: uidOf(1, workload.index, 0),
    hash: lettersOf(workload.index * 7919 + 13, 10),
    pods: new Map(),
    replicas: pods,
    version: version(),
    generation: 1,
    nextPod: 0,
  };
  for (let number = 0; number < pods; number += 1)
    addPod(deployment, { nowMs: CREATED_MS, version: version(), isReady: true });
  return deployment;
}

export function addPod(
  deployment: FakeDeployment,
  { nowMs, version, isReady }: { nowMs: number; version: number; isReady: boolean },
): FakePod {
  const number = deployment.nextPod;
  deployment.nextPod += 1;
  const { index, name } = deployment.workload;
  const pod = {
    name: `${name}-${deployment.hash}-${lettersOf(index * 1009 + number * 31 + 5, 5)}`,
    number,
    uid: uidOf(2, index, number),
    startMs: nowMs,
    isReady,
    isDeleting: false,
    version,
  };
  deployment.pods.set(pod.name, pod);
  return pod;
}

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** Distinct for distinct numbers below 27 to the power of `length`. */
function lettersOf(number: number, length: number): string {
  let text = '';
  for (let left = number; text.length < length; left = Math.floor(left / LETTERS.length))
    text += LETTERS[left % LETTERS.length] ?? 'b';
  return text;
}

function uidOf(kind: number, index: number, number: number): string {
  const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0');
  return `${hex(kind, 8)}-${hex(number, 4)}-4000-8000-${hex(index, 12)}`;
}

const CREATED = isoSeconds(CREATED_MS);

function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The template of the pods, and the fields that it sets in `managedFields`. */
function containersOf(name: string): string {
  return `[{"name":"app","image":"registry.example.com/team/${name}:1.42.0","ports":[{"name":"http","containerPort":8080,"protocol":"TCP"},{"name":"metrics","containerPort":9090,"protocol":"TCP"}],"env":[{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},{"name":"LOG_LEVEL","value":"info"}],"resources":{"limits":{"memory":"512Mi"},"requests":{"cpu":"${CPU_REQUEST}","memory":"256Mi"}},"volumeMounts":[{"name":"kube-api-access-x7k2p","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"livenessProbe":{"httpGet":{"path":"/healthz","port":"http","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"readinessProbe":{"httpGet":{"path":"/readyz","port":"http","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}]`;
}

const POD_FIELDS = `{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"app\\"}":{".":{},"f:env":{".":{}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{}},"f:name":{},"f:ports":{".":{}},"f:readinessProbe":{".":{}},"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}`;
const STATUS_FIELDS = `{"f:status":{"f:conditions":{"k:{\\"type\\":\\"ContainersReady\\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\\"type\\":\\"Initialized\\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\\"type\\":\\"Ready\\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{},"f:startTime":{}}}`;

/** A pod as the API server writes it, about 4 KB. */
export function podJson(
  { workload, hash, uid: owner }: Pick<FakeDeployment, 'workload' | 'hash' | 'uid'>,
  pod: FakePod,
): string {
  const { namespace, name } = workload;
  const at = isoSeconds(pod.startMs);
  const readyAt = isoSeconds(pod.startMs + READY_AFTER_MS);
  const [word, reason] = pod.isReady ? ['True', ''] : ['False', '"reason":"ContainersNotReady",'];
  const deleting = pod.isDeleting ? `"deletionTimestamp":"${at}","deletionGracePeriodSeconds":30,` : '';
  const ip = `10.${(pod.number + workload.index) % 250}.${workload.index % 250}.${pod.number % 250}`;
  const condition = (type: string, status: string): string =>
    `{"type":"${type}","status":"${status}","lastProbeTime":null,"lastTransitionTime":"${status === 'True' ? readyAt : at}"}`;
  return `{"metadata":{"name":"${pod.name}","generateName":"${name}-${hash}-","namespace":"${namespace}","uid":"${pod.uid}","resourceVersion":"${pod.version}","creationTimestamp":"${at}",${deleting}"labels":{"app.kubernetes.io/name":"${name}","pod-template-hash":"${hash}"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"${name}-${hash}","uid":"${owner}","controller":true,"blockOwnerDeletion":true}],"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"${at}","fieldsType":"FieldsV1","fieldsV1":${POD_FIELDS}},{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"${readyAt}","fieldsType":"FieldsV1","fieldsV1":${STATUS_FIELDS},"subresource":"status"}]},"spec":{"volumes":[{"name":"kube-api-access-x7k2p","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],"containers":${containersOf(name)},"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default","nodeName":"node-${workload.index % 300}","securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},"status":{"phase":"Running","conditions":[${condition('Initialized', 'True')},{"type":"Ready","status":"${word}",${reason}"lastProbeTime":null,"lastTransitionTime":"${pod.isReady ? readyAt : at}"},${condition('ContainersReady', word)},${condition('PodScheduled', 'True')}],"hostIP":"192.168.0.${workload.index % 250}","podIP":"${ip}","podIPs":[{"ip":"${ip}"}],"startTime":"${at}","containerStatuses":[{"name":"app","state":{"running":{"startedAt":"${at}"}},"lastState":{},"ready":${pod.isReady},"restartCount":0,"image":"registry.example.com/team/${name}:1.42.0","imageID":"registry.example.com/team/${name}@sha256:1f0c9e7a5d3b2c4f6e8d7a9b0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6a7b8c9d","containerID":"containerd://${pod.uid}","started":true}],"qosClass":"Burstable"}}`;
}

/** How long after its creation a pod is ready. */
export const READY_AFTER_MS = 5000;

/** A Deployment as the API server writes it, about 4 KB. */
export function deploymentJson({
  workload,
  uid,
  replicas,
  version,
  generation,
  pods,
}: FakeDeployment): string {
  const { namespace, name } = workload;
  let ready = 0;
  for (const pod of pods.values()) if (pod.isReady) ready += 1;
  return `{"metadata":{"name":"${name}","namespace":"${namespace}","uid":"${uid}","resourceVersion":"${version}","generation":${generation},"creationTimestamp":"${CREATED}","labels":{"app.kubernetes.io/name":"${name}"},"annotations":{"deployment.kubernetes.io/revision":"1"},"managedFields":[{"manager":"deploy","operation":"Apply","apiVersion":"apps/v1","time":"${CREATED}","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:app.kubernetes.io/name":{}}},"f:spec":{"f:selector":{},"f:template":${POD_FIELDS}}}},{"manager":"kube-controller-manager","operation":"Update","apiVersion":"apps/v1","time":"${CREATED}","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:deployment.kubernetes.io/revision":{}}},"f:status":{"f:availableReplicas":{},"f:conditions":{".":{}},"f:observedGeneration":{},"f:readyReplicas":{},"f:replicas":{},"f:updatedReplicas":{}}},"subresource":"status"}]},"spec":{"replicas":${replicas},"selector":{"matchLabels":{"app.kubernetes.io/name":"${name}"}},"template":{"metadata":{"labels":{"app.kubernetes.io/name":"${name}"}},"spec":{"containers":${containersOf(name)},"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedulerName":"default-scheduler"}},"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}},"revisionHistoryLimit":10,"progressDeadlineSeconds":600},"status":{"observedGeneration":${generation},"replicas":${pods.size},"updatedReplicas":${pods.size},"readyReplicas":${ready},"availableReplicas":${ready},"conditions":[{"type":"Available","status":"True","lastUpdateTime":"${CREATED}","lastTransitionTime":"${CREATED}","reason":"MinimumReplicasAvailable","message":"Deployment has minimum availability."},{"type":"Progressing","status":"True","lastUpdateTime":"${CREATED}","lastTransitionTime":"${CREATED}","reason":"NewReplicaSetAvailable","message":"ReplicaSet has successfully progressed."}]}}`;
}

/** The answer to a request for `/scale`. */
export function scaleJson({ workload, uid, version, replicas, pods }: FakeDeployment): string {
  const { namespace, name } = workload;
  return `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"${name}","namespace":"${namespace}","uid":"${uid}","resourceVersion":"${version}","creationTimestamp":"${CREATED}"},"spec":{"replicas":${replicas}},"status":{"replicas":${pods.size},"selector":"app.kubernetes.io/name=${name}"}}`;
}
