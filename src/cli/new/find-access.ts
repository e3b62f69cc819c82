import { homedir } from 'node:os';
import { type Connection, findConnection } from '../../kubernetes/connection.js';
import { ConnectionError } from '../../kubernetes/kubeconfig.js';
import { SILENT } from '../../kubernetes/log.js';
import type { CommandIo } from '../io.js';

/** The way to the cluster that kubectl would take, or why there is none. */
export interface ClusterAccess {
  readonly connection: Connection | null;
  /** The kubeconfig's; null where it names none. */
  readonly namespace: string | null;
  /** Null where there is a connection. */
  readonly failure: string | null;
}

/** Reads files only; no server is asked. Never throws for what is wrong with them. */
export async function findAccess(io: CommandIo): Promise<ClusterAccess> {
  try {
    const { env, clock } = io;
    const connection = await findConnection({ settings: {}, env, home: homedir(), clock, log: SILENT });
    return { connection, namespace: connection.namespace ?? null, failure: null };
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return { connection: null, namespace: null, failure: error.message };
  }
}
