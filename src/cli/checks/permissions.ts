import { type AccessQuestion, findDenied, nameAccess, whoAmI } from '../../kubernetes/access-review.js';
import { groupOf } from '../../kubernetes/targets.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import type { TargetRef } from '../../scaler/spec.js';
import { type Permission, permissionsBy } from '../../service/permissions.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { CLUSTER_SUBJECT, type ClusterContext } from './context.js';
import { listSome } from '../output/list-some.js';
import { orNull } from './or-error.js';
import { fixOf, questionsOf, scaledNamespaces } from './review-permissions.js';

const CHART_TARGETS = ['deployments', 'statefulsets', 'replicasets'];

/** Start of `Connection.source` if the connection uses the service account of the pod. */
const POD_ACCOUNT = 'service account';
const OTHER_ACCOUNT =
  ' (this is the account of the caller; helm test or kubectl exec checks the service account of the service)';

export async function checkPermissions(context: ClusterContext): Promise<readonly CheckResult[]> {
  const make = resultsOf('permissions', CLUSTER_SUBJECT);
  const { transport, connection, signal, config, scalers } = context;
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
  const who = await whoAmI(transport, signal);
  try {
    const reviewed = await Promise.all(
      permissions.flatMap((permission) =>
        questionsOf(permission, null).map(async (question): Promise<DeniedPermission> => {
          const namespaces = permission.where === 'cluster' ? [null] : scaledNamespaces(config);
          const questions = namespaces.map((namespace) => ({ ...question, namespace }));
          const denied = await findDenied(transport, questions, signal);
          return { permission, question, namespaces: denied.map(({ namespace }) => namespace) };
        }),
      ),
    );
    const denied = reviewed.filter((one) => one.namespaces.length > 0);
    const note = connection.source.startsWith(POD_ACCOUNT) ? '' : OTHER_ACCOUNT;
    if (denied.length === 0)
      return [make.ok(`${who ?? 'the account'} has all permissions that the service needs${note}`)];
    return judgeDenied(denied, { who, isClusterWide: config.kubernetes.namespaces.length === 0, make });
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    return [make.skipped(`permissions cannot be reviewed: ${error.message}`)];
  }
}

interface DeniedPermission {
  readonly permission: Permission;
  /** About one verb. */
  readonly question: AccessQuestion;
  /** Null: the whole cluster. */
  readonly namespaces: readonly (string | null)[];
}

/** Returns one result per fix, because six missing verbs of a Role are one mistake. */
function judgeDenied(
  denied: readonly DeniedPermission[],
  {
    who,
    isClusterWide,
    make,
  }: {
    readonly who: string | null;
    readonly isClusterWide: boolean;
    readonly make: ReturnType<typeof resultsOf>;
  },
): readonly CheckResult[] {
  const isPodsDenied = denied.some(
    ({ permission }) => permission.resource === 'pods' && permission.isRequired,
  );
  const groups = new Map<string, DeniedPermission[]>();
  for (const one of denied) {
    // Without access to pods, the Role is missing or exists only in other namespaces.
    const fix = isPodsDenied ? roleFix(isClusterWide, one.namespaces) : fixFor(one);
    groups.set(fix, [...(groups.get(fix) ?? []), one]);
  }
  return [...groups].map(([fix, ones]) => {
    const what = ones.map(({ question, namespaces }) =>
      nameAccess({ ...question, namespace: namespaces[0] ?? null }),
    );
    const account = who ?? 'the account';
    const consequences = [...new Set(ones.map(({ permission }) => permission.without))];
    const message = `${account} may not ${listSome(what, 4)}: ${listSome(consequences, 2)}`;
    return ones.some(({ permission }) => permission.isRequired)
      ? make.failed(message, fix)
      : make.warning(message, fix);
  });
}

function fixFor({ permission, question: { group, resource } }: DeniedPermission): string {
  if (permission.grantedBy !== 'targets') return fixOf(permission);
  const name = group === 'apps' ? resource : `${resource}.${group}`;
  return `chart value targets: [${[...new Set([...CHART_TARGETS, name])].join(', ')}]`;
}

function roleFix(isClusterWide: boolean, denied: readonly (string | null)[]): string {
  if (isClusterWide)
    return 'chart values rbac.create: true and namespaces: [] (a ClusterRole); for Roles in single namespaces, list them: namespaces: [...], which is kubernetes.namespaces in the service config';
  return `chart values rbac.create: true and namespaces: [..., ${denied.join(', ')}] (a Role in each)`;
}

/** Returns distinct kinds by group and plural. Without documents: Deployments. */
async function kindsOf(
  refs: readonly TargetRef[],
  { discovery, signal }: ClusterContext,
): Promise<readonly { readonly group: string; readonly plural: string }[]> {
  const kinds = new Map<string, { readonly group: string; readonly plural: string }>();
  if (refs.length === 0) kinds.set('deployments', { group: 'apps', plural: 'deployments' });
  for (const ref of refs) {
    const group = groupOf(ref);
    // A kind that does not exist or cannot be scaled is reported by the check `target`.
    const kind = await orNull(() => discovery.find(ref, signal));
    const plural = kind?.plural ?? null;
    if (plural !== null) kinds.set(`${group}/${plural}`, { group, plural });
  }
  return [...kinds.values()];
}
