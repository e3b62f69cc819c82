import { contextNamespace } from './reach/context-namespace.js';
import type { ClusterOptions } from './reach/cluster-options.js';
import type { ScalerName } from './reach/service-pages.js';
import { CommandError, type CommandIo } from './io.js';

/** How a command line names a scaler: `NAMESPACE/NAME`, or `NAME` with or without `--namespace`. */
export interface NamingOptions extends Pick<ClusterOptions, 'kubeconfig' | 'context'> {
  readonly namespace?: string;
}

const SCALER_TYPES: ReadonlySet<string> = new Set([
  'scaler',
  'scalers',
  'scaler.promscaler.dev',
  'scalers.promscaler.dev',
]);

/** What kubectl calls workloads, with their short names. */
const WORKLOAD_TYPES: ReadonlySet<string> = new Set([
  ...['deployment', 'deployments', 'deploy', 'deployment.apps', 'deployments.apps'],
  ...['statefulset', 'statefulsets', 'sts', 'statefulset.apps', 'statefulsets.apps'],
  ...['replicaset', 'replicasets', 'rs', 'replicaset.apps', 'replicasets.apps', 'rollout', 'rollouts'],
]);

/**
 * The scaler that an argument names. A name without a namespace is looked for in that of `--namespace`, else in that of
 * the kubeconfig's context, else in `default`. Throws `CommandError` of wrong usage for what names none.
 */
export async function readScalerName(
  text: string,
  options: NamingOptions,
  io: Pick<CommandIo, 'env'>,
): Promise<ScalerName> {
  const parts = text.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2 || parts.some((part) => part === ''))
    throw wrong(`${text === '' ? '""' : text} is no NAMESPACE/NAME of a scaler, such as shop/web`);
  const inNamespace = async (name: string): Promise<ScalerName> => ({
    namespace: options.namespace ?? (await contextNamespace(options, io)),
    name,
  });
  if (second === undefined) return inNamespace(first);
  if (SCALER_TYPES.has(first.toLowerCase())) return inNamespace(second);
  const { namespace } = options;
  if (namespace === undefined || namespace === first) return { namespace: first, name: second };
  if (isWorkloadType(first)) throw wrong(`${text} names a workload${nameTheScaler(second, namespace)}`);
  throw wrong(`${text} is in namespace ${first}, --namespace says ${namespace}: give one of them`);
}

/** `; deployment/web names a workload ...` where a scaler that does not exist was named like that; else empty. */
export function workloadHint({ namespace, name }: ScalerName): string {
  return isWorkloadType(namespace)
    ? `; ${namespace}/${name} names a workload${nameTheScaler(name, 'NAMESPACE')}`
    : '';
}

function isWorkloadType(word: string): boolean {
  return WORKLOAD_TYPES.has(word.toLowerCase());
}

function nameTheScaler(name: string, namespace: string): string {
  return `, this command takes the name of a scaler, such as ${name} -n ${namespace}: promscaler status -o wide shows the target of each`;
}

function wrong(message: string): CommandError {
  return new CommandError(message, 2);
}
