import type { ServiceConfig } from '../config/resolve-service-config.js';
import type { Connection } from '../kubernetes/access/connection.js';

/** The name of the Lease, which is in the namespace of the service. */
export const LEASE_NAME = 'promscaler';

type Environment = Readonly<Record<string, string | undefined>>;

export interface OwnObjects {
  readonly namespace: string;
  /** Whether replicas elect a leader. False: this process always leads. */
  readonly electsLeader: boolean;
  readonly keepsState: boolean;
  /** Label selector of the pods of the release, by which members are checked; unset: members are not checked. */
  readonly podSelector?: string | undefined;
}

/** Returns the objects that the service needs for itself. Source: contract.md, section 3. */
export function ownObjects(
  config: ServiceConfig,
  env: Environment,
  connection: Pick<Connection, 'namespace' | 'isInCluster'>,
): OwnObjects {
  return {
    namespace: ownNamespace(env, connection),
    // In a cluster, leader election is on by default, because two replicas run at once during a rolling update.
    electsLeader:
      config.leaderElection.enabled ??
      (config.sharding.enabled || (env['KUBERNETES_SERVICE_HOST'] ?? '') !== ''),
    podSelector: env['POD_SELECTOR'],
    keepsState: config.state.enabled ?? (config.sharding.enabled || connection.isInCluster === true),
  };
}

export function ownNamespace(env: Environment, { namespace }: Pick<Connection, 'namespace'>): string {
  return [env['POD_NAMESPACE'], namespace].find((name) => name !== undefined && name !== '') ?? 'default';
}
