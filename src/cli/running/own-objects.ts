import type { ServiceConfig } from '../../config/resolve-service-config.js';
import type { Connection } from '../../kubernetes/access/connection.js';
import type { CommandIo } from '../io.js';

/** The Lease that replicas of the service compete for, in the service's own namespace. */
export const LEASE_NAME = 'promscaler';

/** Objects of the service itself in the cluster. */
export interface OwnObjects {
  /** Namespace of its Lease and its state. */
  readonly namespace: string;
  /** Whether a Lease elects the leader; otherwise this process always leads. */
  readonly electsLeader: boolean;
  /** Whether the state of scalers is persisted in ConfigMaps. */
  readonly keepsState: boolean;
}

/** Returns the objects of the service by config and connection. Source: contract.md, section 3. */
export function ownObjects(
  config: ServiceConfig,
  env: CommandIo['env'],
  connection: Pick<Connection, 'namespace' | 'isInCluster'>,
): OwnObjects {
  return {
    namespace: ownNamespace(env, connection),
    // In a cluster, elects by default: a rolling update runs two replicas.
    electsLeader:
      config.leaderElection.enabled ??
      (config.sharding.enabled || (env['KUBERNETES_SERVICE_HOST'] ?? '') !== ''),
    keepsState: config.state.enabled ?? (config.sharding.enabled || connection.isInCluster === true),
  };
}

/** Returns the namespace of the service itself. */
export function ownNamespace(env: CommandIo['env'], { namespace }: Pick<Connection, 'namespace'>): string {
  return [env['POD_NAMESPACE'], namespace].find((name) => name !== undefined && name !== '') ?? 'default';
}
