import type { Request, RequestHandler, Response } from 'express';
import type { EventFeed } from '../telemetry/event-feed.js';
import type { Clock } from '../units/clock.js';
import { identityOf, viewerOf, type Identity } from './access/viewer.js';
import { createChannel, type Channel } from './events/channel.js';
import { createFleetFeed, type FleetFeed } from './events/fleet-feed.js';
import { type Fleet, isForwarded } from './fleet/peer-check.js';
import { refuse } from './pacing/paced.js';

/**
 * The server-sent events of `/api/v1/events`: changes of replicas, failures, recommendations and reloads. They are not
 * Kubernetes Events.
 */
export interface EventStreams {
  readonly handle: RequestHandler;
  readonly close: () => void;
  readonly size: () => number;
}

interface EventStreamOptions {
  readonly feed: EventFeed;
  readonly clock: Clock;
  /** The other replicas, whose events clients get, too. Default: clients get only the events of this replica. */
  readonly fleet?: Fleet | undefined;
  /** Called with an internal error while events of other replicas are read. */
  readonly onFault?: (error: unknown) => void;
  /** Maximum number of streams at a time; default 200. */
  readonly most?: number;
  /**
   * Maximum age of a stream in milliseconds. The client then reconnects and continues after its last event, and its
   * permissions are checked again. Default: no limit.
   */
  readonly maxAgeMs?: number | undefined;
}

const HEARTBEAT_MS = 15_000;
/**
 * A client with more unsent bytes is disconnected. Bytes in socket buffers of the kernel are not included. The events
 * of a round with 1,000 changes have 200 KB; their memory is shared by all clients.
 */
const MAX_WAITING_BYTES = 512 * 1024;
/**
 * Maximum number of different permission sets whose clients get the events of all replicas: each set needs a connection
 * to every other replica.
 */
const MOST_FLEET_FEEDS = 32;

interface Stream {
  readonly shared: SharedChannel;
  readonly openedMs: number;
  readonly identity: Identity;
}

/** The channel that all clients with the same permissions share. */
interface SharedChannel {
  readonly key: string;
  readonly channel: Channel;
  /** The events of all replicas; null: clients get only the events of this replica. */
  readonly fleetFeed: FleetFeed | null;
}

/** Creates the streams. A single timer sends heartbeats to all streams; it runs only while there is a stream. */
export function createEventStreams(options: EventStreamOptions): EventStreams {
  const { feed, clock, fleet, most = 200, maxAgeMs = Number.POSITIVE_INFINITY } = options;
  const { onFault = () => undefined } = options;
  const open = new Map<Response, Stream>();
  const sharedChannels = new Map<string, SharedChannel>();
  let stopHeartbeat: (() => void) | null = null;
  let isClosed = false;

  const beat = (): void => {
    stopHeartbeat = null;
    for (const { fleetFeed } of sharedChannels.values()) fleetFeed?.refresh();
    const endMs = clock.monotonicMs() - maxAgeMs;
    for (const [response, { openedMs }] of [...open]) {
      if (openedMs <= endMs) end(response);
      else send(response, HEARTBEAT);
    }
    startHeartbeat();
  };
  const startHeartbeat = (): void => {
    if (open.size > 0 && stopHeartbeat === null) stopHeartbeat = clock.after(HEARTBEAT_MS, beat);
  };
  const drop = (response: Response): void => {
    const stream = open.get(response);
    if (stream === undefined) return;
    open.delete(response);
    const { key, channel, fleetFeed } = stream.shared;
    channel.drop(response);
    if (![...open.values()].some(({ shared }) => shared === stream.shared)) {
      fleetFeed?.close();
      sharedChannels.delete(key);
    }
    if (open.size > 0) return;
    stopHeartbeat?.();
    stopHeartbeat = null;
  };
  const end = (response: Response): void => {
    drop(response);
    response.end();
  };
  const send = (response: Response, bytes: Buffer): void => {
    response.write(bytes);
    if (response.writableLength <= MAX_WAITING_BYTES) return;
    drop(response);
    response.destroy();
  };

  /** Returns the channel for a request; null: there are too many different permission sets. */
  const sharedChannelOf = (request: Request): SharedChannel | null => {
    const viewer = viewerOf(request);
    const isOwn = fleet === undefined || isForwarded(request);
    const key = `${isOwn ? 'own' : 'all'} ${viewer.scope}`;
    const known = sharedChannels.get(key);
    if (known !== undefined) return known;
    const feeds = [...sharedChannels.values()].filter(({ fleetFeed }) => fleetFeed !== null);
    if (!isOwn && feeds.length >= MOST_FLEET_FEEDS && fleet.peers().length > 0) return null;
    const lastId = request.get('Last-Event-ID') ?? null;
    const own = identityOf(request);
    const identity = (): Identity =>
      [...open.values()].findLast(({ shared }) => shared.key === key)?.identity ?? own;
    const fleetFeed = isOwn ? null : createFleetFeed({ own: feed, fleet, clock, lastId, identity, onFault });
    const channel = createChannel({ source: fleetFeed ?? feed, viewer, clock, send });
    const shared = { key, channel, fleetFeed };
    sharedChannels.set(key, shared);
    return shared;
  };

  return {
    handle: (request, response) => {
      if (isClosed) {
        refuse(response, 'the service is stopping', RETRY_SECONDS);
        return;
      }
      if (open.size >= most) {
        refuse(response, `there are already ${most} event streams, the maximum`, RETRY_SECONDS);
        return;
      }
      const isHead = request.method === 'HEAD';
      const shared = isHead ? null : sharedChannelOf(request);
      if (shared === null && !isHead) {
        refuse(response, TOO_MANY, RETRY_SECONDS);
        return;
      }
      response.set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }).status(200);
      if (shared === null) return void response.end();
      response.flushHeaders();
      response.on('close', () => drop(response));
      open.set(response, { shared, openedMs: clock.monotonicMs(), identity: identityOf(request) });
      startHeartbeat();
      const lastId = request.get('Last-Event-ID') ?? null;
      const begin = (): void => {
        if (open.has(response)) shared.channel.begin(response, lastId);
      };
      if (shared.fleetFeed === null) begin();
      else void shared.fleetFeed.ready().then(begin);
    },
    close: () => {
      isClosed = true;
      for (const { channel } of sharedChannels.values()) channel.flush();
      for (const response of [...open.keys()]) end(response);
    },
    size: () => open.size,
  };
}

const RETRY_SECONDS = 5;
const HEARTBEAT = Buffer.from(': heartbeat\n\n');
const TOO_MANY = 'too many clients with different permissions have event streams: retry later';
