import { correctedName } from '../../decision/remedies.js';
import { type JsonObject, objectIn, textIn } from '../../kubernetes/api/json.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { groupOf, nameTarget, watchedPlural, APPS_ROOT } from '../../kubernetes/targets.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import { nearest } from '../../scaler/problems/nearest.js';
import { scalerKey, type Scaler } from '../../scaler/spec.js';
import { type CheckResult, resultsOf, orNull } from './check-result.js';
import type { ClusterContext } from './context.js';
import { targetsFix } from './permissions.js';
import type { ScalerFacts } from './scaler-facts.js';
import { countOf, listSome } from '../../units/format.js';

export async function checkTarget({
  scaler,
  cluster,
  context,
}: ScalerFacts): Promise<readonly CheckResult[]> {
  const make = resultsOf('target', scalerKey(scaler));
  if (cluster === null || context === null) return [make.skipped('the API server does not answer')];
  const { namespace, spec } = scaler;
  const { scaleTargetRef: ref } = spec;
  const { target } = cluster;
  if (target instanceof KubernetesError) {
    switch (target.kind) {
      case 'not_found':
        return [make.failed(...(await explainMissingTarget(scaler, context, target)))];
      case 'forbidden':
        return [make.failed(...(await explainForbidden(scaler, context, target)))];
      case 'invalid_selector':
        return [
          make.failed(
            target.message,
            `give ${nameTarget(namespace, ref)} a selector that matches its pods (spec.selector)`,
          ),
        ];
      case 'invalid':
        return [make.failed(target.message, 'set spec.scaleTargetRef to the object that has spec.replicas')];
      default:
        return [
          make.failed(target.message, 'try again; if the error persists, check the log of the API server'),
        ];
    }
  }
  const { specReplicas } = target;
  if (specReplicas === 0 && spec.minReplicas > 0)
    return [
      make.warning(
        `${nameTarget(namespace, ref)} was scaled to 0 manually: promscaler does not scale it`,
        `kubectl scale ${watchedPlural(ref) === null ? `${ref.kind.toLowerCase()}.${groupOf(ref)}` : ref.kind.toLowerCase()}/${ref.name} -n ${namespace} --replicas=${spec.minReplicas} enables scaling again`,
      ),
    ];
  return [make.ok(`${nameTarget(namespace, ref)} has ${countOf(specReplicas, 'replica')}`)];
}

async function explainForbidden(
  { namespace, spec }: Scaler,
  { discovery, signal }: ClusterContext,
  { message }: KubernetesError,
): Promise<readonly [string, string]> {
  const { scaleTargetRef: ref } = spec;
  const kind = await orNull(() => discovery.find(ref, signal));
  const plural = kind?.plural ?? `${ref.kind.toLowerCase()}s`;
  return [
    message,
    `${targetsFix(groupOf(ref), plural)}; if the chart value namespaces is set, add ${namespace}`,
  ];
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** Returns message and fix. Suggests a similar name, another kind or another namespace if there is one. */
async function explainMissingTarget(
  { namespace, spec }: Scaler,
  context: ClusterContext,
  error: KubernetesError,
): Promise<readonly [string, string]> {
  const { scaleTargetRef: ref } = spec;
  const kind = await orNull(() => context.discovery.find(ref, context.signal));
  // The API server does not serve the kind. The error lists the kinds that it serves.
  if (kind === null)
    return [
      error.message,
      `set apiVersion and kind of spec.scaleTargetRef to those of the workload; \`kubectl api-resources --api-group=${groupOf(ref)}\` lists them; if the list is empty, install the CRDs`,
    ];
  const message = `${nameTarget(namespace, ref)} does not exist`;
  const here = await listNames(context, kind, namespace);
  const near =
    here === null
      ? null
      : nearest(
          ref.name,
          here.map(({ name }) => name),
        );
  if (near !== null) return [message, correctedName(near)];
  const otherKind = await findOtherKind(context, namespace, ref);
  if (otherKind !== null)
    return [
      `${message}, but a ${otherKind} of the same name does`,
      `spec.scaleTargetRef: { kind: ${otherKind}, name: ${ref.name} }`,
    ];
  const everywhere = await listNames(context, kind, null);
  const elsewhere = (everywhere ?? []).filter(({ name }) => name === ref.name).map((one) => one.namespace);
  const [first] = elsewhere;
  if (first !== undefined)
    return [`${message}, but exists in namespace ${listSome(elsewhere)}`, `metadata.namespace: ${first}`];
  if (here === null)
    return [message, 'set spec.scaleTargetRef.name to the name of a workload in that namespace'];
  if (here.length > 0)
    return [
      `${message}; namespace ${namespace} has ${listSome(here.map(({ name }) => name))}`,
      'set spec.scaleTargetRef.name to one of these',
    ];
  const namespaces = [...new Set((everywhere ?? []).map((one) => one.namespace))];
  const nearNamespace = nearest(namespace, namespaces);
  return [
    `${message}: namespace ${namespace} has no ${kind.plural}`,
    nearNamespace === null
      ? 'deploy the workload, or set metadata.namespace to its namespace'
      : `metadata.namespace: ${nearNamespace}`,
  ];
}

/** Returns null if the account may not list the objects. */
async function listNames(
  { transport, signal }: ClusterContext,
  { root, plural }: { readonly root: string; readonly plural: string },
  namespace: string | null,
): Promise<readonly Named[] | null> {
  const convert = (object: JsonObject): Named | null => {
    const metadata = objectIn(object, 'metadata');
    const name = textIn(metadata, 'name');
    return name === null ? null : { name, namespace: textIn(metadata, 'namespace') ?? '' };
  };
  const scope = resourceScope(root, plural, namespace);
  return (await orNull(() => listAll({ transport, scope, convert, signal })))?.items ?? null;
}

async function findOtherKind(
  context: ClusterContext,
  namespace: string,
  { kind, name }: Scaler['spec']['scaleTargetRef'],
): Promise<string | null> {
  const others = Object.entries({
    Deployment: 'deployments',
    StatefulSet: 'statefulsets',
    DaemonSet: 'daemonsets',
  });
  for (const [other, plural] of others) {
    if (other === kind) continue;
    const names = await listNames(context, { root: APPS_ROOT, plural }, namespace);
    if (names?.some((one) => one.name === name) === true) return other;
  }
  return null;
}
