import { targetKey } from '../../control/observe/shared-targets.js';
import { objectIn, textIn, type JsonObject } from '../../kubernetes/json.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import { listHpas } from '../../kubernetes/hpa.js';
import { requestingContainers } from '../../kubernetes/pods/watched-pod.js';
import { nameTarget, readWatchedTarget } from '../../kubernetes/targets.js';
import type { Transport } from '../../kubernetes/requests/transport.js';
import { KubernetesError } from '../../kubernetes/types.js';
import { readWorkload } from '../../kubernetes/workload.js';
import { didYouMean } from '../../scaler/problems/nearest.js';
import type { FoundKind } from './find-kind.js';
import type { NewMetric } from './new-options.js';

/** The workload to look at, and what it must have. */
export interface TargetQuestion extends FoundKind {
  readonly transport: Transport;
  readonly namespace: string;
  readonly metrics: readonly NewMetric[];
  readonly signal: AbortSignal;
}

const DEADLINE_MS = 5000;
const MAX_NAMES = 5;

/**
 * What would keep a first document from working: the workload is not there or cannot be scaled, a container lacks the
 * request that a metric is measured by, another autoscaler is at work. What cannot be read is a remark as well.
 */
export async function lookAtTarget(question: TargetQuestion): Promise<readonly string[]> {
  const answers = [
    attempt(() => workloadRemarks(question), 'the workload was not looked at'),
    attempt(() => otherScalerRemarks(question), 'other autoscalers were not looked for'),
  ];
  // Where nothing answers both fail alike: that is said once, by what was asked first.
  const [ofWorkload = [], ofOthers = []] = await Promise.all(answers);
  return 'failed' in ofWorkload && 'failed' in ofOthers
    ? [ofWorkload.failed]
    : [ofWorkload, ofOthers].flatMap((answer) => ('failed' in answer ? [answer.failed] : answer));
}

async function attempt(
  ask: () => Promise<readonly string[]>,
  what: string,
): Promise<readonly string[] | { readonly failed: string }> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof KubernetesError) return { failed: `${what}: ${error.message}` };
    throw error;
  }
}

async function workloadRemarks(question: TargetQuestion): Promise<readonly string[]> {
  const { namespace, ref, hasScale, metrics } = question;
  const name = nameTarget(namespace, ref);
  const object = await readObject(question);
  const remarks = hasScale ? [] : [`${name} has no scale subresource, so it cannot be scaled`];
  if (object === null) return [...remarks, `${name} is not there${await otherNames(question)}`];
  const owner = readWatchedTarget(object)?.owner ?? null;
  if (owner !== null) remarks.push(`${name} belongs to deployment ${namespace}/${owner}: scale that one`);
  const resources = metrics.flatMap((metric) => (metric.type === 'Resource' ? [metric.resource] : []));
  return [...remarks, ...requestRemarks(name, object, resources)];
}

async function readObject(question: TargetQuestion): Promise<JsonObject | null> {
  const { root, plural } = question;
  try {
    return await readWorkload({ ...question, kind: { root, plural } }, DEADLINE_MS);
  } catch (error) {
    if (error instanceof KubernetesError && error.kind === 'not_found') return null;
    throw error;
  }
}

/** What else of that kind there is; nothing where that may not be listed. */
async function otherNames(question: TargetQuestion): Promise<string> {
  const { transport, root, plural, namespace, ref, signal } = question;
  const convert = (object: JsonObject): string | null => textIn(objectIn(object, 'metadata'), 'name');
  let names: readonly string[];
  try {
    const scope = resourceScope(root, plural, namespace);
    names = (await listAll({ transport, scope, convert, signal })).items;
  } catch (error) {
    if (error instanceof KubernetesError) return '';
    throw error;
  }
  if (names.length === 0) return `: namespace ${namespace} has no ${plural}`;
  const hint = didYouMean(ref.name, names);
  if (hint !== '') return hint;
  const rest = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return `; there are ${names.slice(0, MAX_NAMES).join(', ')}${rest}`;
}

function requestRemarks(
  name: string,
  object: JsonObject,
  resources: readonly ('cpu' | 'memory')[],
): readonly string[] {
  if (resources.length === 0) return [];
  const pod = objectIn(objectIn(objectIn(object, 'spec'), 'template'), 'spec');
  if (pod === null)
    return [`${name} holds no pod template: look yourself whether its containers have requests`];
  return resources.flatMap((resource) => {
    if (asksFor(pod, resource)) return [];
    const without = requestingContainers(pod)
      .filter((container) => !asksFor(container, resource))
      .map((container) => textIn(container, 'name') ?? '');
    if (without.length === 0) return [];
    const who = without.length === 1 ? 'container' : 'containers';
    const example = resource === 'cpu' ? '250m' : '256Mi';
    return [
      `${name}: ${who} ${without.join(', ')} without a ${resource} request, so ${resource} has no percentage; add ` +
        `"resources: { requests: { ${resource}: ${example} } }" with what it needs (unless a LimitRange does)`,
    ];
  });
}

/** A limit without a request counts as one: the API server fills it in when it makes the pod. */
function asksFor(owner: JsonObject, resource: string): boolean {
  const resources = objectIn(owner, 'resources');
  return ['requests', 'limits'].some((part) => objectIn(resources, part)?.[resource] !== undefined);
}

async function otherScalerRemarks(question: TargetQuestion): Promise<readonly string[]> {
  const { transport, namespace, ref, signal } = question;
  return (await listHpas(transport, namespace, signal))
    .filter(({ target }) => targetKey(namespace, target) === targetKey(namespace, ref))
    .map(({ kind, name }) => {
      return `${kind} ${namespace}/${name} scales ${nameTarget(namespace, ref)} already: promscaler holds still until it is gone`;
    });
}
