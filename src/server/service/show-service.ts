import type { Request, RequestHandler } from 'express';
import type { Clock } from '../../units/clock.js';
import { createSemaphore } from '../../units/semaphore.js';
import { credentialsOf } from '../access/credentials.js';
import { viewerOf } from '../access/viewer.js';
import type { AskPeer, PeerAnswer } from '../fleet/ask-peer.js';
import { isForwarded } from '../fleet/fleet-pages.js';
import type { Fleet } from '../fleet/fleet.js';
import type { ScalerPageParts } from '../pages/scaler-pages.js';
import { serviceStatusSchema } from '../schemas/dashboard-schemas.js';
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
}

const MAX_MERGES = 2;

/** Serves the state of the service; with sharding, that of all replicas. */
export function showService({ api, facts, fleet, ask, clock, inTurn }: ServicePageParts): RequestHandler {
  const view = (request: Request): ServiceView =>
    viewService(api, facts, { now: clock.now(), viewer: viewerOf(request) });
  const showOwn = inTurn((request, response) => void response.json(view(request)));
  if (fleet === undefined) return showOwn;
  const places = createSemaphore(MAX_MERGES);
  const collect = async (request: Request): Promise<ServiceView> => {
    const answers = fleet.peers().map(async (peer) => {
      const answer = await ask(peer, '/api/v1/service', credentialsOf(request));
      return [peer.identity, readService(answer)] as const;
    });
    return mergeServices(view(request), new Map(await Promise.all(answers)));
  };
  return (request, response, next) => {
    if (isForwarded(request)) {
      showOwn(request, response, next);
      return;
    }
    places
      .acquire()
      .then((release) => collect(request).finally(release))
      .then((merged) => response.json(merged))
      .catch(next);
  };
}

function readService(answer: PeerAnswer | null): ServiceView | null {
  if (answer?.status !== 200) return null;
  try {
    return serviceStatusSchema.safeParse(JSON.parse(answer.body.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}
