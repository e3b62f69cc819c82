import type { ServiceConfig } from '../../config/resolve-service-config.js';
import { type AccessQuestion, findDenied, nameAccess } from '../../kubernetes/access-review.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import type { Permission } from '../../service/permissions.js';
import { listSome } from '../output/list-some.js';
import type { CheckResult, ResultBuilder } from './check-result.js';
import type { ClusterContext } from './context.js';
import { orError } from './or-error.js';

/** Number of namespaces in which permissions are reviewed, with one request per permission. */
const MAX_NAMESPACES = 20;

/** Returns the namespaces in which permissions are reviewed; null: the whole cluster. */
export function scaledNamespaces({
  kubernetes: { namespaces },
}: Pick<ServiceConfig, 'kubernetes'>): readonly (string | null)[] {
  return namespaces.length === 0 ? [null] : namespaces.slice(0, MAX_NAMESPACES);
}

/** Returns one question for each verb and name, about the first group. */
export function questionsOf(
  { groups: [group = ''], resource: path, verbs, names }: Permission,
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
  {
    transport,
    signal,
    make,
  }: Pick<ClusterContext, 'transport' | 'signal'> & { readonly make: ResultBuilder },
): Promise<readonly CheckResult[]> {
  const review = async (permission: Permission): Promise<readonly CheckResult[]> => {
    const questions = namespaces.flatMap((namespace) => questionsOf(permission, namespace));
    const denied = await findDenied(transport, questions, signal);
    if (denied.length === 0) return [];
    const message = `the account may not ${listSome(denied.map(nameAccess), 4)}: ${permission.without}`;
    return [(permission.isRequired ? make.failed : make.warning)(message, fixOf(permission))];
  };
  const results = await orError(() => Promise.all(permissions.map(review)));
  return results instanceof KubernetesError
    ? [make.skipped(`permissions cannot be reviewed: ${results.message}`)]
    : results.flat();
}

/** Returns the values of the chart that grant a permission. */
export function fixOf({ grantedBy }: Pick<Permission, 'grantedBy'>): string {
  if (grantedBy === 'rbac.create') return 'chart value rbac.create: true';
  const fix = `chart values rbac.create: true and ${grantedBy}: true`;
  return grantedBy === 'leaderElection.enabled' ? `${fix}; with a single replica, ${grantedBy}: false` : fix;
}
