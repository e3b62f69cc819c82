import { type JsonObject, objectIn, textIn } from '../../../kubernetes/json.js';
import { listAll, resourceScope } from '../../../kubernetes/watch/list-pages.js';
import { APPS_ROOT, groupOf, nameTarget } from '../../../kubernetes/targets.js';
import type { KubernetesError } from '../../../kubernetes/types.js';
import { nearest } from '../../../scaler/problems/nearest.js';
import type { Scaler } from '../../../scaler/spec.js';
import { type ClusterInquiry, listSome } from '../inquiry.js';
import { orNull } from '../or-error.js';

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** Message and mend for a target that is not there: what of that name, or of a name near it, is there instead. */
export async function whereElse(
  { namespace, spec }: Scaler,
  inquiry: ClusterInquiry,
  error: KubernetesError,
): Promise<readonly [string, string]> {
  const { scaleTargetRef: ref } = spec;
  const kind = await orNull(() => inquiry.discovery.find(ref, inquiry.signal));
  // The kind itself is not served: the error says which are.
  if (kind === null)
    return [
      error.message,
      `write apiVersion and kind of spec.scaleTargetRef as in the manifest of the workload; \`kubectl api-resources --api-group=${groupOf(ref)}\` lists them, and none means that its CRDs are not installed`,
    ];
  const message = `${nameTarget(namespace, ref)} is not there`;
  const here = await listNames(inquiry, kind, namespace);
  const near =
    here === null
      ? null
      : nearest(
          ref.name,
          here.map(({ name }) => name),
        );
  if (near !== null) return [message, `spec.scaleTargetRef.name: ${near}`];
  const otherKind = await findOtherKind(inquiry, namespace, ref);
  if (otherKind !== null)
    return [
      `${message}, but a ${otherKind} of that name is`,
      `spec.scaleTargetRef: { kind: ${otherKind}, name: ${ref.name} }`,
    ];
  const everywhere = await listNames(inquiry, kind, null);
  const elsewhere = (everywhere ?? []).filter(({ name }) => name === ref.name).map((one) => one.namespace);
  const [first] = elsewhere;
  if (first !== undefined)
    return [
      `${message}, but there is one in namespace ${listSome(elsewhere)}`,
      `metadata.namespace: ${first}`,
    ];
  if (here === null)
    return [message, 'write the name of a workload of that namespace into spec.scaleTargetRef.name'];
  if (here.length > 0)
    return [
      `${message}; namespace ${namespace} has ${listSome(here.map(({ name }) => name))}`,
      'write one of these into spec.scaleTargetRef.name',
    ];
  const namespaces = [...new Set((everywhere ?? []).map((one) => one.namespace))];
  const nearNamespace = nearest(namespace, namespaces);
  return [
    `${message}: namespace ${namespace} has no ${kind.plural}`,
    nearNamespace === null
      ? 'deploy the workload, or write its namespace into metadata.namespace'
      : `metadata.namespace: ${nearNamespace}`,
  ];
}

/** Null where it may not be listed. */
async function listNames(
  { transport, signal }: ClusterInquiry,
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
  inquiry: ClusterInquiry,
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
    const names = await listNames(inquiry, { root: APPS_ROOT, plural }, namespace);
    if (names?.some((one) => one.name === name) === true) return other;
  }
  return null;
}
