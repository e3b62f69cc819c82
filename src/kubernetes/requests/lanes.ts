import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

import { agentOptions, drain, type TlsMaterial } from '../../http/tls.js';
import type { Clock } from '../../units/clock.js';
import type { Connection } from '../access/connection.js';
import { tunnelThrough } from './proxy-tunnel.js';
import { createTokenBucket, type TokenBucket } from './token-bucket.js';

/**
 * Requests of a lane share connections and a rate limit. A blocked lane does not delay other lanes. Source:
 * reliability.md, K16.
 */
export type Lane = 'lease' | 'write' | 'read' | 'list' | 'watch' | 'events' | 'costs' | 'status' | 'reviews';

interface LaneBudget {
  readonly sockets: number;
  readonly perSecond: number;
  readonly burst: number;
}

/** Source: reliability.md, K22 and decision 12. */
const BUDGETS: Readonly<Record<Lane, LaneBudget>> = {
  lease: { sockets: 2, perSecond: 1000, burst: 1000 },
  write: { sockets: 10, perSecond: 50, burst: 100 },
  read: { sockets: 10, perSecond: 50, burst: 100 },
  // 200 pages are 100,000 pods; one after the other, and at most as many at once as there are sockets.
  list: { sockets: 4, perSecond: 50, burst: 100 },
  // Each watch occupies a connection, so with a limit the last watch would wait forever.
  watch: { sockets: Number.POSITIVE_INFINITY, perSecond: 20, burst: 40 },
  events: { sockets: 2, perSecond: 20, burst: 40 },
  // Separate from `write`, so that a PATCH of replicas does not wait behind a hundred pod deletion costs.
  costs: { sockets: 10, perSecond: 50, burst: 100 },
  // When a data source fails, the conditions of 10,000 Scaler objects change at once: 40 s. The writer of the status sends
  // fewer requests at once while the server is slow or rejects them.
  status: { sockets: 20, perSecond: 250, burst: 100 },
  // Clients of the HTTP API cause these, so they have a limit of their own.
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

/** Returns agents with the current certificates. Agents with replaced certificates close after their last request. */
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
