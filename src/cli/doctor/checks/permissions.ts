import { type AccessQuestion, mayI, nameAccess, whoAmI } from '../../../kubernetes/access-review.js';
import { groupOf } from '../../../kubernetes/targets.js';
import { KubernetesError } from '../../../kubernetes/types.js';
import type { TargetRef } from '../../../scaler/spec.js';
import { type Finding, findingsOf } from '../finding.js';
import { CLUSTER_SUBJECT, type ClusterInquiry, listSome } from '../inquiry.js';
import { orNull } from '../or-error.js';

/** Asks of more namespaces than these would take longer than the rest of the doctor. */
const MAX_NAMESPACES = 20;
const CHART_TARGETS = ['deployments', 'statefulsets', 'replicasets'];

/** How a connection by the pod's service account names itself. */
const OWN_ACCOUNT = 'service account';
const OTHER_ACCOUNT = " (the service's own account is asked in its pod alone: helm test, or kubectl exec)";

/** Something that the service does, and what it is without. */
interface Need extends Omit<AccessQuestion, 'namespace'> {
  /** Without it nothing works, or only something less. */
  readonly isVital: boolean;
  /** What is missing without it. */
  readonly without: string;
  /** The line of the chart's values that grants it. */
  readonly mend: string;
}

/**
 * What the service needs for these kinds, by the plural that each is served under. Another feature's needs are lines
 * here.
 */
function neededAccess(
  kinds: readonly { readonly group: string; readonly plural: string }[],
): readonly Need[] {
  const granted = { subresource: '', mend: RBAC_MEND };
  return [
    ...['list', 'watch'].map((verb) => ({
      ...granted,
      verb,
      group: '',
      resource: 'pods',
      isVital: true,
      without: 'no pod is known',
    })),
    ...kinds.flatMap(({ group, plural }) => needsOfKind(group, plural)),
    {
      ...granted,
      verb: 'create',
      group: 'events.k8s.io',
      resource: 'events',
      isVital: false,
      without: 'no Event tells of a change',
    },
    {
      ...granted,
      verb: 'list',
      group: 'autoscaling',
      resource: 'horizontalpodautoscalers',
      isVital: false,
      without: 'another autoscaler on the same workload is not noticed, and both pull at it',
    },
  ];
}

const RBAC_MEND = 'chart value rbac.create: true';

/** Asked only where a document has `podDeletionCost`. */
const COSTS_NEED: Need = {
  verb: 'patch',
  group: '',
  resource: 'pods',
  subresource: '',
  isVital: false,
  without: 'podDeletionCost has no effect: Kubernetes chooses which pods a scale-down takes',
  mend: 'chart value podDeletionCost.enabled: true',
};

/** Asked only where something is in dry run. */
const COMPARISON_NEED: Need = {
  verb: 'watch',
  group: 'autoscaling',
  resource: 'horizontalpodautoscalers',
  subresource: '',
  isVital: false,
  without: 'a dry run is compared with what an HPA wanted up to a minute ago',
  mend: RBAC_MEND,
};

function needsOfKind(group: string, plural: string): readonly Need[] {
  const name = group === 'apps' ? plural : `${plural}.${group}`;
  const targets = [...new Set([...CHART_TARGETS, name])].join(', ');
  const shared = { group, resource: plural, isVital: true, mend: `chart value targets: [${targets}]` };
  const watches = group === 'apps' ? ['list', 'watch'] : [];
  return [
    ...watches.map((verb) => ({ ...shared, verb, subresource: '', without: `no ${plural} are known` })),
    { ...shared, verb: 'get', subresource: 'scale', without: `${plural} cannot be read` },
    { ...shared, verb: 'patch', subresource: 'scale', without: `${plural} cannot be scaled` },
  ];
}

/** Whether the account may do what the service does, as the API server itself says. */
export async function checkPermissions(inquiry: ClusterInquiry): Promise<readonly Finding[]> {
  const make = findingsOf('permissions', CLUSTER_SUBJECT);
  const { transport, connection, signal, config, scalers } = inquiry;
  const kinds = await kindsOf(
    scalers.map(({ spec }) => spec.scaleTargetRef),
    inquiry,
  );
  const ranksPods = scalers.some(({ spec }) => spec.podDeletionCost !== null);
  const compares = inquiry.isDryRun === true || scalers.some(({ spec }) => spec.dryRun);
  const needs = [
    ...neededAccess(kinds),
    ...(ranksPods ? [COSTS_NEED] : []),
    ...(compares ? [COMPARISON_NEED] : []),
  ];
  const own = config.kubernetes.namespaces;
  const namespaces: readonly (string | null)[] = own.length === 0 ? [null] : own.slice(0, MAX_NAMESPACES);
  const who = await whoAmI(transport, signal);
  try {
    const asked = await Promise.all(
      needs.map(async (need) => {
        const isAllowed = await Promise.all(
          namespaces.map((namespace) => mayI(transport, { ...need, namespace }, signal)),
        );
        return { need, denied: namespaces.filter((_, index) => isAllowed[index] === false) };
      }),
    );
    const refused = asked.filter(({ denied }) => denied.length > 0);
    const caution = connection.source.startsWith(OWN_ACCOUNT) ? '' : OTHER_ACCOUNT;
    if (refused.length === 0)
      return [make.ok(`${who ?? 'this account'} may do all that the service does${caution}`)];
    return judgeRefused(refused, { who, isClusterWide: own.length === 0, make });
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    return [make.skipped(`permissions cannot be asked for: ${error.message}`)];
  }
}

interface Refused {
  readonly need: Need;
  readonly denied: readonly (string | null)[];
}

/** One finding for each line that mends something: six verbs of one missing role are one mistake. */
function judgeRefused(
  refused: readonly Refused[],
  {
    who,
    isClusterWide,
    make,
  }: {
    readonly who: string | null;
    readonly isClusterWide: boolean;
    readonly make: ReturnType<typeof findingsOf>;
  },
): readonly Finding[] {
  const lacksPods = refused.some(({ need }) => need.resource === 'pods' && need.isVital);
  const groups = new Map<string, Refused[]>();
  for (const one of refused) {
    // Without pods the whole role is missing, or holds in some namespaces alone.
    const mend = lacksPods ? wholeRoleMend(isClusterWide, one.denied) : one.need.mend;
    groups.set(mend, [...(groups.get(mend) ?? []), one]);
  }
  return [...groups].map(([mend, ones]) => {
    const what = ones.map(({ need, denied }) => nameAccess({ ...need, namespace: denied[0] ?? null }));
    const account = who ?? 'this account';
    const consequences = [...new Set(ones.map(({ need }) => need.without))];
    const message = `${account} may not ${listSome(what, 4)}: ${listSome(consequences, 2)}`;
    return ones.some(({ need }) => need.isVital) ? make.failed(message, mend) : make.warning(message, mend);
  });
}

function wholeRoleMend(isClusterWide: boolean, denied: readonly (string | null)[]): string {
  if (isClusterWide)
    return 'chart values rbac.create: true and namespaces: [] (a ClusterRole); with Roles in some namespaces alone, name them: namespaces: [...], which is kubernetes.namespaces of the service config';
  return `chart values rbac.create: true and namespaces: [..., ${denied.join(', ')}] (a Role in each)`;
}

/** Group and plural of each kind once; the apps kinds where there is no document yet. */
async function kindsOf(
  refs: readonly TargetRef[],
  { discovery, signal }: ClusterInquiry,
): Promise<readonly { readonly group: string; readonly plural: string }[]> {
  const kinds = new Map<string, { readonly group: string; readonly plural: string }>();
  if (refs.length === 0) kinds.set('deployments', { group: 'apps', plural: 'deployments' });
  for (const ref of refs) {
    const group = groupOf(ref);
    // A kind that is not served or cannot be scaled is told of by the check of the target.
    const kind = await orNull(() => discovery.find(ref, signal));
    const plural = kind?.plural ?? null;
    if (plural !== null) kinds.set(`${group}/${plural}`, { group, plural });
  }
  return [...kinds.values()];
}
