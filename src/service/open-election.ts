import type { ServiceConfig } from '../config/resolve-service-config.js';
import { createElection } from '../control/election/election.js';
import { newIdentity } from '../control/election/election-rules.js';
import { soleLeader } from '../control/election/leadership.js';
import type { Election } from '../control/election/leadership.js';
import { createLeaseClient } from '../kubernetes/lease.js';
import type { Transport } from '../kubernetes/requests/transport.js';
import type { Log } from '../units/log.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Clock } from '../units/clock.js';
import { LEASE_NAME } from './own-objects.js';
import { withLeaderAddress } from './leader-address.js';
import type { OwnObjects } from './own-objects.js';

export interface ElectionOptions extends OwnObjects {
  readonly config: ServiceConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly instance: string;
}

/** With the address of the HTTP server of the leader, as far as this replica knows; null: unknown. */
interface AddressedElection extends Election {
  readonly leaderAddress: () => string | null;
}

export function openElection(
  { config, electsLeader, instance, namespace, clock, log }: ElectionOptions,
  parts: {
    readonly transport: Transport;
    readonly metrics: Metrics;
    readonly isIdle: () => boolean;
    /** Of this process, for standbys; null: none. */
    readonly address: () => string | null;
  },
): AddressedElection {
  const { transport, metrics, isIdle, address } = parts;
  metrics.setLeader(!electsLeader);
  const identity = newIdentity(instance, clock);
  if (!electsLeader) return { ...soleLeader(identity), leaderAddress: () => null };
  const times = config.leaderElection;
  const deadlineMs = (times.renewDeadlineSeconds * 1000) / 2;
  const lease = createLeaseClient({ transport, namespace, name: LEASE_NAME, deadlineMs });
  const { client, addressOf } = withLeaderAddress(lease, { identity, address });
  const election = createElection({
    client,
    clock,
    log,
    times,
    identity,
    isIdle,
    onChange: metrics.setLeader,
  });
  return { ...election, leaderAddress: () => addressOf(election.leader() ?? '') };
}
