import { type ClusterOptions, contextNamespace } from './cluster-options.js';
import type { ScalerName } from './service-pages.js';
import { type CommandIo, usageError } from '../output/io.js';

export interface NamingOptions extends Pick<ClusterOptions, 'kubeconfig' | 'context'> {
  readonly namespace?: string;
}

const SCALER_TYPES: ReadonlySet<string> = new Set([
  'scaler',
  'scalers',
  'scaler.promscaler.dev',
  'scalers.promscaler.dev',
]);

const WORKLOAD_TYPES: ReadonlySet<string> = new Set([
  ...['deployment', 'deployments', 'deploy', 'deployment.apps', 'deployments.apps'],
  ...['statefulset', 'statefulsets', 'sts', 'statefulset.apps', 'statefulsets.apps'],
  ...['replicaset', 'replicasets', 'rs', 'replicaset.apps', 'replicasets.apps', 'rollout', 'rollouts'],
]);

/**
 * Parses `NAMESPACE/NAME` or `NAME`. If the text has no namespace, uses the namespace of `--namespace`, then the
 * namespace of the kubeconfig context, then `default`. Throws `CommandError` with exit code 2 if the name is invalid.
 */
export async function readScalerName(
  text: string,
  options: NamingOptions,
  io: Pick<CommandIo, 'env'>,
): Promise<ScalerName> {
  const parts = text.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2 || parts.some((part) => part === ''))
    throw usageError(
      `${text === '' ? '""' : text} is not a valid scaler: use NAMESPACE/NAME, such as shop/web`,
    );
  const inNamespace = async (name: string): Promise<ScalerName> => ({
    namespace: options.namespace ?? (await contextNamespace(options, io)),
    name,
  });
  if (second === undefined) return inNamespace(first);
  if (SCALER_TYPES.has(first.toLowerCase())) return inNamespace(second);
  const { namespace } = options;
  if (namespace === undefined || namespace === first) return { namespace: first, name: second };
  if (isWorkloadType(first))
    throw usageError(`${text} names a workload. ${scalerNameHint(second, namespace)}`);
  throw usageError(`${text} is in namespace ${first}, but --namespace is ${namespace}. Omit one of the two`);
}

/** Returns a hint if the user has named a workload, such as `deployment/web`, instead of a scaler; otherwise ''. */
export function workloadHint({ namespace, name }: ScalerName): string {
  return isWorkloadType(namespace)
    ? `; ${namespace}/${name} names a workload. ${scalerNameHint(name, 'NAMESPACE')}`
    : '';
}

function isWorkloadType(word: string): boolean {
  return WORKLOAD_TYPES.has(word.toLowerCase());
}

function scalerNameHint(name: string, namespace: string): string {
  return `Use the name of a scaler, such as ${name} -n ${namespace}; promscaler status -o wide lists scalers with their targets`;
}
