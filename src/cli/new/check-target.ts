import { objectIn, textIn, type JsonObject } from '../../kubernetes/api/json.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import { listHpas } from '../../kubernetes/hpa.js';
import { requestingContainers } from '../../kubernetes/pods/watched-pod.js';
import { nameTarget, readWatchedTarget, targetKey } from '../../kubernetes/targets.js';
import { findOtherKind, readWorkload } from '../../kubernetes/scale.js';
import type { Transport } from '../../kubernetes/requests/transport.js';
import { KubernetesError, nullIfNotFound, orError, orNull } from '../../kubernetes/api/types.js';
import { exampleRequest } from '../../decision/snippet.js';
import { type Milli, parseQuantity } from '../../units/quantity.js';
import { alsoScales } from '../checks/other-scaler.js';
import { namesHint } from '../input/nearest-keys.js';
import { SCALER, targetOf } from '../reach/source-kinds.js';
import type { FoundKind } from './find-kind.js';
import type { NewMetric } from './new-options.js';

interface TargetCheckInput extends FoundKind {
  readonly transport: Transport;
  readonly namespace: string;
  /** The name of the new document. */
  readonly name: string;
  readonly metrics: readonly NewMetric[];
  readonly signal: AbortSignal;
}

const DEADLINE_MS = 5000;

/**
 * Returns warnings: about a workload that does not exist or cannot be scaled, about containers without a request if a
 * target is a utilization, about other scalers with the same target, and about each of these checks that failed.
 */
export async function checkTarget(input: TargetCheckInput): Promise<readonly string[]> {
  const answers = [
    attempt(() => workloadWarnings(input), 'the workload was not checked'),
    attempt(() => otherScalerWarnings(input), 'other autoscalers were not checked'),
    attempt(() => otherDocumentWarnings(input), 'Scaler objects were not checked'),
  ];
  const found = await Promise.all(answers);
  const [ofWorkload = [], ofOthers = []] = found;
  // If the API server does not answer, all checks fail with the same error, which is reported once.
  if ('failed' in ofWorkload && 'failed' in ofOthers) return [ofWorkload.failed];
  return found.flatMap((answer) => ('failed' in answer ? [answer.failed] : answer));
}

async function attempt(
  check: () => Promise<readonly string[]>,
  what: string,
): Promise<readonly string[] | { readonly failed: string }> {
  const answer = await orError(check);
  return answer instanceof KubernetesError ? { failed: `${what}: ${answer.message}` } : answer;
}

async function workloadWarnings(input: TargetCheckInput): Promise<readonly string[]> {
  const { namespace, ref, hasScale, metrics } = input;
  const name = nameTarget(namespace, ref);
  const { root, plural } = input;
  const read = { ...input, kind: { root, plural } };
  const object = await nullIfNotFound(() => readWorkload(read, DEADLINE_MS));
  const warnings = hasScale ? [] : [`${name} has no scale subresource, so it cannot be scaled`];
  if (object === null) {
    const other = await findOtherKind(input, DEADLINE_MS);
    const hint =
      other === null
        ? await otherNames(input)
        : `, but ${nameTarget(namespace, other)} exists: use ${other.kind.toLowerCase()}/${other.name}`;
    return [...warnings, `${name} does not exist${hint}`];
  }
  const owner = readWatchedTarget(object)?.owner ?? null;
  if (owner !== null)
    warnings.push(`${name} is controlled by deployment ${namespace}/${owner}: scale the deployment instead`);
  const resources = metrics.flatMap((metric) => (metric.type === 'Resource' ? [metric.resource] : []));
  return [...warnings, ...requestWarnings(name, object, resources)];
}

/** Returns the names of the existing workloads as the end of a message; empty: they cannot be listed. */
async function otherNames(input: TargetCheckInput): Promise<string> {
  const { transport, root, plural, namespace, ref, signal } = input;
  const convert = (object: JsonObject): string | null => textIn(objectIn(object, 'metadata'), 'name');
  const scope = resourceScope(root, plural, namespace);
  const listed = await orNull(() => listAll({ transport, scope, convert, signal }));
  return listed === null ? '' : namesHint(ref.name, listed.items, { namespace, plural });
}

function requestWarnings(
  name: string,
  object: JsonObject,
  resources: readonly ('cpu' | 'memory')[],
): readonly string[] {
  if (resources.length === 0) return [];
  const pod = objectIn(objectIn(objectIn(object, 'spec'), 'template'), 'spec');
  if (pod === null) return [`${name} has no pod template: the requests of its containers were not checked`];
  return resources.flatMap((resource) => {
    if (requestOf(pod, resource) !== null) return [];
    const containers = requestingContainers(pod);
    const without = containers.filter((container) => requestOf(container, resource) === null);
    const isZero = without.length === 0 && containers.every((one) => requestOf(one, resource) === 0n);
    const named = (isZero ? containers : without).map((container) => textIn(container, 'name') ?? '');
    if (named.length === 0) return [];
    const who =
      named.length === 1 ? `container ${named.join(', ')} has` : `containers ${named.join(', ')} have`;
    const [lacks, needs] = isZero
      ? [`a ${resource} request of 0`, 'needs more']
      : [`no ${resource} request`, 'needs one'];
    return [
      `${name}: ${who} ${lacks}, but a target in percent of the ${resource} requests ${needs}; add ` +
        `"resources: { requests: { ${resource}: ${exampleRequest(resource)} } }" with a value that fits the workload (unless a LimitRange sets one)`,
    ];
  });
}

/** Returns the request; null: there is none. The API server uses the limit for an unset request. */
function requestOf(owner: JsonObject, resource: string): Milli | null {
  const resources = objectIn(owner, 'resources');
  for (const part of ['requests', 'limits']) {
    const amount = objectIn(resources, part)?.[resource];
    if (typeof amount === 'string' || typeof amount === 'number') return parseQuantity(amount);
  }
  return null;
}

async function otherScalerWarnings(input: TargetCheckInput): Promise<readonly string[]> {
  const { transport, namespace, ref, signal } = input;
  return (await listHpas(transport, namespace, signal))
    .filter(({ target }) => targetKey(namespace, target) === targetKey(namespace, ref))
    .map((other) => alsoScales(other, ref));
}

/** Warns about a Scaler object with the same name, and about others with the same target. */
async function otherDocumentWarnings(input: TargetCheckInput): Promise<readonly string[]> {
  const { transport, namespace, ref, name, signal } = input;
  const scope = resourceScope(SCALER.root, SCALER.plural, namespace);
  const key = targetKey(namespace, ref);
  const convert = (object: JsonObject): string | null => {
    const other = textIn(objectIn(object, 'metadata'), 'name');
    if (other === name)
      return `Scaler ${namespace}/${other} exists: \`kubectl apply\` of this document replaces its metrics and bounds. To scale another workload, use --name`;
    const isDryRun = objectIn(object, 'spec')?.['dryRun'] === true;
    if (isDryRun || targetKey(namespace, targetOf(object)) !== key) return null;
    return `Scaler ${namespace}/${other ?? ''} also scales ${nameTarget(namespace, ref)}: while both exist, promscaler patches the target for neither of the two scalers. Delete one of the two, or set spec.dryRun: true in one of them`;
  };
  const listed = await nullIfNotFound(() => listAll({ transport, scope, convert, signal }));
  // A cluster without the kind has no Scaler objects.
  return listed?.items ?? [];
}
