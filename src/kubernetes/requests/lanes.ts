import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { agentOptions, drain, type TlsMaterial } from '../../http/tls.js';
import { type Clock, sleep } from '../../units/clock.js';
import type { Connection } from '../access/connection.js';
import { tunnelThrough } from './proxy-tunnel.js';

/**
 * A group of requests that share connections and a rate limit, so that a blocked group does not delay the others.
 * Source: reliability.md, K16.
 */
export type Lane = 'lease' | 'write' | 'read' | 'list' | 'watch' | 'events' | 'costs' | 'status' | 'reviews';

interface LaneBudget {
  readonly sockets: number;
  readonly perSecond: number;
  readonly burst: number;
}

/** Connections and rate limit of each lane. Source: reliability.md, K22 and decision 12. */
const BUDGETS: Readonly<Record<Lane, LaneBudget>> = {
  lease: { sockets: 2, perSecond: 1000, burst: 1000 },
  write: { sockets: 10, perSecond: 50, burst: 100 },
  read: { sockets: 10, perSecond: 50, burst: 100 },
  // 200 pages contain 100,000 pods. The pages of one list are requested one after the other.
  list: { sockets: 4, perSecond: 50, burst: 100 },
  // Unlimited, because each watch occupies a connection: beyond a limit, a watch would wait forever.
  watch: { sockets: Number.POSITIVE_INFINITY, perSecond: 20, burst: 40 },
  events: { sockets: 2, perSecond: 20, burst: 40 },
  // A separate lane, because a PATCH of replicas must not wait for a hundred pod deletion costs.
  costs: { sockets: 10, perSecond: 50, burst: 100 },
  // When a data source fails, the conditions of 10,000 Scaler objects change at once, and writing them takes 40 s.
  // While the server is slow or rejects requests, the status writer sends fewer at once.
  status: { sockets: 20, perSecond: 250, burst: 100 },
  // A separate lane, because clients of the HTTP API cause these requests and could use up the limit of `read`.
  reviews: { sockets: 4, perSecond: 50, burst: 200 },
};

const LANES = Object.keys(BUDGETS) as readonly Lane[];

interface LaneAgents {
  readonly http: Readonly<Record<Lane, HttpAgent>>;
  readonly https: Readonly<Record<Lane, HttpsAgent>>;
  readonly drain: () => void;
  readonly destroy: () => void;
}

export function createLaneBudgets(clock: Clock): Readonly<Record<Lane, TokenBucket>> {
  return byLane((lane) => createTokenBucket(clock, BUDGETS[lane]));
}

function createLaneAgents(tls: TlsMaterial | null, proxyUrl: string | null): LaneAgents {
  const http = byLane((lane) => new HttpAgent({ keepAlive: true, maxSockets: BUDGETS[lane].sockets }));
  const https = byLane((lane) => new HttpsAgent({ ...agentOptions(tls), maxSockets: BUDGETS[lane].sockets }));
  if (proxyUrl !== null) {
    for (const agent of Object.values(http)) tunnelThrough(agent, proxyUrl, false);
    for (const agent of Object.values(https)) tunnelThrough(agent, proxyUrl, true);
  }
  const all = (): HttpAgent[] => [...Object.values(http), ...Object.values(https)];
  return {
    http,
    https,
    drain: () => all().forEach(drain),
    destroy: () => {
      for (const agent of all()) agent.destroy();
    },
  };
}

function byLane<T>(make: (lane: Lane) => T): Readonly<Record<Lane, T>> {
  return Object.fromEntries(LANES.map((lane) => [lane, make(lane)])) as Record<Lane, T>;
}

export interface AgentSource {
  readonly current: () => Promise<LaneAgents>;
  readonly close: () => void;
}

/**
 * Returns agents with the current certificates. Agents with replaced certificates are closed after their last request.
 */
export function createAgentSource(connection: Connection): AgentSource {
  let material: TlsMaterial | null = null;
  let agents: LaneAgents | null = null;
  return {
    current: async () => {
      const now = await connection.tls();
      if (agents === null || now !== material) {
        agents?.drain();
        agents = createLaneAgents(now, connection.proxyUrl ?? null);
        material = now;
      }
      return agents;
    },
    close: () => agents?.destroy(),
  };
}

/** A rate limit that allows a burst of requests, and then `perSecond`. */
interface TokenBucket {
  /** Resolves when a request may be sent, in the order of the calls. Also resolves when `signal` is aborted. */
  readonly take: (signal: AbortSignal) => Promise<void>;
}

/** Returns a bucket that allows a whole burst. `perSecond` and `burst` must be above 0. */
function createTokenBucket(
  clock: Clock,
  budget: { readonly perSecond: number; readonly burst: number },
): TokenBucket {
  let tokens = budget.burst;
  let filledAtMs = clock.monotonicMs();

  return {
    take: async (signal) => {
      const now = clock.monotonicMs();
      tokens = Math.min(budget.burst, tokens + ((now - filledAtMs) / 1000) * budget.perSecond);
      filledAtMs = now;
      // A negative number of tokens is a position in the queue: a later caller gets a lower number and waits longer.
      tokens -= 1;
      if (tokens < 0) await sleep(clock, (-tokens / budget.perSecond) * 1000, signal);
    },
  };
}
