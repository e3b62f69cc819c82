import { type JsonObject, objectIn, textIn } from '../../kubernetes/api/json.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import { APPS_ROOT, groupOf, nameTarget } from '../../kubernetes/targets.js';
import type { KubernetesError } from '../../kubernetes/api/types.js';
import { nearest } from '../../scaler/problems/nearest.js';
import type { Scaler } from '../../scaler/spec.js';
import type { ClusterContext } from './context.js';
import { listSome } from '../output/list-some.js';
import { orNull } from './or-error.js';

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** Returns message and fix. Suggests a similar name, another kind or another namespace if there is one. */
export async function explainMissingTarget(
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
  if (near !== null) return [message, `spec.scaleTargetRef.name: ${near}`];
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
