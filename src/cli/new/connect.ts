import { type Connection, findConnection } from '../../kubernetes/access/connection.js';
import { ConnectionError } from '../../kubernetes/access/kubeconfig.js';
import { SILENT_LOG } from '../../units/log.js';
import { type ClusterOptions, homeDirectory } from '../reach/cluster-options.js';
import type { CommandIo } from '../output/io.js';
import { pluginRunner } from '../reach/run-plugin.js';

export interface ClusterAccess {
  readonly connection: Connection | null;
  /** Namespace of the kubeconfig context; null: none. */
  readonly namespace: string | null;
  /** Why there is no connection; null if there is one. */
  readonly failure: string | null;
}

/** A plugin that opens a browser takes longer. The document is then written without reading the cluster. */
const PLUGIN_MS = 5000;

/** Reads the kubeconfig and, unless `offline`, runs its credential plugin for at most 5 s. Sends no request. */
export async function findAccess(
  io: CommandIo,
  { kubeconfig, context, url, offline = false }: ClusterOptions & { readonly offline?: boolean },
): Promise<ClusterAccess> {
  try {
    const { env, clock } = io;
    const runPlugin = pluginRunner(io);
    const connection = await findConnection({
      settings: { kubeconfig, context, url },
      prefersKubeconfig: true,
      env,
      home: homeDirectory(io),
      clock,
      log: SILENT_LOG,
      ...(offline
        ? {}
        : { runPlugin: (run) => runPlugin({ ...run, timeoutMs: Math.min(run.timeoutMs, PLUGIN_MS) }) }),
    });
    return { connection, namespace: connection.namespace ?? null, failure: null };
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return { connection: null, namespace: null, failure: error.message };
  }
}
