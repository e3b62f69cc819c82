import { formatSelector } from '../../kubernetes/pods/selectors.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { STARTING_SECONDS } from '../../control/cycle/target-reached.js';
import { readyPodsCountFrom } from '../../decision/proposals/group-pods.js';
import { resourceWindowSeconds } from '../../prometheus/data-source/resource-queries.js';
import { resourceSampledAt } from '../../prometheus/samples.js';
import { formatInstant, secondsBetween } from '../../units/time.js';
import { isCpu } from '../../scaler/spec.js';
import type { OwnedPod, ScalerFacts } from './scaler-facts.js';
import { countAre, countOf, listSome } from '../../units/format.js';
import type { Checked, CheckResult } from './check-result.js';

const OWNING_KINDS = ['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController', 'Rollout'];

/**
 * Kinds that own their pods through ReplicaSets. A pod of either kind passes, because the name of a ReplicaSet may not
 * show which kind owns it.
 */
const REPLICA_SET_OWNERS = ['Deployment', 'Rollout'];

/** Checks that the selector matches pods, that all of them belong to the target, and that at least one is ready. */
export function checkPods(facts: Checked<ScalerFacts>): CheckResult {
  const { cluster, make } = facts;
  if (cluster === null) return make.skipped('the API server does not answer');
  const { target, pods } = cluster;
  if (target instanceof KubernetesError || pods === null) return make.skipped('the target cannot be read');
  if (pods instanceof KubernetesError)
    return make.failed(
      pods.message,
      'set the chart value rbac.create: true (list and watch on pods); if the chart value namespaces is set, add the namespace',
    );
  const { namespace, ref, selector, specReplicas } = target;
  const foreign = pods.filter((pod) => !isOwnPod(pod, ref));
  const label = formatSelector(selector);
  if (foreign.length > 0)
    return make.failed(
      `the selector ${label} of ${nameTarget(namespace, ref)} also matches ${countOf(foreign.length, 'pod')} of ${listSome(ownersOf(foreign), 3)}: the usage of these pods is counted for the wrong workload`,
      `use a distinct label in spec.selector and the pod template of each workload (a selector is immutable: delete and recreate the workload); \`kubectl get pods -n ${namespace} -l '${label}'\` lists the pods`,
    );
  if (pods.length === 0)
    return specReplicas === 0
      ? make.ok('')
      : make.failed(
          `${nameTarget(namespace, ref)} has spec.replicas ${specReplicas}, but its selector ${label} matches no pod`,
          `kubectl get events -n ${namespace} --field-selector type=Warning shows why (a quota or an admission webhook); also check that the pod template has the label`,
        );
  const ready = pods.filter(({ pod }) => pod.ready === true);
  const waiting = pods.filter(({ pod }) => pod.ready !== true && !pod.deleting);
  const starting = waiting.filter((pod) => isStarting(pod, facts));
  const pending = waiting.filter((pod) => pod.pod.phase === 'Pending' && !starting.includes(pod));
  const [stuck] = pending;
  const verb = starting.length === 1 ? 'is' : 'are';
  const others = starting.length === 0 ? '' : `, and ${starting.length} ${verb} starting`;
  if (ready.length > 0 && stuck !== undefined)
    return make.warning(
      `${pending.length} of ${countOf(pods.length, 'pod')} of ${nameTarget(namespace, ref)} ${pending.length === 1 ? 'is' : 'are'} Pending: more replicas have no effect until these pods are scheduled`,
      `free capacity on the nodes, add nodes, or correct the image or volume: kubectl describe pod -n ${namespace} ${stuck.name} shows the cause`,
    );
  if (ready.length > 0)
    return make.ok(
      `${ready.length} of ${countAre(pods.length, 'pod')} ready${others}${describeYoung(facts, ready)}`,
    );
  if (starting.length > 0 && starting.length === waiting.length)
    return make.ok(`none of the ${countOf(pods.length, 'pod')} is ready${others}`);
  return make.warning(
    `none of the ${countOf(pods.length, 'pod')} of ${nameTarget(namespace, ref)} is ready (${listSome([...new Set(pods.map(({ pod }) => pod.phase))])}): metrics of pods are ignored until a pod is ready`,
    `correct what keeps the pods from being ready (a probe, an image, a crash): see kubectl describe pod -n ${namespace} ${pods[0]?.name ?? ''}`,
  );
}

/**
 * Returns whether an unready pod is still starting: it is young, and neither the scheduler nor the kubelet reports an
 * error. The condition TargetReached uses the same rule.
 */
function isStarting({ pod, createdAt }: OwnedPod, { scaler, context }: ScalerFacts): boolean {
  if (pod.trouble !== undefined || createdAt === null || context === null) return false;
  const startSeconds = Math.max(STARTING_SECONDS, scaler.spec.podStart?.seconds ?? 0);
  return secondsBetween(createdAt, context.clock.now()) < startSeconds;
}

/** Names ready pods that count as unready in the decision, because their CPU samples cover less than a window. */
function describeYoung({ scaler, sources, context }: ScalerFacts, ready: readonly OwnedPod[]): string {
  const cpu = scaler.spec.metrics.find(isCpu);
  const source = cpu === undefined ? undefined : sources.get(cpu.source)?.source;
  if (source === undefined || context === null) return '';
  const now = context.clock.now();
  const windowSeconds = resourceWindowSeconds(source, 'cpu');
  const times = readyPodsCountFrom(
    ready.map(({ pod }) => pod),
    { ...scaler.spec, isCpu: true, now, sampledAt: resourceSampledAt(source, now), windowSeconds },
  );
  const last = times.at(-1);
  if (last === undefined) return '';
  return `; when the cpu usage was measured, ${times.length} of the ready pods had been ready for less than the window of ${windowSeconds} s, so the metric cpu counts these pods as unready until ${formatInstant(last)}`;
}

function isOwnPod(
  { workload }: OwnedPod,
  { kind, name }: { readonly kind: string; readonly name: string },
): boolean {
  if (workload === null) return !OWNING_KINDS.includes(kind);
  if (workload.kind === kind || [workload.kind, kind].every((one) => REPLICA_SET_OWNERS.includes(one)))
    return workload.name === name;
  // A custom kind may own its pods through other kinds, so its pods are not checked.
  return !OWNING_KINDS.includes(kind);
}

function ownersOf(pods: readonly OwnedPod[]): readonly string[] {
  return [
    ...new Set(
      pods.map(({ name, workload }) =>
        workload === null ? `no controller (${name})` : `${workload.kind.toLowerCase()} ${workload.name}`,
      ),
    ),
  ];
}
