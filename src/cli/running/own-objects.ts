import type { ServiceConfig } from '../../config/resolve-service-config.js';
import type { Connection } from '../../kubernetes/access/connection.js';
import type { CommandIo } from '../io.js';

/** The Lease that replicas of the service compete for, in the service's own namespace. */
export const LEASE_NAME = 'promscaler';

/** What the service has for itself in the cluster. */
export interface OwnObjects {
  /** That of its Lease and its state. */
  readonly namespace: string;
  /** Whether a Lease decides who works; without it this process does. */
  readonly electsLeader: boolean;
  /** Whether the state of scalers outlives the process, in ConfigMaps. */
  readonly keepsState: boolean;
}

/** What the service has for itself by this config, over this connection. Source: contract.md, section 3. */
export function ownObjects(
  config: ServiceConfig,
  env: CommandIo['env'],
  connection: Pick<Connection, 'namespace' | 'isInCluster'>,
): OwnObjects {
  return {
    namespace: ownNamespace(env, connection),
    // In a cluster a second replica is never far: a rolling update runs two.
    electsLeader: config.leaderElection.enabled ?? (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '',
    keepsState: config.state.enabled ?? connection.isInCluster === true,
  };
}

/** The namespace of the service itself: that of its Lease and its state. */
export function ownNamespace(env: CommandIo['env'], { namespace }: Pick<Connection, 'namespace'>): string {
  return [env['POD_NAMESPACE'], namespace].find((name) => name !== undefined && name !== '') ?? 'default';
}
