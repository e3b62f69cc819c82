import { formatSelector } from '../../../kubernetes/pods/selectors.js';
import { nameTarget } from '../../../kubernetes/targets.js';
import { KubernetesError } from '../../../kubernetes/types.js';
import { scalerKey } from '../../../scaler/spec.js';
import { type Finding, findingsOf } from '../finding.js';
import { listSome } from '../inquiry.js';
import type { OwnedPod, ScalerFacts } from '../scaler-facts.js';

/** Kinds whose pods say by their owner whose they are. */
const OWNING_KINDS = ['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController', 'Rollout'];

/** Their pods belong to ReplicaSets, which do not always tell which of the two is above them. */
const BY_REPLICA_SET = ['Deployment', 'Rollout'];

/** Whether the target's selector matches its pods, all of which are its own, and some are ready. */
export function checkPods({ scaler, cluster }: ScalerFacts): readonly Finding[] {
  const make = findingsOf('pods', scalerKey(scaler));
  if (cluster === null) return [make.skipped('the cluster does not answer')];
  const { target, pods } = cluster;
  if (target instanceof KubernetesError || pods === null) return [make.skipped('the target cannot be read')];
  if (pods instanceof KubernetesError)
    return [
      make.failed(
        pods.message,
        'chart value rbac.create: true (list and watch on pods), with the namespace among namespaces',
      ),
    ];
  const { namespace, ref, selector, specReplicas } = target;
  const alien = pods.filter((pod) => !isOwnPod(pod, ref));
  const label = formatSelector(selector);
  if (alien.length > 0)
    return [
      make.failed(
        `the selector ${label} of ${nameTarget(namespace, ref)} matches ${alien.length} ${alien.length === 1 ? 'pod' : 'pods'} of ${listSome(ownersOf(alien), 3)} too: their usage counts, and moves the wrong workload`,
        `give each workload a label of its own in spec.selector and its pod template (a selector cannot be changed: delete and create it anew); \`kubectl get pods -n ${namespace} -l '${label}'\` shows them`,
      ),
    ];
  if (pods.length === 0)
    return specReplicas === 0
      ? [make.ok('')]
      : [
          make.failed(
            `${nameTarget(namespace, ref)} asks for ${specReplicas} replicas, but the selector ${label} matches no pod`,
            `kubectl get events -n ${namespace} --field-selector type=Warning (a quota, an admission webhook, or a template that lacks the label)`,
          ),
        ];
  const ready = pods.filter(({ pod }) => pod.ready === true);
  const pending = pods.filter(({ pod }) => pod.phase === 'Pending' && !pod.deleting);
  const [waiting] = pending;
  if (ready.length > 0 && waiting !== undefined)
    return [
      make.warning(
        `${pending.length} of ${pods.length} pods of ${nameTarget(namespace, ref)} are Pending: where they stay so, more replicas bring nothing`,
        `kubectl describe pod -n ${namespace} ${waiting.name} says what they wait for (nodes, a quota, an image)`,
      ),
    ];
  if (ready.length > 0) return [make.ok(`${ready.length} of ${pods.length} pods ready`)];
  return [
    make.warning(
      `none of the ${pods.length} pods of ${nameTarget(namespace, ref)} is ready (${listSome([...new Set(pods.map(({ pod }) => pod.phase))])}): metrics of pods do not count until they are`,
      `kubectl describe pod -n ${namespace} ${pods[0]?.name ?? ''}`,
    ),
  ];
}

function isOwnPod(
  { workload }: OwnedPod,
  { kind, name }: { readonly kind: string; readonly name: string },
): boolean {
  if (workload === null) return !OWNING_KINDS.includes(kind);
  if (workload.kind === kind || [workload.kind, kind].every((one) => BY_REPLICA_SET.includes(one)))
    return workload.name === name;
  // Another operator's kind may make its pods through workloads of its own.
  return !OWNING_KINDS.includes(kind);
}

function ownersOf(pods: readonly OwnedPod[]): readonly string[] {
  return [
    ...new Set(
      pods.map(({ name, workload }) =>
        workload === null ? `nobody (${name})` : `${workload.kind.toLowerCase()} ${workload.name}`,
      ),
    ),
  ];
}
