import { podNamespace, usualKubeconfigs } from '../../kubernetes/access/connection.js';
import { ConnectionError, readContextNames, readKubeconfig } from '../../kubernetes/access/kubeconfig.js';
import { homeDirectory } from '../input/home-directory.js';
import type { CommandIo } from '../output/io.js';
import type { ClusterOptions } from './cluster-options.js';

/**
 * Returns the namespace of the kubeconfig context; without a kubeconfig, the namespace of the pod; otherwise `default`.
 * The cluster is found in the same order. Sends no request and runs no credential plugin.
 */
export async function contextNamespace(
  { kubeconfig, context }: Pick<ClusterOptions, 'kubeconfig' | 'context'>,
  io: Pick<CommandIo, 'env'>,
): Promise<string> {
  try {
    const access = await readKubeconfig(
      kubeconfig === undefined ? usualPaths(io) : [kubeconfig],
      context ?? null,
    );
    if (access !== null) return access.namespace ?? DEFAULT_NAMESPACE;
    return (await podNamespace(io)) ?? DEFAULT_NAMESPACE;
  } catch (error) {
    // Commands that connect to the cluster report this error.
    if (error instanceof ConnectionError) return DEFAULT_NAMESPACE;
    throw error;
  }
}

/** Returns the contexts of the kubeconfig. Throws `ConnectionError` if it is invalid. */
export function contextNames(
  { kubeconfig }: Pick<ClusterOptions, 'kubeconfig'>,
  io: Pick<CommandIo, 'env'>,
): Promise<readonly string[]> {
  return readContextNames(kubeconfig === undefined ? usualPaths(io) : [kubeconfig]);
}

const DEFAULT_NAMESPACE = 'default';

function usualPaths(io: Pick<CommandIo, 'env'>): readonly string[] {
  return usualKubeconfigs({ env: io.env, home: homeDirectory(io) });
}
