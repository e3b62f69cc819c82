import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Clock } from '../../units/clock.js';
import { type AccessControl, applyVerdict, namespaceOf, type Verdict } from '../access/access-control.js';
import { ANYBODY, type Identity, SEES_ALL } from '../access/viewer.js';
import { createAnswerSealer, openQuestion, type PeerQuestion, type SealedBy } from './sealed.js';

export interface Peer {
  readonly identity: string;
  /** URL of its HTTP server; null: unknown. */
  readonly address: string | null;
}

export interface Fleet {
  readonly identity: string;
  /** Whether this replica decides the scaler `NAMESPACE/NAME`. */
  readonly isOwn: (key: string) => boolean;
  /** Returns the other replica that decides a scaler; null: unknown. */
  readonly ownerOf: (key: string) => Peer | null;
  readonly peers: () => readonly Peer[];
  /** The keys that all replicas share. The first key encrypts. Without a key, no replica is queried. Never rejects. */
  readonly keys: () => Promise<readonly Buffer[]>;
}

/** Header with the encrypted request of another replica. */
export const PEER_HEADER = 'x-promscaler-peer';
/** Header by which replicas before version 0.2 forward a request, together with the token of its client. */
const FORWARDED_HEADER = 'x-promscaler-forwarded';

const peerRequests = new WeakSet<Request>();

/** Returns whether another replica sent the request. Such a request is never forwarded again. */
export function isForwarded(request: Request): boolean {
  return peerRequests.has(request) || request.headers[FORWARDED_HEADER] !== undefined;
}

/** How long a request of another replica is valid, according to the wall clocks of both replicas. */
const VALID_MS = 60_000;
/** Maximum number of remembered requests, so that none is answered twice. A replica sends at most 16 at once. */
const MOST_NONCES = 20_000;

interface PeerCheckOptions {
  /** Unset: there are no other replicas. */
  readonly fleet: Pick<Fleet, 'identity' | 'keys'> | undefined;
  readonly access: AccessControl | null;
  readonly clock: Clock;
  /** Handles the request of a client. */
  readonly orElse: RequestHandler;
}

/**
 * Admits the request of another replica if it is encrypted with a shared key for this replica, at most one minute old,
 * and new. The answer is encrypted as well. The identity of the client decides what it may see.
 */
export function createPeerCheck({ fleet, access, clock, orElse }: PeerCheckOptions): RequestHandler {
  const isNew = rememberNonces(clock);
  const open = async (request: Request, header: string): Promise<Opened | string> => {
    const opened = fleet === undefined ? null : openQuestion(header, await fleet.keys());
    if (opened === null) return 'the question of another replica is not sealed with a key of this replica';
    const { to, path, atMs } = opened.question;
    if (to !== fleet?.identity || path !== request.originalUrl) return 'the question is for another replica';
    if (Math.abs(clock.now() - atMs) > VALID_MS)
      return 'the question is older than a minute, or the clocks of the replicas differ';
    return isNew(opened.by.nonce) ? opened : 'the question was already answered';
  };
  const answer = async (request: Request, response: Response): Promise<Verdict | null> => {
    const opened = await open(request, String(request.headers[PEER_HEADER]));
    if (typeof opened === 'string') {
      response.status(403).json({ error: opened });
      return null;
    }
    const { question, by } = opened;
    sealAnswer(response, by);
    peerRequests.add(request);
    delete request.headers['last-event-id'];
    if (question.lastId !== null) request.headers['last-event-id'] = question.lastId;
    return verdictOn(question.identity, access, namespaceOf(request));
  };
  return (request, response, next) => {
    if (request.headers[PEER_HEADER] === undefined) {
      orElse(request, response, next);
      return;
    }
    answer(request, response)
      .then((verdict) => {
        if (verdict !== null) applyVerdict(verdict, { request, response, next });
      })
      .catch(next);
  };
}

interface Opened {
  readonly question: PeerQuestion;
  readonly by: SealedBy;
}

/** During a rolling update that changes `server.auth`, replicas reject the clients of each other. */
async function verdictOn(
  identity: Identity,
  access: AccessControl | null,
  namespace: string | null,
): Promise<Verdict> {
  if (access !== null) return access.checkIdentity(identity, namespace);
  return identity.kind === 'anybody'
    ? { kind: 'admitted', viewer: SEES_ALL, identity: ANYBODY }
    : { kind: 'refused' };
}

/** Returns a function that returns whether a nonce is new. A nonce is forgotten when its request has expired. */
function rememberNonces(clock: Clock): (nonce: Buffer) => boolean {
  const untilMs = new Map<string, number>();
  return (nonce) => {
    const nowMs = clock.monotonicMs();
    for (const [old, ms] of untilMs) {
      if (ms > nowMs) break;
      untilMs.delete(old);
    }
    const text = nonce.toString('base64');
    if (untilMs.has(text) || untilMs.size >= MOST_NONCES) return false;
    // A request may be one minute ahead of this clock.
    untilMs.set(text, nowMs + 2 * VALID_MS);
    return true;
  };
}

/** Encrypts everything that is written to the response, including status and type. */
export function sealAnswer(response: ServerResponse, by: SealedBy): void {
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  const sealer = createAnswerSealer(by, () => {
    const type = response.getHeader('content-type');
    const head = { status: response.statusCode, type: typeof type === 'string' ? type : '' };
    if (!response.headersSent) {
      response.removeHeader('content-length');
      response.statusCode = 200;
      response.setHeader('content-type', 'application/octet-stream');
    }
    return head;
  });
  response.write = ((chunk: unknown) => write(sealer.seal(bytesOf(chunk)))) as ServerResponse['write'];
  response.end = ((chunk?: unknown) => {
    const last = chunk === undefined || chunk === null ? [] : [sealer.seal(bytesOf(chunk))];
    return end(Buffer.concat([...last, sealer.end()]));
  }) as ServerResponse['end'];
}

/** Pages write UTF-8 strings or bytes. */
function bytesOf(chunk: unknown): Buffer {
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.from(String(chunk));
}
