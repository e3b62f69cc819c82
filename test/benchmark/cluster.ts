import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Addresses of the parts of the cluster. */
export interface ClusterAddresses {
  /** The Kubernetes API. */
  readonly url: string;
  /** cAdvisor, for `http_sd_configs`. */
  readonly sdUrl: string;
  /** The requests of all pods, for a scrape. */
  readonly gatewayUrl: string;
}

/** Number of requests of each kind to the API server since its start, as `watch pods`. */
export type RequestCounts = Readonly<Record<string, number>>;

/** The cluster in its process. */
export interface RunningCluster extends ClusterAddresses {
  readonly countRequests: () => Promise<RequestCounts>;
  readonly stop: () => Promise<void>;
}

/** Starts the cluster; resolves when all its pods exist. */
export async function startCluster(): Promise<RunningCluster> {
  const child = fork(fileURLToPath(new URL('cluster-process.js', import.meta.url)));
  const ended = once(child, 'exit').then(() => {
    throw new Error('the cluster has ended unexpectedly');
  });
  ended.catch(() => undefined);
  const next = async (): Promise<unknown> => {
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
    return message;
  };
  // The other end of the channel is our own file.
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
