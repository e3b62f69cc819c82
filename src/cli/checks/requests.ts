import { nameMetric } from '../../decision/conditions.js';
import { exampleRequest, setRequests } from '../../decision/snippet.js';
import type { Pod } from '../../decision/snapshot/snapshot.js';
import { nameTarget, watchedPlural } from '../../kubernetes/targets.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import {
  type ContainerResourceMetric,
  isOfResource,
  type ResourceMetric,
  scalerKey,
} from '../../scaler/spec.js';
import { type CheckResult, type ResultBuilder, resultsOf } from './check-result.js';
import type { OwnedPod, ScalerFacts } from './scaler-facts.js';
import { listSome } from '../../units/format.js';

/**
 * Checks what the resource metrics need: requests for utilization targets, CPU limits for saturation steps, and the
 * containers of ContainerResource metrics.
 */
export function checkRequests({ scaler, cluster }: ScalerFacts): readonly CheckResult[] {
  const make = resultsOf('requests', scalerKey(scaler));
  const metrics = scaler.spec.metrics.filter(isOfResource);
  if (metrics.length === 0) return [make.ok('')];
  if (cluster === null) return [make.skipped('the API server does not answer')];
  const { target, pods } = cluster;
  if (target instanceof KubernetesError || pods === null || pods instanceof KubernetesError)
    return [make.skipped('the pods cannot be read')];
  const living = pods.filter(({ pod }) => !pod.deleting && ['Pending', 'Running'].includes(pod.phase));
  if (living.length === 0) return [make.skipped('the target has no pods')];
  const { namespace, ref } = target;
  const who = nameTarget(namespace, ref);
  const results = metrics.flatMap((metric): readonly CheckResult[] => {
    const path = `spec.metrics[${scaler.spec.metrics.indexOf(metric)}]`;
    const containers = [...new Set(living.flatMap(({ pod }) => [...pod.requests.keys()]))];
    if (metric.type === 'ContainerResource' && !containers.includes(metric.container))
      return [
        make.failed(
          `${nameMetric(metric)}: no pod of ${who} has a container ${metric.container}`,
          `set ${path}.containerResource.container to ${containers.length === 1 ? '' : 'one of '}${listSome(containers)}`,
        ),
      ];
    if (metric.target.type !== 'Utilization') return [];
    const without = [...new Set(living.flatMap(({ pod }) => containersWithoutRequest(pod, metric)))];
    if (without.length === 0) return [];
    const subject =
      without.length === 1
        ? `container ${listSome(without)} of ${who} has`
        : `containers ${listSome(without)} of ${who} have`;
    return [
      make.failed(
        `${subject} no ${metric.name} request, but a target in percent of the ${metric.name} requests needs one`,
        fixForRequests({ namespace, ref, resource: metric.name, containers: without }),
      ),
    ];
  });
  const all = [...results, ...metrics.flatMap((metric) => checkLimits(metric, living, { make, who }))];
  return all.length === 0 ? [make.ok('')] : all;
}

/** Checks that all pods have CPU limits, because a saturation step compares the usage with them. */
function checkLimits(
  metric: ResourceMetric | ContainerResourceMetric,
  living: readonly OwnedPod[],
  { make, who }: { readonly make: ResultBuilder; readonly who: string },
): readonly CheckResult[] {
  if (metric.type !== 'Resource' || metric.saturation === undefined) return [];
  const unlimited = living.find(({ pod }) => pod.cpuLimit === undefined);
  if (unlimited === undefined) return [];
  return [
    make.warning(
      `saturation of ${metric.name} never adds pods, because pod ${unlimited.name} of ${who} has no cpu limit for at least one container`,
      'set resources.limits.cpu of each container, or remove resource.saturation from the document',
    ),
  ];
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
  if (watchedPlural(ref) === null)
    return `add resources: { requests: { ${resource}: ${exampleRequest(resource)} } } to these containers, with a value that fits the workload`;
  return `${setRequests({ namespace, target: ref }, resource, containers).text}, with a value that fits the workload (and in its manifest)`;
}
