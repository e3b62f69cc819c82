import {
  readScalerObject,
  SCALER_PLURAL,
  SCALER_ROOT,
  fixForScalerWatch,
} from '../../kubernetes/scaler-objects.js';
import { KubernetesError, orError, orNull } from '../../kubernetes/api/types.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import type { CheckResults, Checked } from './check-result.js';
import { type ClusterContext, REQUEST_MS } from './context.js';
import { reviewPermissions, scaledNamespaces } from './permissions.js';
import { permissionsBy } from '../../service/permissions.js';
import { listSome } from '../../units/format.js';

/** Checks that the CRD exists, and that the account may read Scaler objects and patch their status. */
export async function checkCustomResources(context: Checked<ClusterContext>): Promise<CheckResults> {
  const { config, make } = context;
  if (!config.scalers.customResources) return [];
  const namespaces = scaledNamespaces(config);
  const listed = await orError(() => listOne(context, namespaces[0] ?? null));
  if (listed instanceof KubernetesError && listed.kind !== 'forbidden') {
    const fix = fixForScalerWatch(listed) ?? 'kubectl get scalers.promscaler.dev';
    return make.failed(`Scaler objects cannot be read: ${listed.message}`, fix);
  }
  const denied = await reviewPermissions(permissionsBy(['crd.enabled']), namespaces, context);
  if (denied.some(({ status }) => status === 'skipped')) return denied;
  const unwatched = await findUnwatched(context);
  if (unwatched.length > 0)
    return [
      make.warning(
        `kubernetes.namespaces does not contain the namespaces of ${listSome(unwatched)}: this service ignores these objects`,
        'add the namespaces to the chart value namespaces, unless another release of promscaler handles these objects',
      ),
      ...denied,
    ];
  return denied.length > 0
    ? denied
    : make.ok('the CRD scalers.promscaler.dev is installed, and the account may read scalers');
}

async function listOne({ transport, signal }: ClusterContext, namespace: string | null): Promise<void> {
  await transport.request({
    lane: 'list',
    path: resourceScope(SCALER_ROOT, SCALER_PLURAL, namespace).path,
    query: { limit: '1' },
    doing: 'listing scalers.promscaler.dev',
    verb: 'list',
    resource: SCALER_PLURAL,
    deadlineMs: REQUEST_MS,
    signal,
  });
}

/** Returns `NAMESPACE/NAME` of Scaler objects outside of `kubernetes.namespaces`; empty if listing is forbidden. */
async function findUnwatched({ transport, signal, config }: ClusterContext): Promise<readonly string[]> {
  const { namespaces: own } = config.kubernetes;
  if (own.length === 0) return [];
  const scope = resourceScope(SCALER_ROOT, SCALER_PLURAL, null);
  const found = await orNull(() => listAll({ transport, scope, convert: readScalerObject, signal }));
  return (found?.items ?? [])
    .filter(({ namespace }) => !own.includes(namespace))
    .map(({ namespace, name }) => `${namespace}/${name}`);
}
