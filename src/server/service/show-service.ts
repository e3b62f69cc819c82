import type { Request, RequestHandler } from 'express';
import { takeTurns } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import { credentialsOf } from '../access/credentials.js';
import { viewerOf } from '../access/viewer.js';
import type { AskPeer, PeerAnswer } from '../fleet/ask-peer.js';
import { isForwarded } from '../fleet/fleet-pages.js';
import type { Fleet, Peer } from '../fleet/fleet.js';
import type { ScalerPageParts } from '../pages/scaler-pages.js';
import { serviceStatusSchema } from '../schemas/dashboard-schemas.js';
import { SLICE_MS } from '../turns/paced.js';
import type { Paced } from '../turns/paced.js';
import { refusing } from '../turns/refuse.js';
import { mergeServices, viewService } from './view-service.js';
import type { ServiceFacts, ServiceView } from './view-service.js';

export interface ServicePageParts {
  readonly api: ScalerPageParts;
  readonly facts: ServiceFacts;
  readonly fleet?: Fleet | undefined;
  readonly ask: AskPeer;
  readonly clock: Clock;
  /** Sends a response when it is its turn. */
  readonly inTurn: (page: RequestHandler) => RequestHandler;
  readonly paced: Paced;
}

/** Of another replica: 100 problems and conflicts with long messages have less. */
const MOST_BYTES = 1024 * 1024;

/** Serves the state of the service; with sharding, that of all replicas. */
export function showService(parts: ServicePageParts): RequestHandler {
  const { api, facts, fleet, ask, clock, inTurn, paced } = parts;
  const viewOwn = (request: Request): Promise<ServiceView> =>
    paced.run(() => {
      const takeTurn = takeTurns(clock, SLICE_MS);
      return viewService(api, facts, { now: clock.now(), viewer: viewerOf(request), takeTurn });
    });
  const viewAll = async (request: Request, peers: readonly Peer[]): Promise<ServiceView> => {
    const answers = peers.map(async (peer) => {
      const answer = await ask(peer, '/api/v1/service', credentialsOf(request));
      return [peer.identity, readService(answer)] as const;
    });
    const own = await viewOwn(request);
    const others = new Map(await Promise.all(answers));
    // A standby queries nothing and has no rounds.
    const [leader = null] = api.isLeading() ? [] : others.values();
    const { dataSources, rounds } = leader ?? own;
    return mergeServices({ ...own, dataSources, rounds }, others);
  };
  return (request, response, next) => {
    const peers = isForwarded(request) ? [] : (fleet?.peers() ?? []);
    const viewing = peers.length === 0 ? viewOwn(request) : viewAll(request, peers);
    viewing
      .then((view) => inTurn(() => void response.json(view))(request, response, next))
      .catch(refusing(response, next));
  };
}

function readService(answer: PeerAnswer | null): ServiceView | null {
  if (answer?.status !== 200 || answer.body.length > MOST_BYTES) return null;
  try {
    return serviceStatusSchema.safeParse(JSON.parse(answer.body.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}
