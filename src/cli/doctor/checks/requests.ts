import type { Pod } from '../../../decision/snapshot.js';
import { nameTarget, watchedPlural } from '../../../kubernetes/targets.js';
import { KubernetesError } from '../../../kubernetes/types.js';
import { scalerKey, type MetricSpec } from '../../../scaler/spec.js';
import { type Finding, findingsOf } from '../finding.js';
import { listSome } from '../inquiry.js';
import type { ScalerFacts } from '../scaler-facts.js';

const EXAMPLES: ReadonlyMap<string, string> = new Map([
  ['cpu', '250m'],
  ['memory', '256Mi'],
]);

/** Whether the pods have the requests that a percentage is taken of, and the containers that metrics name. */
export function checkRequests({ scaler, cluster }: ScalerFacts): readonly Finding[] {
  const make = findingsOf('requests', scalerKey(scaler));
  const metrics = scaler.spec.metrics.filter(isOfResource);
  if (metrics.length === 0) return [make.ok('')];
  if (cluster === null) return [make.skipped('the cluster does not answer')];
  const { target, pods } = cluster;
  if (target instanceof KubernetesError || pods === null || pods instanceof KubernetesError)
    return [make.skipped('the pods cannot be read')];
  const living = pods.filter(({ pod }) => !pod.deleting && ['Pending', 'Running'].includes(pod.phase));
  if (living.length === 0) return [make.skipped('there are no pods')];
  const { namespace, ref } = target;
  const who = nameTarget(namespace, ref);
  const findings = metrics.flatMap((metric): readonly Finding[] => {
    const containers = [...new Set(living.flatMap(({ pod }) => [...pod.requests.keys()]))];
    if (metric.type === 'ContainerResource' && !containers.includes(metric.container))
      return [
        make.failed(
          `no pod of ${who} has a container ${metric.container}`,
          `write one of ${listSome(containers)} into containerResource.container`,
        ),
      ];
    if (metric.target.type !== 'Utilization') return [];
    const lacking = [...new Set(living.flatMap(({ pod }) => lackingContainers(pod, metric)))];
    if (lacking.length === 0) return [];
    const noun = lacking.length === 1 ? 'container' : 'containers';
    return [
      make.failed(
        `${noun} ${listSome(lacking)} of ${who} without a ${metric.name} request: there is nothing that ${metric.name} could be a percentage of`,
        setRequests({ namespace, ref, resource: metric.name, lacking }),
      ),
    ];
  });
  return findings.length === 0 ? [make.ok('')] : findings;
}

type OfResource = Extract<MetricSpec, { readonly type: 'Resource' | 'ContainerResource' }>;

function isOfResource(metric: MetricSpec): metric is OfResource {
  return metric.type === 'Resource' || metric.type === 'ContainerResource';
}

/** Requests of the pod as a whole stand for those of its containers, for the whole pod alone. */
function lackingContainers({ requests, podRequests }: Pod, metric: OfResource): readonly string[] {
  if (metric.type === 'Resource' && podRequests?.has(metric.name) === true) return [];
  const wanted = metric.type === 'ContainerResource' ? [metric.container] : [...requests.keys()];
  return wanted.filter((container) => requests.get(container)?.has(metric.name) !== true);
}

function setRequests({
  namespace,
  ref,
  resource,
  lacking,
}: {
  readonly namespace: string;
  readonly ref: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  readonly resource: string;
  readonly lacking: readonly string[];
}): string {
  const amount = EXAMPLES.get(resource) ?? '1';
  if (watchedPlural(ref) === null)
    return `add resources: { requests: { ${resource}: ${amount} } }, with what it needs, to those containers`;
  return `kubectl set resources ${ref.kind.toLowerCase()}/${ref.name} -n ${namespace} -c ${lacking.join(',')} --requests=${resource}=${amount}, with what it needs (and in its manifest)`;
}
