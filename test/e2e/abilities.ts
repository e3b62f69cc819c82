import type { Kubectl } from './run-namespace.js';

/** A permission of the kubeconfig that only some tests need. */
export type Ability = 'state' | 'election' | 'pause' | 'objects' | 'hpa';

/** One access review of the API server. */
interface Access {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verbs: readonly string[];
  /** For the whole cluster instead of the namespace of the run. */
  readonly isClusterWide?: boolean;
}

const CRDS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', isClusterWide: true };
const HPAS = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };

/** Permissions for each ability. */
const ACCESS: Readonly<Record<Exclude<Ability, 'hpa'>, readonly Access[]>> = {
  state: [{ group: '', resource: 'configmaps', verbs: ['create', 'get', 'patch', 'delete'] }],
  election: [
    { group: 'coordination.k8s.io', resource: 'leases', verbs: ['create', 'get', 'update', 'delete'] },
  ],
  pause: [{ group: 'apps', resource: 'deployments', verbs: ['get', 'patch'] }],
  objects: [
    { ...CRDS, verbs: ['create', 'get', 'delete'] },
    {
      group: 'promscaler.dev',
      resource: 'scalers',
      verbs: ['create', 'get', 'list', 'watch', 'patch', 'delete'],
    },
    { group: 'promscaler.dev', resource: 'scalers', subresource: 'status', verbs: ['patch'] },
  ],
};

/** Permissions for an HPA, and for the test's own metrics API behind an APIService. */
const HPA_ACCESS: readonly Access[] = [{ ...HPAS, verbs: ['create', 'get', 'delete'] }];
const METRICS_API_ACCESS: readonly Access[] = [
  { group: '', resource: 'services', verbs: ['create', 'delete'] },
  { group: '', resource: 'endpoints', verbs: ['create', 'delete'] },
  {
    group: 'apiregistration.k8s.io',
    resource: 'apiservices',
    verbs: ['create', 'get', 'delete'],
    isClusterWide: true,
  },
];

/** Missing requirements of skipped tests, for their names. */
export const NEEDS: Readonly<Record<Ability, string>> = {
  state: 'the kubeconfig may not create and patch ConfigMaps',
  election: 'the kubeconfig may not create and update Leases',
  pause: 'the kubeconfig may not patch Deployments',
  objects: 'the kubeconfig may not create a CustomResourceDefinition and Scalers',
  hpa: 'no metrics-server answers, and PROMSCALER_E2E_METRICS_ADDRESS with permission to create an APIService is not set',
};

/** Checks permissions by SelfSubjectAccessReviews; the caller checks whether a server answers for metrics.k8s.io. */
export async function readAbilities(
  kubectl: Kubectl,
  options: {
    readonly namespace: string;
    readonly hasMetricsServer: boolean;
    readonly metricsAddress: string;
  },
): Promise<ReadonlySet<Ability>> {
  const { namespace, hasMetricsServer, metricsAddress } = options;
  const abilities = new Set<Ability>();
  const may = (accesses: readonly Access[]): Promise<boolean> => areAllowed(kubectl, namespace, accesses);
  for (const ability of ['state', 'election', 'pause', 'objects'] as const)
    if (await may(ACCESS[ability])) abilities.add(ability);
  const hasMetrics = hasMetricsServer || (metricsAddress !== '' && (await may(METRICS_API_ACCESS)));
  if (hasMetrics && (await may(HPA_ACCESS))) abilities.add('hpa');
  return abilities;
}

async function areAllowed(
  kubectl: Kubectl,
  namespace: string,
  accesses: readonly Access[],
): Promise<boolean> {
  for (const { group, resource, subresource, verbs, isClusterWide = false } of accesses) {
    for (const verb of verbs) {
      const resourceAttributes = {
        group,
        resource,
        verb,
        ...(subresource === undefined ? {} : { subresource }),
        ...(isClusterWide ? {} : { namespace }),
      };
      const review = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes },
      };
      const args = [
        'create',
        '--validate=false',
        '-f',
        '-',
        '-o',
        'jsonpath={.status.allowed}',
        '--request-timeout=30s',
      ];
      if ((await kubectl(args, JSON.stringify(review))) !== 'true') return false;
    }
  }
  return true;
}
