import type { Request, RequestHandler, Response } from 'express';
import type { Clock } from '../../units/clock.js';
import { formatInstant } from '../../units/time.js';
import { identityOf, viewerOf, visibleProblems } from '../access/viewer.js';
import type { AskPeer } from '../fleet/ask-peer.js';
import { type Fleet, isForwarded, type Peer } from '../fleet/peer-check.js';
import { acceptsGzip, gzipFast } from '../pages/compression.js';
import { readText } from '../pages/query.js';
import type { ScalerPageParts } from '../pages/scaler-pages.js';
import { type Paced, refusing } from '../pacing/paced.js';
import { createOverviewRows, type OverviewPart, type OverviewQuery } from './overview-rows.js';
import {
  type FleetRevisions,
  mergeParts,
  readPart,
  readRevisions,
  replicaHash,
  visiblePart,
  writeOverview,
  writePart,
  writeRevisions,
} from './parts.js';

interface OverviewParts {
  readonly api: ScalerPageParts;
  /** The other replicas. Unset: this replica has all scalers. */
  readonly fleet?: Fleet | undefined;
  readonly ask: AskPeer;
  readonly clock: Clock;
  /** Returns a page whose response is sent as background work. */
  readonly queued: (page: RequestHandler) => RequestHandler;
  readonly paced: Paced;
}

/** Answers with fewer bytes are not compressed. */
const LEAST_COMPRESSED = 1024;

/** Serves the rows of all scalers, or only the rows that have changed since an earlier answer to the client. */
export function showOverview(parts: OverviewParts): RequestHandler {
  const { api, fleet, clock, queued, paced } = parts;
  const rows = createOverviewRows({ ...api, clock });

  const readOwn = (query: OverviewQuery): Promise<OverviewPart> => paced.run(() => rows.read(query));

  const answerPeer = async (query: OverviewQuery): Promise<Answer> => {
    const part = await readOwn(query);
    return { type: 'application/x-ndjson', body: await paced.run(() => writePart(part, clock)) };
  };

  const answerClient = async (request: Request, query: OverviewQuery): Promise<Answer> => {
    const { part, unreachable } = await readAll(parts, { request, query, readOwn });
    const { rows: found, revision, isComplete, removed } = part;
    const isWhole = unreachable === null || unreachable.length === 0;
    const fields = {
      version: api.version,
      at: formatInstant(clock.now()),
      leader: fleet === undefined || fleet.peers().length === 0 ? api.isLeading() : isWhole,
      ...(unreachable === null ? {} : { unreachable }),
      revision,
      isComplete,
      removed,
      groupLabel: api.grouping?.label,
      problems: visibleProblems(api.problems(), query.viewer).length,
    };
    return { type: 'application/json', body: await paced.run(() => writeOverview(found, fields, clock)) };
  };

  return (request, response, next) => {
    const query = {
      since: readText(request.query, 'since'),
      namespace: readText(request.query, 'namespace'),
      viewer: viewerOf(request),
    };
    const answering = isForwarded(request) ? answerPeer(query) : answerClient(request, query);
    answering
      .then((answer) => compressed(answer, request))
      .then((answer) => queued(() => sendAnswer(response, answer))(request, response, next))
      .catch(refusing(response, next));
  };
}

interface Answer {
  readonly type: string;
  readonly body: Buffer;
  readonly isGzipped?: boolean;
}

async function compressed(answer: Answer, request: Request): Promise<Answer> {
  if (answer.body.length < LEAST_COMPRESSED || !acceptsGzip(request)) return answer;
  return { ...answer, body: await gzipFast(answer.body), isGzipped: true };
}

function sendAnswer(response: Response, { type, body, isGzipped = false }: Answer): void {
  response.set('Vary', 'Accept-Encoding');
  if (isGzipped) response.set('Content-Encoding', 'gzip');
  response.type(type).send(body);
}

interface Reading {
  readonly request: Request;
  readonly query: OverviewQuery;
  readonly readOwn: (query: OverviewQuery) => Promise<OverviewPart>;
}

/** `unreachable`: the replicas that did not answer; null: `fleet` is unset. */
interface FleetOverview {
  readonly part: OverviewPart;
  readonly unreachable: readonly string[] | null;
}

/** Reads the changed rows of all replicas. If the changes cannot be merged, reads all rows. */
async function readAll(parts: OverviewParts, reading: Reading): Promise<FleetOverview> {
  const { fleet } = parts;
  if (fleet === undefined) return { part: await reading.readOwn(reading.query), unreachable: null };
  const known = readRevisions(reading.query.since);
  const isSameFleet =
    known !== null && fleet.peers().every(({ identity }) => known.has(replicaHash(identity)));
  const changes = isSameFleet ? await readFleet({ ...parts, fleet }, reading, known) : null;
  const all = changes ?? (await readFleet({ ...parts, fleet }, reading, new Map()));
  if (all === null) throw new Error('a replica returned only changes although no revision was sent');
  return all;
}

/** Returns null if the parts of the replicas cannot be merged. */
async function readFleet(
  { fleet, ask, clock }: OverviewParts & { readonly fleet: Fleet },
  { request, query, readOwn }: Reading,
  known: FleetRevisions,
): Promise<FleetOverview | null> {
  const sinceOf = (identity: string): string | null => known.get(replicaHash(identity)) ?? null;
  const peers = fleet.peers();
  const readPeer = async (peer: Peer): Promise<readonly [string, OverviewPart | null]> => {
    const path = pathOf({ ...query, since: sinceOf(peer.identity) });
    const answer = await ask(peer, path, identityOf(request));
    const part = answer?.status === 200 ? await readPart(answer.body, clock) : null;
    return [peer.identity, part === null ? null : visiblePart(part, query.viewer)];
  };
  const [own, ...others] = await Promise.all([
    readOwn({ ...query, since: sinceOf(fleet.identity) }),
    ...peers.map(readPeer),
  ]);
  const answered = others.flatMap(([identity, part]) => (part === null ? [] : [[identity, part] as const]));
  const parts = new Map([[fleet.identity, own] as const, ...answered]);
  // If a replica no longer exists, the client may have rows of it, which only a complete answer removes.
  const hasLeft = [...known.keys()].some((hash) => !hasReplica([fleet, ...peers], hash));
  const merged = hasLeft ? null : mergeParts(parts);
  if (merged === null) return null;
  const revisions = new Map(known);
  for (const [identity, { revision }] of parts) revisions.set(replicaHash(identity), revision);
  const unreachable = others.flatMap(([identity, part]) => (part === null ? [identity] : [])).sort();
  return { part: { ...merged, revision: writeRevisions(revisions) }, unreachable };
}

function hasReplica(replicas: readonly { readonly identity: string }[], hash: string): boolean {
  return replicas.some(({ identity }) => replicaHash(identity) === hash);
}

function pathOf({ since, namespace }: Pick<OverviewQuery, 'since' | 'namespace'>): string {
  const query = new URLSearchParams({
    ...(since === null ? {} : { since }),
    ...(namespace === null ? {} : { namespace }),
  });
  return `/api/v1/overview?${query.toString()}`;
}
