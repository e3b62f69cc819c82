import type { EventFeed } from '../../telemetry/event-feed.js';
import { sleep, type Clock } from '../../units/clock.js';
import type { Identity } from '../access/viewer.js';
import type { Fleet } from '../fleet/peer-check.js';
import { type EventSource, type StreamedEvent, readPositions, writePositions } from './channel.js';
import { createRelay, type Relay } from './relay.js';
import { replicaHash } from '../overview/parts.js';

/** The events of all replicas, for clients that have the same permissions. */
export interface FleetFeed extends EventSource {
  /** Resolves when every replica has answered or failed, but after one second at the latest. */
  readonly ready: () => Promise<void>;
  /** Connects to new replicas, and disconnects from those that do not exist anymore. */
  readonly refresh: () => void;
  readonly close: () => void;
}

interface FleetFeedOptions {
  readonly own: EventFeed;
  readonly fleet: Fleet;
  readonly clock: Clock;
  /** The ID of the last event that the first client has received; null: the client wants only new events. */
  readonly lastId: string | null;
  /**
   * Returns the identity of a connected client, for requests to other replicas. All clients of a feed have the same
   * permissions.
   */
  readonly identity: () => Identity;
  readonly onFault: (error: unknown) => void;
}

const READY_MS = 1000;
/** Gaps within this time cause a single gap event. */
const GAP_MS = 1000;

/**
 * Merges the events of this replica and of the other replicas, over one connection to each of them. The ID of an event
 * contains a position in the events of every replica, so that a client can continue at another replica. If events of a
 * replica may be missing, the feed sends a gap event.
 */
export function createFleetFeed(options: FleetFeedOptions): FleetFeed {
  const { own, fleet, clock } = options;
  const start = readPositions(options.lastId ?? '');
  const ownHash = replicaHash(fleet.identity);
  const relays = new Map<string, { readonly hash: string; readonly relay: Relay }>();
  const listeners = new Set<(event: StreamedEvent) => void>();
  /** Number of streams that have begun. Their clients have an ID, so a gap must be announced to them. */
  let begun = 0;
  let lastGapMs = -Infinity;
  let cancelGap: (() => void) | null = null;

  const places = (): Map<string, string> => {
    const known = new Map([[ownHash, own.lastId()]]);
    for (const { hash, relay } of relays.values()) {
      const id = relay.lastId();
      if (id !== null) known.set(hash, id);
    }
    return known;
  };
  const publish = (event: StreamedEvent['event']): void => {
    if (listeners.size === 0) return;
    const numbered = { id: writePositions(places()), event };
    for (const listener of [...listeners]) listener(numbered);
  };
  const announceGap = (): void => {
    if (begun === 0 || cancelGap !== null) return;
    const waitMs = Math.max(0, lastGapMs + GAP_MS - clock.monotonicMs());
    cancelGap = clock.after(waitMs, () => {
      cancelGap = null;
      lastGapMs = clock.monotonicMs();
      publish({ type: 'gap', at: clock.now() });
    });
  };
  const unsubscribe = own.subscribe(({ event }) => publish(event));

  const refresh = (): void => {
    const peers = new Map(fleet.peers().map((peer) => [peer.identity, peer]));
    for (const [identity, { relay }] of relays) {
      if (peers.has(identity)) continue;
      relays.delete(identity);
      relay.close();
      if (!relay.isOpen()) announceGap();
    }
    for (const [identity, peer] of peers) {
      if (peer.address === null || relays.has(identity)) continue;
      const hash = replicaHash(identity);
      const relay = createRelay({
        peer,
        startId: begun === 0 ? (start?.get(hash) ?? null) : null,
        clock,
        keys: fleet.keys,
        identity: options.identity,
        onEvent: ({ event }) => publish(event),
        onConnected: (isResumed) => {
          if (begun > 1 || !isResumed) announceGap();
        },
        onGap: announceGap,
        onFault: options.onFault,
      });
      relays.set(identity, { hash, relay });
    }
  };

  const since = (id: string): readonly StreamedEvent[] | null => {
    const positions = readPositions(id);
    if (positions === null) return null;
    const sources = [
      { hash: ownHash, feed: own },
      ...[...relays.values()].map(({ hash, relay }) => ({ hash, feed: relay })),
    ];
    const at = new Map<string, string>();
    const missed: StreamedEvent[] = [];
    for (const { hash, feed } of sources) {
      const known = positions.get(hash);
      // A replica that has not answered yet is skipped: its relay sends the missing events later, or a gap event.
      if (feed.lastId() === null) continue;
      const events = known === undefined ? null : feed.since(known);
      if (known === undefined || events === null) return null;
      at.set(hash, known);
    }
    for (const { hash, feed } of sources)
      for (const { id: position, event } of feed.since(at.get(hash) ?? '') ?? []) {
        at.set(hash, position);
        missed.push({ id: writePositions(at), event });
      }
    return missed;
  };

  refresh();
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    since: (id) => {
      begun += 1;
      return since(id);
    },
    lastId: () => {
      begun += 1;
      return writePositions(places());
    },
    ready: () => {
      const tried = Promise.all([...relays.values()].map(({ relay }) => relay.tried));
      const done = new AbortController();
      return Promise.race([tried, sleep(clock, READY_MS, done.signal)]).then(() => done.abort());
    },
    refresh,
    close: () => {
      unsubscribe();
      cancelGap?.();
      for (const { relay } of relays.values()) relay.close();
    },
  };
}
