import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Where the parts of the cluster listen. */
export interface ClusterAddresses {
  /** Of the Kubernetes API. */
  readonly url: string;
  /** For `http_sd_configs`: cAdvisor. */
  readonly sdUrl: string;
  /** The requests of all pods, to be scraped. */
  readonly gatewayUrl: string;
}

/** How often each thing was asked of the API server since its start, as `watch pods`. */
export type RequestCounts = Readonly<Record<string, number>>;

/** The cluster in its process. */
export interface RunningCluster extends ClusterAddresses {
  readonly countRequests: () => Promise<RequestCounts>;
  readonly stop: () => Promise<void>;
}

/** Starts the cluster; resolves when all its pods are there. */
export async function startCluster(): Promise<RunningCluster> {
  const child = fork(fileURLToPath(new URL('cluster-process.js', import.meta.url)));
  const ended = once(child, 'exit').then(() => {
    throw new Error('the cluster has ended by itself');
  });
  ended.catch(() => undefined);
  const next = async (): Promise<unknown> => {
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
    return message;
  };
  // The other side of the channel is our own file.
  const addresses = (await next()) as ClusterAddresses;
  return {
    ...addresses,
    countRequests: async () => {
      child.send('count');
      return (await next()) as RequestCounts;
    },
    stop: async () => {
      child.disconnect();
      await ended.catch(() => undefined);
    },
  };
}
