import type { ServiceConfig } from '../../config/resolve-service-config.js';
import { type AccessQuestion, findDenied, nameAccess, whoAmI } from '../../kubernetes/access-review.js';
import { KubernetesError, orNull, orError } from '../../kubernetes/api/types.js';
import { groupOf } from '../../kubernetes/targets.js';
import type { TargetRef } from '../../scaler/spec.js';
import { type Permission, permissionsBy } from '../../service/permissions.js';
import type { CheckResult, CheckResults, Checked } from './check-result.js';
import type { ClusterContext } from './context.js';
import { listSome } from '../../units/format.js';
import { groupBy } from '../../units/maps.js';

/** Default of the chart value `targets`. */
const CHART_TARGETS = ['deployments', 'statefulsets', 'replicasets'];

/** If the connection uses the service account of the pod, `Connection.source` starts with this text. */
const POD_ACCOUNT = 'service account';
const OTHER_ACCOUNT =
  ' (this is your own account; to check the service account of the service, use helm test or kubectl exec)';

export async function checkPermissions(context: Checked<ClusterContext>): Promise<CheckResults> {
  const { transport, connection, signal, config, scalers, make } = context;
  const kinds = await kindsOf(
    scalers.map(({ spec }) => spec.scaleTargetRef),
    context,
  );
  const ranksPods = scalers.some(({ spec }) => spec.podDeletionCost !== null);
  const reviewsTokens = config.server.auth?.kind === 'review';
  const permissions = permissionsBy(
    [
      'rbac.create',
      'targets',
      ...(ranksPods ? (['podDeletionCost.enabled'] as const) : []),
      ...(reviewsTokens ? (['auth.tokenReview'] as const) : []),
    ],
    kinds,
  );
  const who = (await whoAmI(transport, signal)) ?? 'the account';
  const reviews = permissions.flatMap((permission) =>
    questionsOf(permission, null).map(async (question): Promise<DeniedPermission> => {
      const namespaces = permission.where === 'cluster' ? [null] : scaledNamespaces(config);
      const questions = namespaces.map((namespace) => ({ ...question, namespace }));
      const denied = await findDenied(transport, questions, signal);
      return { permission, question, namespaces: denied.map(({ namespace }) => namespace) };
    }),
  );
  const reviewed = await orError(() => Promise.all(reviews));
  if (reviewed instanceof KubernetesError)
    return make.skipped(`permissions cannot be reviewed: ${reviewed.message}`);
  const denied = reviewed.filter((one) => one.namespaces.length > 0);
  if (denied.length > 0) return judgeDenied(denied, who, context);
  const note = connection.source.startsWith(POD_ACCOUNT) ? '' : OTHER_ACCOUNT;
  return make.ok(`${who} has all permissions that the service needs${note}`);
}

interface DeniedPermission {
  readonly permission: Permission;
  /** Contains exactly one verb. */
  readonly question: AccessQuestion;
  /** Null: the whole cluster. */
  readonly namespaces: readonly (string | null)[];
}

/** Returns one result for each fix, because for example six missing verbs of a Role are a single mistake. */
function judgeDenied(
  denied: readonly DeniedPermission[],
  who: string,
  { config, make }: Checked<ClusterContext>,
): readonly CheckResult[] {
  const isClusterWide = config.kubernetes.namespaces.length === 0;
  const isPodsDenied = denied.some(
    ({ permission }) => permission.resource === 'pods' && permission.isRequired,
  );
  // If pods are forbidden, the whole Role is missing, or exists only in other namespaces. One fix then covers
  // everything.
  const byFix = groupBy(denied, (one) =>
    isPodsDenied ? roleFix(isClusterWide, one.namespaces) : fixFor(one),
  );
  return [...byFix].map(([fix, ones]) => {
    const what = ones.map(({ question, namespaces }) =>
      nameAccess({ ...question, namespace: namespaces[0] ?? null }),
    );
    const consequences = [...new Set(ones.map(({ permission }) => permission.without))];
    const message = `${who} cannot ${listSome(what, 4)}: ${listSome(consequences, 2)}`;
    const isRequired = ones.some(({ permission }) => permission.isRequired);
    return make[isRequired ? 'failed' : 'warning'](message, fix);
  });
}

function fixFor({ permission, question: { group, resource } }: DeniedPermission): string {
  return permission.grantedBy === 'targets' ? targetsFix(group, resource) : fixOf(permission);
}

/** Returns the chart value that grants the permissions for a kind of target. */
export function targetsFix(group: string, plural: string): string {
  const name = group === 'apps' ? plural : `${plural}.${group}`;
  return `set the chart value targets: [${[...new Set([...CHART_TARGETS, name])].join(', ')}]`;
}

function roleFix(isClusterWide: boolean, denied: readonly (string | null)[]): string {
  if (isClusterWide)
    return 'set the chart values rbac.create: true and namespaces: [] (a ClusterRole); for Roles, set namespaces: [...] to the namespaces to scale (kubernetes.namespaces in the service config)';
  return `set the chart values rbac.create: true and namespaces: [..., ${denied.join(', ')}] (a Role in each namespace)`;
}

/** Returns the distinct kinds of the targets. If there are no documents, returns only Deployments. */
async function kindsOf(
  refs: readonly TargetRef[],
  { discovery, signal }: ClusterContext,
): Promise<readonly { readonly group: string; readonly plural: string }[]> {
  const kinds = new Map<string, { readonly group: string; readonly plural: string }>();
  if (refs.length === 0) kinds.set('deployments', { group: 'apps', plural: 'deployments' });
  for (const ref of refs) {
    const group = groupOf(ref);
    // If the kind does not exist or cannot be scaled, the check `target` reports it.
    const kind = await orNull(() => discovery.find(ref, signal));
    const plural = kind?.plural ?? null;
    if (plural !== null) kinds.set(`${group}/${plural}`, { group, plural });
  }
  return [...kinds.values()];
}

/** Limits the namespaces in which permissions are reviewed: each permission takes a request in each namespace. */
const MAX_NAMESPACES = 20;

/** Returns the namespaces in which permissions are reviewed; null: the whole cluster. */
export function scaledNamespaces({
  kubernetes: { namespaces },
}: Pick<ServiceConfig, 'kubernetes'>): readonly (string | null)[] {
  return namespaces.length === 0 ? [null] : namespaces.slice(0, MAX_NAMESPACES);
}

/** Returns one access review for each verb, and for each name if there are names. */
function questionsOf(
  { group, resource: path, verbs, names }: Permission,
  namespace: string | null,
): readonly AccessQuestion[] {
  const [resource = '', subresource = ''] = path.split('/');
  const questions = verbs.map((verb) => ({ verb, group, resource, subresource, namespace }));
  return names === undefined
    ? questions
    : questions.flatMap((question) => names.map((name) => ({ ...question, name })));
}

/** Returns one result for each permission that the account lacks in one of the namespaces. */
export async function reviewPermissions(
  permissions: readonly Permission[],
  namespaces: readonly (string | null)[],
  { transport, signal, make }: Checked<ClusterContext>,
): Promise<readonly CheckResult[]> {
  const review = async (permission: Permission): Promise<readonly CheckResult[]> => {
    const questions = namespaces.flatMap((namespace) => questionsOf(permission, namespace));
    const denied = await findDenied(transport, questions, signal);
    if (denied.length === 0) return [];
    const message = `the account cannot ${listSome(denied.map(nameAccess), 4)}: ${permission.without}`;
    return [(permission.isRequired ? make.failed : make.warning)(message, fixOf(permission))];
  };
  const results = await orError(() => Promise.all(permissions.map(review)));
  return results instanceof KubernetesError
    ? [make.skipped(`permissions cannot be reviewed: ${results.message}`)]
    : results.flat();
}

/** Returns the chart values that grant a permission. */
export function fixOf({ grantedBy }: Pick<Permission, 'grantedBy'>): string {
  if (grantedBy === 'rbac.create') return 'set the chart value rbac.create: true';
  const fix = `set the chart values rbac.create: true and ${grantedBy}: true`;
  return grantedBy === 'leaderElection.enabled'
    ? `${fix}; with a single replica, ${grantedBy}: false is also possible`
    : fix;
}
