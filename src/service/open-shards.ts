import type { ServiceConfig } from '../config/resolve-service-config.js';
import { createElection } from '../control/election/election.js';
import { newIdentity } from '../control/election/election-rules.js';
import { soleLeader, type Election, type Member, type Shards } from '../control/election/leadership.js';
import { createMembership } from '../control/sharding/membership.js';
import { createLeaseClient, type LeaseClient, type LeaseSpec, type SeenLease } from '../kubernetes/lease.js';
import { isPeerAddress, createMemberLeases, readAddress } from '../kubernetes/member-leases.js';
import { withReleasePods } from '../kubernetes/release-pods.js';
import type { Transport } from '../kubernetes/requests/transport.js';
import type { StateStore } from '../kubernetes/state/state-store.js';
import { ALL_BUCKETS, bucketOf } from '../kubernetes/state/state-key.js';
import type { Fleet } from '../server/fleet/peer-check.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Clock } from '../units/clock.js';
import type { Log } from '../units/log.js';
import { LEASE_NAME, type OwnObjects } from './own-objects.js';
import { objectIn, textsIn } from '../kubernetes/api/json.js';

interface ShardOptions extends OwnObjects {
  readonly config: ServiceConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly instance: string;
}

interface ShardParts {
  readonly transport: Transport;
  readonly metrics: Metrics;
  readonly isIdle: () => boolean;
  /** Returns the state store. It is called only after all parts exist. */
  readonly state: () => Pick<StateStore, 'reloadBucket' | 'flushBucket'>;
  readonly onServed: () => void;
  /** Returns the URL at which other replicas reach the HTTP server of this process; null: there is no server. */
  readonly address: () => string | null;
}

/**
 * Returns which scalers this process decides: with sharding, the scalers in its buckets; otherwise all while it is the
 * leader.
 */
export function openShards(options: ShardOptions, parts: ShardParts): Shards {
  const { config, clock, log, namespace, instance } = options;
  const { transport, metrics, state } = parts;
  if (!config.sharding.enabled) return openElection(options, parts);
  const times = config.leaderElection;
  const deadlineMs = (times.renewDeadlineSeconds * 1000) / 2;
  metrics.setLeader(false);
  const place = { transport, namespace, name: LEASE_NAME };
  const leases = createMemberLeases({ ...place, deadlineMs });
  const { podSelector: selector } = options;
  const given = { transport, namespace, ownPod: instance, clock, log, deadlineMs: deadlineMs / 2 };
  const shards = createMembership({
    client: selector === undefined ? leases : withReleasePods(leases, { ...given, selector }),
    leaderLease: createLeaseClient({ ...place, deadlineMs }),
    clock,
    log,
    times,
    identity: newIdentity(instance, clock),
    address: parts.address,
    loadState: (bucket) => state().reloadBucket(bucket),
    flushState: (bucket) => state().flushBucket(bucket),
    onServed: () => {
      // As without sharding, exactly one replica reports that it is the leader: the owner of bucket 0.
      metrics.setLeader(shards.serves(0));
      parts.onServed();
    },
  });
  return shards;
}

/** Returns the election of the process that decides all scalers. */
function openElection(
  { config, electsLeader, instance, namespace, clock, log }: ShardOptions,
  { transport, metrics, isIdle, address }: ShardParts,
): Shards {
  metrics.setLeader(!electsLeader);
  const identity = newIdentity(instance, clock);
  if (!electsLeader) return undivided(soleLeader(identity), () => null);
  const times = config.leaderElection;
  const deadlineMs = (times.renewDeadlineSeconds * 1000) / 2;
  const lease = createLeaseClient({ transport, namespace, name: LEASE_NAME, deadlineMs });
  const { client, addressOf } = withLeaderAddress(lease, { identity, address });
  const onChange = metrics.setLeader;
  return undivided(createElection({ client, clock, log, times, identity, isIdle, onChange }), addressOf);
}

/**
 * Adapts an election to the interface of shards: the leader decides all scalers, and a standby knows only one other
 * replica, the leader. `addressOf` returns the URL of a leader.
 */
function undivided(election: Election, addressOf: (identity: string) => string | null): Shards {
  return {
    ...election,
    serves: () => true,
    leadershipOf: () => election,
    track: (_bucket, work) => work(),
    others: () => {
      const identity = election.leader();
      return identity === null || election.isLeading()
        ? []
        : [{ identity, address: addressOf(identity), buckets: ALL_BUCKETS }];
    },
  };
}

/** Returns the other replicas. The HTTP server of this replica forwards requests to them. */
export function fleetOf(
  shards: Shards,
  { keys, address }: Pick<Fleet, 'keys'> & Pick<ShardParts, 'address'>,
): Fleet {
  const others = (): readonly Member[] =>
    shards.others().map((member) => {
      const isBelieved = member.address !== null && isPeerAddress(member.address, address());
      return isBelieved ? member : { ...member, address: null };
    });
  const ownerOf: Fleet['ownerOf'] = (key) =>
    others().find(({ buckets }) => buckets.includes(bucketOfKey(key))) ?? null;
  return {
    identity: shards.identity,
    // Without sharding, even a standby serves all buckets. It therefore owns a scaler only if it leads, or if no leader
    // is known.
    isOwn: (key) => shards.serves(bucketOfKey(key)) && (shards.isLeading() || ownerOf(key) === null),
    ownerOf,
    peers: others,
    keys,
  };
}

/** Returns the bucket of a scaler by its key, which is `NAMESPACE/NAME`. */
export function bucketOfKey(key: string): number {
  const [namespace = '', name = ''] = key.split('/');
  return bucketOf({ namespace, name });
}

/**
 * Annotation of the Lease of leader election: `IDENTITY URL`, the identity of the leader and the URL of its HTTP
 * server.
 */
const ANNOTATION = 'promscaler.dev/leader-address';

interface AddressedLease {
  readonly client: LeaseClient;
  /** Returns the URL of the HTTP server of a replica as it was last read; null: unknown. */
  readonly addressOf: (identity: string) => string | null;
}

/**
 * Adds the URL of the leader's HTTP server to its Lease, where standbys read it. The identity is added, too, so that
 * the URL of a previous leader is not mistaken for the URL of the current leader.
 */
export function withLeaderAddress(
  client: LeaseClient,
  { identity, address }: { readonly identity: string; readonly address: () => string | null },
): AddressedLease {
  let known: { readonly identity: string; readonly address: string } | null = null;
  const note = (seen: SeenLease): SeenLease => {
    known = readLeader(annotationsOf(seen)[ANNOTATION] ?? '');
    return seen;
  };
  /** Returns the annotations to write with a spec; empty if this replica is not the holder in the spec. */
  const ownAnnotations = ({ holderIdentity }: LeaseSpec): Readonly<Record<string, string>> => {
    const own = address();
    return holderIdentity === identity && own !== null ? { [ANNOTATION]: `${identity} ${own}` } : {};
  };
  const claimed = (seen: SeenLease, spec: LeaseSpec): SeenLease => {
    const annotations = { ...annotationsOf(seen), ...ownAnnotations(spec) };
    return {
      ...seen,
      object: { ...seen.object, metadata: { ...objectIn(seen.object, 'metadata'), annotations } },
    };
  };
  return {
    client: {
      name: client.name,
      read: async (signal) => {
        const seen = await client.read(signal);
        return seen === null ? null : note(seen);
      },
      create: async (spec, signal) => note(await client.create(spec, signal, ownAnnotations(spec))),
      update: async (seen, spec, signal) => note(await client.update(claimed(seen, spec), spec, signal)),
    },
    addressOf: (wanted) => (known?.identity === wanted ? known.address : null),
  };
}

function annotationsOf({ object }: SeenLease): Readonly<Record<string, string>> {
  return textsIn(objectIn(object, 'metadata'), 'annotations');
}

const MOST_CHARACTERS = 500;

function readLeader(text: string): { readonly identity: string; readonly address: string } | null {
  const [identity, url, ...rest] = text.length > MOST_CHARACTERS ? [] : text.split(' ');
  const address = readAddress(url ?? null);
  return identity === undefined || address === null || rest.length > 0 ? null : { identity, address };
}
