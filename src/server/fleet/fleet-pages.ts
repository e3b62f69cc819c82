import { parseJson } from '../../units/json-bounds.js';
import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import { createSemaphore } from '../../units/semaphore.js';
import { identityOf, viewerOf, type Viewer } from '../access/viewer.js';
import { fillPage, readInteger, writePage, writeToken } from '../pages/query.js';
import type { ScalerList, Answer } from '../../api/answers.js';
import { LIMITS } from '../../api/routes.js';
import { writeScalerPage, type ScalerPageParts } from '../pages/scaler-pages.js';
import { refuse } from '../pacing/paced.js';
import type { AskPeer } from './ask-peer.js';
import { type Fleet, isForwarded, type Peer } from './peer-check.js';
import { scalerListSchema, scalerSchema } from '../../api/answer-schemas.js';
import { readAnswerOrNull } from '../../api/read-answer.js';

/** Serves the page of a scaler. If another replica decides the scaler, gets the page from that replica. */
export function ofOwner(
  page: RequestHandler,
  { fleet, ask }: { fleet: Fleet; ask: AskPeer },
): RequestHandler {
  const refusal = async (owner: Peer, key: string): Promise<string> => {
    const what = `replica ${owner.identity}, which is responsible for ${key},`;
    const hasKey = (await fleet.keys()).length > 0;
    return hasKey ? `${what} did not answer` : `${what} cannot be queried: ${NO_KEY}`;
  };
  return (request, response, next) => {
    const { namespace, name } = request.params;
    const key = `${String(namespace)}/${String(name)}`;
    // Without permission, a client gets the same answer as for a scaler that does not exist.
    const isVisible = viewerOf(request).sees(String(namespace));
    if (isForwarded(request) || fleet.isOwn(key) || !isVisible) {
      page(request, response, next);
      return;
    }
    const owner = fleet.ownerOf(key);
    if (owner === null) {
      refuse(response, `no replica is responsible for ${key} yet: retry later`);
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

const NO_KEY = 'server.peerKeyFile is unset or has no key of at least 32 characters';

/** How many lists may be merged at a time: merging takes some 10 ms, during which probes and rounds wait. */
const MAX_LISTS = 2;

/** Serves the list of the scalers of all replicas. `own` serves the list of this replica. */
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

/** The fields of a page of `/api/v1/scalers` that are needed for merging. The rows are passed on unchanged. */
const pageSchema = scalerListSchema
  .pick({ version: true, continue: true })
  .extend({ items: z.array(scalerSchema.pick({ namespace: true, name: true })) });

export type ScalerPage = Answer<typeof pageSchema>;

type Row = ScalerPage['items'][number];

/** Parses a page of another replica and omits rows that the viewer may not see; null: the page is invalid. */
export function readPeerPage(body: Buffer, viewer: Viewer): ScalerPage | null {
  const page = readAnswerOrNull(pageSchema, parseJson(body.toString('utf8')));
  return page === null ? null : { ...page, items: page.items.filter((row) => viewer.sees(row.namespace)) };
}

function keyOf({ namespace, name }: Row): string {
  return `${namespace}/${name}`;
}

/**
 * Merges the pages of all replicas; the first one is from this replica. If a replica has more rows than are on its
 * page, the merged page ends at the last row of that page, because the next rows of the replica are unknown. A scaler
 * that moves between replicas may be on two pages; the first of these pages is used. `unreachable`: replicas that did
 * not answer, whose scalers are missing; `leader` is then false.
 */
export function mergePages(
  pages: readonly [ScalerPage & Pick<ScalerList, 'problems'>, ...ScalerPage[]],
  { limit, unreachable }: { readonly limit: number; readonly unreachable: readonly string[] },
): string {
  const [own] = pages;
  const ends = pages.flatMap(({ items, continue: token }) => {
    const last = items.at(-1);
    return token === null || last === undefined ? [] : [keyOf(last)];
  });
  const end = ends.sort()[0] ?? null;
  const rows = new Map<string, Row>();
  for (const row of pages.flatMap(({ items }) => items)) {
    const key = keyOf(row);
    if ((end === null || key <= end) && !rows.has(key)) rows.set(key, row);
  }
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
  const page = fillPage(sorted, { limit, view: ([, row]) => row });
  const behind = page.moreBehind?.[0] ?? end;
  return writePage(page, {
    version: own.version,
    leader: unreachable.length === 0,
    unreachable,
    problems: own.problems,
    continue: behind === null ? null : writeToken({ list: 'scalers', behind }),
  });
}
