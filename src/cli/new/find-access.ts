import { type Connection, findConnection } from '../../kubernetes/access/connection.js';
import { ConnectionError } from '../../kubernetes/access/kubeconfig.js';
import { SILENT_LOG } from '../../units/log.js';
import { homeFolder } from '../home-folder.js';
import type { CommandIo } from '../io.js';
import type { ClusterOptions } from '../reach/cluster-options.js';
import { pluginRunner } from '../running/run-plugin.js';

/** The way to the cluster that kubectl would take, or why there is none. */
export interface ClusterAccess {
  readonly connection: Connection | null;
  /** The kubeconfig's; null where it names none. */
  readonly namespace: string | null;
  /** Null where there is a connection. */
  readonly failure: string | null;
}

/** A plugin that signs in by a browser takes longer: then the document is written without the cluster. */
const PLUGIN_MS = 5000;

/**
 * Reads files and, unless `offline`, starts the credential plugin of a kubeconfig, for 5 s at most; no server is asked.
 * Never throws for what is wrong with any of them.
 */
export async function findAccess(
  io: CommandIo,
  { kubeconfig, context, url, offline = false }: ClusterOptions & { readonly offline?: boolean },
): Promise<ClusterAccess> {
  try {
    const { env, clock } = io;
    const runPlugin = pluginRunner(io);
    const connection = await findConnection({
      settings: { kubeconfig, context, url },
      env,
      home: homeFolder(io),
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
