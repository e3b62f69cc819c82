import { type AccessQuestion, mayI, nameAccess } from '../../../kubernetes/access-review.js';
import {
  readScalerObject,
  SCALER_GROUP,
  SCALER_PLURAL,
  SCALER_ROOT,
} from '../../../kubernetes/scaler-objects/scaler-object.js';
import { fixForScalerWatch } from '../../../kubernetes/scaler-objects/watch-scalers.js';
import { KubernetesError } from '../../../kubernetes/api/types.js';
import { listAll, resourceScope } from '../../../kubernetes/watch/list-pages.js';
import { type CheckResult, resultsOf } from '../report/check-result.js';
import { CLUSTER_SUBJECT, type ClusterContext, REQUEST_MS } from '../context/context.js';
import { listSome } from '../../output/list-some.js';
import { orError, orNull } from '../context/or-error.js';

/** Number of namespaces in which permissions are reviewed, with three requests each. */
const MAX_NAMESPACES = 20;
const PERMISSIONS_FIX = 'chart values crd.enabled: true and rbac.create: true';

/** Checks that the CRD exists, and that the account may read Scaler objects and patch their status. */
export async function checkCustomResources(context: ClusterContext): Promise<readonly CheckResult[]> {
  const { config } = context;
  if (!config.scalers.customResources) return [];
  const own = config.kubernetes.namespaces;
  const namespaces: readonly (string | null)[] = own.length === 0 ? [null] : own.slice(0, MAX_NAMESPACES);
  const make = resultsOf('custom-resources', CLUSTER_SUBJECT);
  const listed = await orError(() => listOne(context, namespaces[0] ?? null));
  if (listed instanceof KubernetesError && listed.kind !== 'forbidden') {
    const fix = fixForScalerWatch(listed) ?? 'kubectl get scalers.promscaler.dev';
    return [make.failed(`Scaler objects cannot be read: ${listed.message}`, fix)];
  }
  const denied = await orError(() => findDenied(context, namespaces));
  if (denied instanceof KubernetesError)
    return [make.skipped(`permissions cannot be reviewed: ${denied.message}`)];
  const isRead = ({ subresource }: AccessQuestion): boolean => subresource === '';
  const [reads, writes] = [denied.filter(isRead), denied.filter((one) => !isRead(one))];
  const unwatched = await findUnwatched(context, own);
  const ignored =
    unwatched.length === 0
      ? []
      : [
          make.warning(
            `kubernetes.namespaces does not contain the namespaces of ${listSome(unwatched)}: this service ignores these objects`,
            'add their namespaces to the chart value namespaces, unless another release handles them',
          ),
        ];
  if (denied.length === 0)
    return ignored.length > 0
      ? ignored
      : [make.ok('the CRD scalers.promscaler.dev is installed, and the account may read scalers')];
  return [
    ...ignored,
    ...(reads.length === 0
      ? []
      : [
          make.failed(
            `the account may not ${nameAll(reads)}: Scaler objects cannot be read`,
            PERMISSIONS_FIX,
          ),
        ]),
    ...(writes.length === 0
      ? []
      : [make.warning(`the account may not ${nameAll(writes)}: scalers show no status`, PERMISSIONS_FIX)]),
  ];
}

async function listOne({ transport, signal }: ClusterContext, namespace: string | null): Promise<void> {
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

/** Returns `NAMESPACE/NAME` of objects outside of `kubernetes.namespaces`. Empty if the account may not list them. */
async function findUnwatched(
  { transport, signal }: ClusterContext,
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
  { transport, signal }: ClusterContext,
  namespaces: readonly (string | null)[],
): Promise<readonly AccessQuestion[]> {
  const permissions = [
    { verb: 'list', subresource: '' },
    { verb: 'watch', subresource: '' },
    { verb: 'patch', subresource: 'status' },
  ];
  const questions = permissions.flatMap((permission) =>
    namespaces.map((namespace) => ({
      ...permission,
      group: SCALER_GROUP,
      resource: SCALER_PLURAL,
      namespace,
    })),
  );
  const allowed = await Promise.all(questions.map((question) => mayI(transport, question, signal)));
  return questions.filter((_, index) => allowed[index] === false);
}

function nameAll(questions: readonly AccessQuestion[]): string {
  return listSome(questions.map(nameAccess), 4);
}
