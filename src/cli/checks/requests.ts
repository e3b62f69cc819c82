import { nameMetric } from '../../decision/conditions.js';
import { containerOf } from '../../decision/proposals/pod-metrics.js';
import { containersOfZero, podRequests } from '../../decision/proposals/pod-requests.js';
import { exampleRequest, kubectl, raiseLimit, setRequests } from '../../decision/snippet.js';
import { isAlive, type Pod } from '../../decision/snapshot/snapshot.js';
import { nameTarget, watchedPlural } from '../../kubernetes/targets.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { type ContainerResourceMetric, isOfResource, type ResourceMetric } from '../../scaler/spec.js';
import type { ResultBuilder, Checked, CheckResults } from './check-result.js';
import type { OwnedPod, ScalerFacts } from './scaler-facts.js';
import { listSome } from '../../units/format.js';

/**
 * Checks what the resource metrics need: requests for utilization targets, CPU limits for saturation steps, and the
 * containers of ContainerResource metrics.
 */
export function checkRequests({ scaler, cluster, make }: Checked<ScalerFacts>): CheckResults {
  const metrics = scaler.spec.metrics.filter(isOfResource);
  if (metrics.length === 0) return make.ok('');
  if (cluster === null) return make.skipped('the API server does not answer');
  const { target, pods } = cluster;
  if (target instanceof KubernetesError || pods === null || pods instanceof KubernetesError)
    return make.skipped('the pods cannot be read');
  const living = pods.filter(({ pod }) => !pod.deleting && ['Pending', 'Running'].includes(pod.phase));
  if (living.length === 0) return make.skipped('the target has no pods');
  const { namespace, ref } = target;
  const who = nameTarget(namespace, ref);
  const results = metrics.flatMap((metric): CheckResults => {
    const path = `spec.metrics[${scaler.spec.metrics.indexOf(metric)}]`;
    const containers = [...new Set(living.flatMap(({ pod }) => [...pod.requests.keys()]))];
    if (metric.type === 'ContainerResource' && !containers.includes(metric.container))
      return make.failed(
        `${nameMetric(metric)}: no pod of ${who} has a container ${metric.container}`,
        `set ${path}.containerResource.container to ${containers.length === 1 ? '' : 'one of '}${listSome(containers)}`,
      );
    if (metric.target.type !== 'Utilization') return [];
    const { name: resource } = metric;
    const percent = `a target in percent of the ${resource} requests needs`;
    const without = [...new Set(living.flatMap(({ pod }) => containersWithoutRequest(pod, metric)))];
    if (without.length > 0)
      return make.failed(
        `${nameContainers(without)} of ${who} ${without.length === 1 ? 'has' : 'have'} no ${resource} request, but ${percent} one`,
        fixForRequests({ namespace, ref, resource, containers: without }),
      );
    const ended = pods.filter(
      ({ pod }) => !isAlive(pod) && !pod.deleting && containersWithoutRequest(pod, metric).length > 0,
    );
    if (ended.length > 0) {
      const names = ended.map(({ name }) => name);
      const [subject, have] = ended.length === 1 ? ['pod', 'has'] : ['pods', 'have'];
      return make.failed(
        `${subject} ${listSome(names, 3)} of ${who} ${have} ended and ${have} no ${resource} request, but ${percent} one for each pod`,
        kubectl(namespace, 'delete', 'pod', ...names).text,
      );
    }
    const zero = containersWithZero(living, metric);
    if (zero === null) return [];
    return make.failed(
      `the ${resource} requests of ${zero.length === 0 ? 'the pods' : nameContainers(zero)} of ${who} are 0, but ${percent} a request above 0`,
      `${fixForRequests({ namespace, ref, resource, containers: zero })}; ${raiseLimit(resource)}`,
    );
  });
  const all = [...results, ...metrics.flatMap((metric) => checkLimits(metric, living, { make, who }))];
  return all.length === 0 ? make.ok('') : all;
}

/** Checks that all pods have CPU limits, because a saturation step compares the usage with them. */
function checkLimits(
  metric: ResourceMetric | ContainerResourceMetric,
  living: readonly OwnedPod[],
  { make, who }: { readonly make: ResultBuilder; readonly who: string },
): CheckResults {
  if (metric.type !== 'Resource' || metric.saturation === undefined) return [];
  const unlimited = living.find(({ pod }) => pod.cpuLimit === undefined);
  if (unlimited === undefined) return [];
  return make.warning(
    `saturation of ${metric.name} never adds pods, because pod ${unlimited.name} of ${who} has no cpu limit for at least one container`,
    'set resources.limits.cpu of each container, or remove resource.saturation from the document',
  );
}

/** Returns the containers without a request. For Resource metrics, a request of the pod suffices. */
function containersWithoutRequest(
  { requests, podRequests }: Pod,
  metric: ResourceMetric | ContainerResourceMetric,
): readonly string[] {
  if (metric.type === 'Resource' && podRequests?.has(metric.name) === true) return [];
  const wanted = metric.type === 'ContainerResource' ? [metric.container] : [...requests.keys()];
  return wanted.filter((container) => requests.get(container)?.has(metric.name) !== true);
}

/**
 * Returns the containers of pods whose requests add up to 0, so that utilization has no value; empty: the requests are
 * those of whole pods. Null: the sum is above 0.
 */
function containersWithZero(
  living: readonly OwnedPod[],
  metric: ResourceMetric | ContainerResourceMetric,
): readonly string[] | null {
  const pods = living.map(({ pod }) => pod);
  const container = containerOf(metric);
  const read = podRequests(pods, metric.name, container);
  if ('error' in read || [...read.requests.values()].some((request) => request > 0n)) return null;
  return [...new Set(pods.flatMap((pod) => containersOfZero(pod, metric.name, container)))];
}

function nameContainers(names: readonly string[]): string {
  return `${names.length === 1 ? 'container' : 'containers'} ${listSome(names)}`;
}

function fixForRequests({
  namespace,
  ref,
  resource,
  containers,
}: {
  readonly namespace: string;
  readonly ref: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  readonly resource: string;
  readonly containers: readonly string[];
}): string {
  if (containers.length === 0) return `set spec.template.spec.resources.requests.${resource} of the workload`;
  if (watchedPlural(ref) === null)
    return `add resources: { requests: { ${resource}: ${exampleRequest(resource)} } } to these containers, with a value that fits the workload`;
  return `${setRequests({ namespace, target: ref }, resource, containers).text}, with a value that fits the workload (and in its manifest)`;
}
