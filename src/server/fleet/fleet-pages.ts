import type { Request, RequestHandler } from 'express';
import { createSemaphore } from '../../units/semaphore.js';
import { identityOf, viewerOf } from '../access/viewer.js';
import { readInteger } from '../pages/query.js';
import type { ScalerList } from '../../api/answers.js';
import { LIMITS } from '../../api/routes.js';
import { writeScalerPage, type ScalerPageParts } from '../pages/scaler-pages.js';
import { refuse } from '../pacing/refuse.js';
import type { AskPeer } from './ask-peer.js';
import type { Fleet, Peer } from './fleet.js';
import { mergePages, readPeerPage } from './merge-pages.js';
import { isForwarded } from './peer-check.js';

/** Serves the page of a scaler from the replica that decides it, which may be this one. */
export function ofOwner(
  page: RequestHandler,
  { fleet, ask }: { fleet: Fleet; ask: AskPeer },
): RequestHandler {
  const refusal = async (owner: Peer, key: string): Promise<string> => {
    const what = `replica ${owner.identity}, which decides ${key},`;
    const hasKey = (await fleet.keys()).length > 0;
    return hasKey ? `${what} did not answer` : `${what} cannot be asked: ${NO_KEY}`;
  };
  return (request, response, next) => {
    const { namespace, name } = request.params;
    const key = `${String(namespace)}/${String(name)}`;
    // A client without permission gets the same answer as for a scaler that does not exist.
    const isVisible = viewerOf(request).sees(String(namespace));
    if (isForwarded(request) || fleet.isOwn(key) || !isVisible) {
      page(request, response, next);
      return;
    }
    const owner = fleet.ownerOf(key);
    if (owner === null) {
      refuse(response, `no replica decides ${key} yet: retry later`);
      return;
    }
    ask(owner, request.originalUrl, identityOf(request))
      .then(async (answer) => {
        if (answer === null) refuse(response, await refusal(owner, key));
        else response.status(answer.status).type('application/json').send(answer.body);
      })
      .catch(next);
  };
}

const NO_KEY = 'server.peerKeyFile is unset or has no key of 32 characters';

/** Merging lists takes some 10 ms. Probes and rounds wait in this time. */
const MAX_LISTS = 2;

/** Serves the list of the scalers of all replicas. `own` serves the scalers of this replica. */
export function ofAll(
  own: RequestHandler,
  { api, fleet, ask }: { readonly api: ScalerPageParts; readonly fleet: Fleet; readonly ask: AskPeer },
): RequestHandler {
  const places = createSemaphore(MAX_LISTS);
  const collect = async (request: Request): Promise<string> => {
    const limit = readInteger(request.query, 'limit', LIMITS.scalers);
    const local = JSON.parse(writeScalerPage(api, request)) as ScalerList;
    const unreachable: string[] = [];
    const asked = fleet.peers().map(async (peer) => {
      const answer = await ask(peer, request.originalUrl, identityOf(request));
      const page = answer?.status === 200 ? readPeerPage(answer.body, viewerOf(request)) : null;
      if (page === null) unreachable.push(peer.identity);
      return page;
    });
    const pages = (await Promise.all(asked)).filter((page) => page !== null);
    return mergePages([local, ...pages], { limit, unreachable: unreachable.sort() });
  };
  return (request, response, next) => {
    if (isForwarded(request) || fleet.peers().length === 0) {
      own(request, response, next);
      return;
    }
    places
      .acquire()
      .then((release) => collect(request).finally(release))
      .then((json) => response.type('application/json').send(json))
      .catch(next);
  };
}
