import { ALL_BUCKETS, configMapName } from '../kubernetes/state/state-key.js';
import { LEASE_NAME } from './own-objects.js';

/** A value of the chart that grants a permission. `targets` lists the kinds that may be scaled. */
type ChartValue =
  | 'rbac.create'
  | 'targets'
  | 'podDeletionCost.enabled'
  | 'crd.enabled'
  | 'leaderElection.enabled'
  | 'sharding.enabled'
  | 'state.enabled'
  | 'auth.tokenReview';

/** A permission: verbs on a resource, as in an RBAC rule. */
export interface Permission {
  /**
   * Where the permission is needed. `scaled`: in each namespace with targets. `own`: in the namespace of the release.
   * `cluster`: for resources without a namespace.
   */
  readonly where: 'scaled' | 'own' | 'cluster';
  /** The API group. Empty: the core group. `GROUP`: the group of a target. */
  readonly group: string;
  /** The plural name, with the subresource if there is one. `TARGET`: a kind that may be scaled. */
  readonly resource: string;
  readonly verbs: readonly string[];
  /** The names of objects. Unset: all objects. */
  readonly names?: readonly string[];
  readonly grantedBy: ChartValue;
  /** False: if the permission is missing, only `use` does not work. */
  readonly isRequired: boolean;
  readonly use: string;
  readonly without: string;
}

const EVENTS = { where: 'scaled', group: 'events.k8s.io', resource: 'events' } as const;
const HPAS = { where: 'scaled', group: 'autoscaling', resource: 'horizontalpodautoscalers' } as const;
const LEASES = { where: 'own', group: 'coordination.k8s.io', resource: 'leases' } as const;
const REVIEW = {
  where: 'cluster',
  verbs: ['create'],
  grantedBy: 'auth.tokenReview',
  isRequired: true,
} as const;

/**
 * All permissions of the service. `doctor` checks them, the documentation lists them, and a test compares them with the
 * rules of the chart. For targets outside of `apps`, the service uses only `/scale`.
 */
export const PERMISSIONS: readonly Permission[] = [
  {
    where: 'scaled',
    group: '',
    resource: 'pods',
    verbs: ['list', 'watch'],
    grantedBy: 'rbac.create',
    isRequired: true,
    use: 'read readiness, start times and requests of the pods of a target',
    without: 'pods cannot be read',
  },
  {
    where: 'scaled',
    group: '',
    resource: 'pods',
    verbs: ['patch'],
    grantedBy: 'podDeletionCost.enabled',
    isRequired: false,
    use: 'set the deletion cost of pods for `podDeletionCost`',
    without: 'podDeletionCost has no effect: Kubernetes chooses the pods that a scale-down deletes',
  },
  {
    where: 'scaled',
    group: 'apps',
    resource: 'TARGET',
    verbs: ['list', 'watch'],
    grantedBy: 'targets',
    isRequired: true,
    use: 'read replicas, selector, rollout and pause annotations of a target',
    without: 'TARGET cannot be read',
  },
  {
    where: 'scaled',
    group: 'GROUP',
    resource: 'TARGET/scale',
    verbs: ['get'],
    grantedBy: 'targets',
    isRequired: true,
    use: 'read the replica count right before a change',
    without: 'TARGET cannot be read',
  },
  {
    where: 'scaled',
    group: 'GROUP',
    resource: 'TARGET/scale',
    verbs: ['patch'],
    grantedBy: 'targets',
    isRequired: true,
    use: 'change the replica count',
    without: 'TARGET cannot be scaled',
  },
  {
    ...EVENTS,
    verbs: ['create'],
    grantedBy: 'rbac.create',
    isRequired: false,
    use: 'record Events of a target',
    without: 'no Events are recorded',
  },
  {
    ...EVENTS,
    verbs: ['patch'],
    grantedBy: 'rbac.create',
    isRequired: false,
    use: 'count repeated Events',
    without: 'repeated Events are not counted',
  },
  {
    ...HPAS,
    verbs: ['list'],
    grantedBy: 'rbac.create',
    isRequired: false,
    use: 'detect an HPA on the same target, and compare a dry run with the HPA',
    without: 'an HPA on the same target is not detected, and both autoscalers change the replica count',
  },
  {
    ...HPAS,
    verbs: ['watch'],
    grantedBy: 'rbac.create',
    isRequired: false,
    use: 'detect an HPA on the same target at once',
    without:
      'an HPA on the same target is not detected for up to a minute, and both autoscalers change the replica count',
  },
  {
    where: 'scaled',
    group: 'promscaler.dev',
    resource: 'scalers',
    verbs: ['list', 'watch'],
    grantedBy: 'crd.enabled',
    isRequired: true,
    use: 'read Scaler objects',
    without: 'Scaler objects cannot be read',
  },
  {
    where: 'scaled',
    group: 'promscaler.dev',
    resource: 'scalers/status',
    verbs: ['patch'],
    grantedBy: 'crd.enabled',
    isRequired: false,
    use: 'write the status of Scaler objects',
    without: 'Scaler objects show no status',
  },
  {
    ...LEASES,
    verbs: ['create'],
    grantedBy: 'leaderElection.enabled',
    isRequired: true,
    use: 'create the Lease of leader election if it does not exist; RBAC cannot restrict `create` to a name',
    without: 'no replica can become leader, and nothing is scaled',
  },
  {
    ...LEASES,
    verbs: ['get', 'update'],
    names: [LEASE_NAME],
    grantedBy: 'leaderElection.enabled',
    isRequired: true,
    use: 'elect a leader',
    without: 'no replica can become leader, and nothing is scaled',
  },
  {
    ...LEASES,
    verbs: ['create', 'get', 'list', 'update'],
    grantedBy: 'sharding.enabled',
    isRequired: true,
    use: 'maintain one Lease per replica, with a name that is not known in advance',
    without: 'with sharding, no replica can scale',
  },
  {
    ...LEASES,
    verbs: ['delete'],
    grantedBy: 'sharding.enabled',
    isRequired: false,
    use: 'delete the Leases of former replicas',
    without: 'the Leases of former replicas remain',
  },
  {
    where: 'own',
    group: '',
    resource: 'pods',
    verbs: ['list'],
    grantedBy: 'sharding.enabled',
    isRequired: false,
    use: 'ignore Leases that belong to no pod of the release',
    without: 'a Lease of another client can pass as the Lease of a replica',
  },
  {
    where: 'own',
    group: '',
    resource: 'configmaps',
    verbs: ['get', 'patch'],
    names: ALL_BUCKETS.map(configMapName),
    grantedBy: 'state.enabled',
    isRequired: true,
    use: 'store windows and changes of the scalers',
    without: 'scalers whose state cannot be stored can scale up but not down',
  },
  {
    ...REVIEW,
    group: 'authentication.k8s.io',
    resource: 'tokenreviews',
    use: 'read which user the token of a client belongs to',
    without: 'the HTTP API of promscaler answers client requests with status 503',
  },
  {
    ...REVIEW,
    group: 'authorization.k8s.io',
    resource: 'subjectaccessreviews',
    use: 'check which namespaces the user of a client may see',
    without: 'the HTTP API of promscaler answers client requests with status 503',
  },
];

/** Returns the permissions that these values of the chart grant, for these kinds of targets. */
export function permissionsBy(
  values: readonly ChartValue[],
  kinds: readonly { readonly group: string; readonly plural: string }[] = [],
): readonly Permission[] {
  return PERMISSIONS.filter(({ grantedBy }) => values.includes(grantedBy)).flatMap((permission) => {
    const { resource, without } = permission;
    if (permission.grantedBy !== 'targets') return [permission];
    return kinds
      .filter(({ group }) => permission.group === 'GROUP' || permission.group === group)
      .map(({ group, plural }) => ({
        ...permission,
        group,
        resource: resource.replace('TARGET', plural),
        without: without.replace('TARGET', plural),
      }));
  });
}
