import { delimiter, join } from 'node:path';
import { ConnectionError, readKubeconfig } from '../../kubernetes/access/kubeconfig.js';
import { homeFolder } from '../home-folder.js';
import type { CommandIo } from '../io.js';
import type { ClusterOptions } from './cluster-options.js';

/** The namespace of the kubeconfig's context; `default` where there is none. Asks no server and starts no plugin. */
export async function contextNamespace(
  { kubeconfig, context }: Pick<ClusterOptions, 'kubeconfig' | 'context'>,
  io: Pick<CommandIo, 'env'>,
): Promise<string> {
  try {
    const access = await readKubeconfig(
      kubeconfig === undefined ? usualPaths(io) : [kubeconfig],
      context ?? null,
    );
    return access?.namespace ?? DEFAULT_NAMESPACE;
  } catch (error) {
    // What is wrong with the file is said by whoever needs the cluster.
    if (error instanceof ConnectionError) return DEFAULT_NAMESPACE;
    throw error;
  }
}

const DEFAULT_NAMESPACE = 'default';

function usualPaths(io: Pick<CommandIo, 'env'>): readonly string[] {
  const listed = (io.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  const home = homeFolder(io);
  if (listed.length > 0) return listed;
  return home === null ? [] : [join(home, '.kube', 'config')];
}
