import { type AccessQuestion, mayI, nameAccess } from '../../../kubernetes/access-review.js';
import {
  readScalerObject,
  SCALER_GROUP,
  SCALER_PLURAL,
  SCALER_ROOT,
} from '../../../kubernetes/scaler-objects/scaler-object.js';
import { fixForScalerWatch } from '../../../kubernetes/scaler-objects/watch-scalers.js';
import { KubernetesError } from '../../../kubernetes/types.js';
import { listAll, resourceScope } from '../../../kubernetes/watch/list-pages.js';
import { type Finding, findingsOf } from '../finding.js';
import { CLUSTER_SUBJECT, type ClusterInquiry, REQUEST_MS, listSome } from '../inquiry.js';
import { orError, orNull } from '../or-error.js';

/** Asks of more namespaces than these would take longer than the rest of the doctor. */
const MAX_NAMESPACES = 20;
const MEND_RIGHTS = 'chart values crd.enabled: true and rbac.create: true';

/** Whether documents can be taken from the cluster, where they are to be: the CRD is there, and the rights suffice. */
export async function checkCustomResources(inquiry: ClusterInquiry): Promise<readonly Finding[]> {
  const { config } = inquiry;
  if (!config.scalers.customResources) return [];
  const own = config.kubernetes.namespaces;
  const namespaces: readonly (string | null)[] = own.length === 0 ? [null] : own.slice(0, MAX_NAMESPACES);
  const make = findingsOf('custom-resources', CLUSTER_SUBJECT);
  const missing = await orError(() => askFirst(inquiry, namespaces[0] ?? null));
  if (missing instanceof KubernetesError && missing.kind !== 'forbidden') {
    const mend = fixForScalerWatch(missing) ?? 'kubectl get scalers.promscaler.dev';
    return [make.failed(`no document of the cluster is known: ${missing.message}`, mend)];
  }
  const denied = await orError(() => findDenied(inquiry, namespaces));
  if (denied instanceof KubernetesError)
    return [make.skipped(`permissions cannot be asked for: ${denied.message}`)];
  const isRead = ({ subresource }: AccessQuestion): boolean => subresource === '';
  const [reads, writes] = [denied.filter(isRead), denied.filter((one) => !isRead(one))];
  const unwatched = await findUnwatched(inquiry, own);
  const elsewhere =
    unwatched.length === 0
      ? []
      : [
          make.warning(
            `kubernetes.namespaces leaves out the namespaces of ${listSome(unwatched)}: this service does not read them, and they get no status from it`,
            'chart value namespaces: name their namespaces, too, unless another release has them',
          ),
        ];
  if (denied.length === 0)
    return elsewhere.length > 0
      ? elsewhere
      : [make.ok('scalers.promscaler.dev is installed and may be read')];
  return [
    ...elsewhere,
    ...(reads.length === 0
      ? []
      : [
          make.failed(
            `this account may not ${nameAll(reads)}: no document of the cluster is known`,
            MEND_RIGHTS,
          ),
        ]),
    ...(writes.length === 0
      ? []
      : [make.warning(`this account may not ${nameAll(writes)}: scalers show no status`, MEND_RIGHTS)]),
  ];
}

/** Throws `KubernetesError` where it is not answered. */
async function askFirst({ transport, signal }: ClusterInquiry, namespace: string | null): Promise<void> {
  await transport.request({
    lane: 'list',
    method: 'GET',
    path: resourceScope(SCALER_ROOT, SCALER_PLURAL, namespace).path,
    query: { limit: '1' },
    doing: 'listing scalers.promscaler.dev',
    verb: 'list',
    resource: SCALER_PLURAL,
    deadlineMs: REQUEST_MS,
    signal,
  });
}

/** `NAMESPACE/NAME` of the objects that nobody reads here, where this account may see them. */
async function findUnwatched(
  { transport, signal }: ClusterInquiry,
  own: readonly string[],
): Promise<readonly string[]> {
  if (own.length === 0) return [];
  const scope = resourceScope(SCALER_ROOT, SCALER_PLURAL, null);
  const found = await orNull(() => listAll({ transport, scope, convert: readScalerObject, signal }));
  return (found?.items ?? [])
    .filter(({ namespace }) => !own.includes(namespace))
    .map(({ namespace, name }) => `${namespace}/${name}`);
}

async function findDenied(
  { transport, signal }: ClusterInquiry,
  namespaces: readonly (string | null)[],
): Promise<readonly AccessQuestion[]> {
  const rights = [
    { verb: 'list', subresource: '' },
    { verb: 'watch', subresource: '' },
    { verb: 'patch', subresource: 'status' },
  ];
  const questions = rights.flatMap((right) =>
    namespaces.map((namespace) => ({ ...right, group: SCALER_GROUP, resource: SCALER_PLURAL, namespace })),
  );
  const allowed = await Promise.all(questions.map((question) => mayI(transport, question, signal)));
  return questions.filter((_, index) => allowed[index] === false);
}

function nameAll(questions: readonly AccessQuestion[]): string {
  return listSome(questions.map(nameAccess), 4);
}
