import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Clock } from '../../units/clock.js';
import { type AccessControl, applyVerdict, namespaceOf, type Verdict } from '../access/access-control.js';
import { ANYBODY, type Identity, SEES_ALL } from '../access/viewer.js';
import { createResponseEncryptor, decryptRequest, type PeerMessage, type SealedBy } from './sealed.js';

export interface Peer {
  readonly identity: string;
  /** The URL of the replica's HTTP server; null: it is unknown. */
  readonly address: string | null;
}

export interface Fleet {
  readonly identity: string;
  /** Returns whether this replica decides the scaler `NAMESPACE/NAME`. */
  readonly isOwn: (key: string) => boolean;
  /** Returns which other replica decides a scaler; null: it is unknown. */
  readonly ownerOf: (key: string) => Peer | null;
  readonly peers: () => readonly Peer[];
  /**
   * Returns the keys that all replicas share. The first key encrypts, all keys decrypt. Empty: this replica cannot
   * query other replicas. Never rejects.
   */
  readonly keys: () => Promise<readonly Buffer[]>;
}

/** Header that contains the encrypted request of another replica. */
export const PEER_HEADER = 'x-promscaler-peer';
/** Header of requests that a replica with a version before 0.2 has forwarded together with the token of the client. */
const FORWARDED_HEADER = 'x-promscaler-forwarded';

const peerRequests = new WeakSet<Request>();

/** Returns whether the request comes from another replica. If so, it is not forwarded again. */
export function isForwarded(request: Request): boolean {
  return peerRequests.has(request) || request.headers[FORWARDED_HEADER] !== undefined;
}

/** How long a request of another replica is valid, by the wall clocks of both replicas. */
const VALID_MS = 60_000;
/**
 * Maximum number of requests that are remembered, so that a copied request is not answered again. A replica sends at
 * most 16 at a time.
 */
const MOST_NONCES = 20_000;

interface PeerCheckOptions {
  /** Unset: there are no other replicas. */
  readonly fleet: Pick<Fleet, 'identity' | 'keys'> | undefined;
  readonly access: AccessControl | null;
  readonly clock: Clock;
  /** Handles a request that comes from a client. */
  readonly orElse: RequestHandler;
}

/**
 * Admits a request of another replica if it was encrypted for this replica with a shared key, is at most one minute
 * old, and was not answered before. The answer is encrypted, too. It contains only what the client of the other replica
 * may see.
 */
export function createPeerCheck({ fleet, access, clock, orElse }: PeerCheckOptions): RequestHandler {
  const isNew = rememberNonces(clock);
  const open = async (request: Request, header: string): Promise<Opened | string> => {
    const opened = fleet === undefined ? null : decryptRequest(header, await fleet.keys());
    if (opened === null) return 'the request of another replica is not encrypted with a key of this replica';
    const { to, path, atMs } = opened.question;
    if (to !== fleet?.identity || path !== request.originalUrl)
      return 'the request is addressed to another replica';
    if (Math.abs(clock.now() - atMs) > VALID_MS)
      return 'the request is older than a minute, or the clocks of the replicas differ';
    return isNew(opened.by.nonce) ? opened : 'the request was already answered';
  };
  const answer = async (request: Request, response: Response): Promise<Verdict | null> => {
    const opened = await open(request, String(request.headers[PEER_HEADER]));
    if (typeof opened === 'string') {
      response.status(403).json({ error: opened });
      return null;
    }
    const { question, by } = opened;
    encryptResponse(response, by);
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
  readonly question: PeerMessage;
  readonly by: SealedBy;
}

/**
 * Decides what the client of another replica may see. While a rolling update changes `server.auth`, old and new
 * replicas reject each other's clients.
 */
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

/** Returns a function that returns true if a nonce is new. A nonce is forgotten when its request has expired. */
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
    // Twice the time, because the clock of the other replica may be up to one minute ahead.
    untilMs.set(text, nowMs + 2 * VALID_MS);
    return true;
  };
}

/** Encrypts everything that is written to a response, including its status and content type. */
export function encryptResponse(response: ServerResponse, by: SealedBy): void {
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  const sealer = createResponseEncryptor(by, () => {
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

/** Converts a chunk that a page writes: a string, or bytes in UTF-8. */
function bytesOf(chunk: unknown): Buffer {
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.from(String(chunk));
}
