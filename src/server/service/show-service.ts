import type { Request, RequestHandler } from 'express';
import { takeTurns } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import { identityOf, viewerOf } from '../access/viewer.js';
import type { Viewer } from '../access/viewer.js';
import { parseJson, type AskPeer, type PeerAnswer } from '../fleet/ask-peer.js';
import type { Fleet, Peer } from '../fleet/fleet.js';
import { isForwarded } from '../fleet/peer-check.js';
import type { ScalerPageParts } from '../pages/scaler-pages.js';
import type { ServiceStatus } from '../../api/answers.js';
import { serviceStatusSchema } from '../../api/dashboard-schemas.js';
import { SLICE_MS } from '../pacing/paced.js';
import type { Paced } from '../pacing/paced.js';
import { refusing } from '../pacing/refuse.js';
import { mergeServices, viewService } from './view-service.js';
import type { ServiceFacts } from './view-service.js';

export interface ServicePageParts {
  readonly api: ScalerPageParts;
  readonly facts: ServiceFacts;
  readonly fleet?: Fleet | undefined;
  readonly ask: AskPeer;
  readonly clock: Clock;
  /** Sends a response as background work. */
  readonly queued: (page: RequestHandler) => RequestHandler;
  readonly paced: Paced;
}

/** Maximum size of the answer of another replica. 100 problems and conflicts with long messages are smaller. */
const MOST_BYTES = 1024 * 1024;

/** Serves the state of the service; with sharding, the state of all replicas. */
export function showService(parts: ServicePageParts): RequestHandler {
  const { api, facts, fleet, ask, clock, queued, paced } = parts;
  const viewOwn = (request: Request): Promise<ServiceStatus> =>
    paced.run(() => {
      const takeTurn = takeTurns(clock, SLICE_MS);
      return viewService(api, facts, { now: clock.now(), viewer: viewerOf(request), takeTurn });
    });
  const viewAll = async (request: Request, peers: readonly Peer[]): Promise<ServiceStatus> => {
    const answers = peers.map(async (peer) => {
      const answer = await ask(peer, '/api/v1/service', identityOf(request));
      return [peer.identity, readService(answer, viewerOf(request))] as const;
    });
    const own = await viewOwn(request);
    const others = new Map(await Promise.all(answers));
    return mergeServices(own, others, { isLeading: api.isLeading() });
  };
  return (request, response, next) => {
    const peers = isForwarded(request) ? [] : (fleet?.peers() ?? []);
    const viewing = peers.length === 0 ? viewOwn(request) : viewAll(request, peers);
    viewing
      .then((view) => queued(() => void response.json(view))(request, response, next))
      .catch(refusing(response, next));
  };
}

/** Omits what the viewer may not see. Does not trust the other replica. */
function readService(answer: PeerAnswer | null, viewer: Viewer): ServiceStatus | null {
  if (answer?.status !== 200 || answer.body.length > MOST_BYTES) return null;
  const isVisible = ({ namespace }: { readonly namespace: string }): boolean => viewer.sees(namespace);
  const { data } = serviceStatusSchema.safeParse(parseJson(answer.body.toString('utf8')));
  if (data === undefined) return null;
  const { conflicts, lastOutcomes } = data;
  return { ...data, conflicts: conflicts.filter(isVisible), lastOutcomes: lastOutcomes.filter(isVisible) };
}
