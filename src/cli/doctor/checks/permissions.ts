import { type AccessQuestion, mayI, nameAccess, whoAmI } from '../../../kubernetes/access-review.js';
import { groupOf } from '../../../kubernetes/targets.js';
import { KubernetesError } from '../../../kubernetes/api/types.js';
import type { TargetRef } from '../../../scaler/spec.js';
import { type CheckResult, resultsOf } from '../report/check-result.js';
import { CLUSTER_SUBJECT, type ClusterContext } from '../context/context.js';
import { listSome } from '../../output/list-some.js';
import { orNull } from '../context/or-error.js';

/** Number of namespaces in which permissions are reviewed, with one request per permission. */
const MAX_NAMESPACES = 20;
const CHART_TARGETS = ['deployments', 'statefulsets', 'replicasets'];

/** Start of `Connection.source` if the connection uses the service account of the pod. */
const POD_ACCOUNT = 'service account';
const OTHER_ACCOUNT =
  ' (this is the account of the caller; helm test or kubectl exec checks the service account of the service)';

interface Permission extends Omit<AccessQuestion, 'namespace'> {
  readonly isRequired: boolean;
  readonly without: string;
  readonly fix: string;
}

/** New features of the service that need permissions add them here. */
function neededPermissions(
  kinds: readonly { readonly group: string; readonly plural: string }[],
): readonly Permission[] {
  const granted = { subresource: '', fix: RBAC_FIX };
  return [
    ...['list', 'watch'].map((verb) => ({
      ...granted,
      verb,
      group: '',
      resource: 'pods',
      isRequired: true,
      without: 'pods cannot be read',
    })),
    ...kinds.flatMap(({ group, plural }) => permissionsForKind(group, plural)),
    ...['create', 'patch'].map((verb) => ({
      ...granted,
      verb,
      group: 'events.k8s.io',
      resource: 'events',
      isRequired: false,
      without: verb === 'create' ? 'no Events are recorded' : 'repeated Events are not counted',
    })),
    ...['list', 'watch'].map((verb) => ({
      ...granted,
      verb,
      group: 'autoscaling',
      resource: 'horizontalpodautoscalers',
      isRequired: false,
      without: `an HPA on the same target is not detected${verb === 'watch' ? ' for up to a minute' : ''}, and both change the replica count`,
    })),
  ];
}

const RBAC_FIX = 'chart value rbac.create: true';

const DELETION_COST_PERMISSION: Permission = {
  verb: 'patch',
  group: '',
  resource: 'pods',
  subresource: '',
  isRequired: false,
  without: 'podDeletionCost has no effect: Kubernetes chooses the pods that a scale-down deletes',
  fix: 'chart value podDeletionCost.enabled: true',
};

function permissionsForKind(group: string, plural: string): readonly Permission[] {
  const name = group === 'apps' ? plural : `${plural}.${group}`;
  const targets = [...new Set([...CHART_TARGETS, name])].join(', ');
  const shared = { group, resource: plural, isRequired: true, fix: `chart value targets: [${targets}]` };
  const watches = group === 'apps' ? ['list', 'watch'] : [];
  return [
    ...watches.map((verb) => ({ ...shared, verb, subresource: '', without: `${plural} cannot be read` })),
    { ...shared, verb: 'get', subresource: 'scale', without: `${plural} cannot be read` },
    { ...shared, verb: 'patch', subresource: 'scale', without: `${plural} cannot be scaled` },
  ];
}

export async function checkPermissions(context: ClusterContext): Promise<readonly CheckResult[]> {
  const make = resultsOf('permissions', CLUSTER_SUBJECT);
  const { transport, connection, signal, config, scalers } = context;
  const kinds = await kindsOf(
    scalers.map(({ spec }) => spec.scaleTargetRef),
    context,
  );
  const ranksPods = scalers.some(({ spec }) => spec.podDeletionCost !== null);
  const permissions = [...neededPermissions(kinds), ...(ranksPods ? [DELETION_COST_PERMISSION] : [])];
  const own = config.kubernetes.namespaces;
  const namespaces: readonly (string | null)[] = own.length === 0 ? [null] : own.slice(0, MAX_NAMESPACES);
  const who = await whoAmI(transport, signal);
  try {
    const reviewed = await Promise.all(
      permissions.map(async (permission) => {
        const isAllowed = await Promise.all(
          namespaces.map((namespace) => mayI(transport, { ...permission, namespace }, signal)),
        );
        return { permission, namespaces: namespaces.filter((_, index) => isAllowed[index] === false) };
      }),
    );
    const denied = reviewed.filter((one) => one.namespaces.length > 0);
    const note = connection.source.startsWith(POD_ACCOUNT) ? '' : OTHER_ACCOUNT;
    if (denied.length === 0)
      return [make.ok(`${who ?? 'the account'} has all permissions that the service needs${note}`)];
    return judgeDenied(denied, { who, isClusterWide: own.length === 0, make });
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    return [make.skipped(`permissions cannot be reviewed: ${error.message}`)];
  }
}

interface DeniedPermission {
  readonly permission: Permission;
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
    const fix = isPodsDenied ? roleFix(isClusterWide, one.namespaces) : one.permission.fix;
    groups.set(fix, [...(groups.get(fix) ?? []), one]);
  }
  return [...groups].map(([fix, ones]) => {
    const what = ones.map(({ permission, namespaces }) =>
      nameAccess({ ...permission, namespace: namespaces[0] ?? null }),
    );
    const account = who ?? 'the account';
    const consequences = [...new Set(ones.map(({ permission }) => permission.without))];
    const message = `${account} may not ${listSome(what, 4)}: ${listSome(consequences, 2)}`;
    return ones.some(({ permission }) => permission.isRequired)
      ? make.failed(message, fix)
      : make.warning(message, fix);
  });
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
