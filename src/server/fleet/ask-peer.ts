import { request, type IncomingMessage } from 'node:http';
import { withDeadline, type Clock } from '../../units/clock.js';
import { onAbort } from '../../units/abort.js';
import { createSemaphore } from '../../units/semaphore.js';
import type { Identity } from '../access/viewer.js';
import { type Fleet, type Peer, PEER_HEADER } from './peer-check.js';
import {
  createAnswerReader,
  encryptRequest,
  type AnswerHead,
  type AnswerReader,
  type PeerMessage,
} from './sealed.js';

export interface PeerAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Requests a page from another replica on behalf of a client. Null: the replica did not answer in time or has another
 * key, or its answer is too large.
 */
export type AskPeer = (peer: Peer, path: string, identity: Identity) => Promise<PeerAnswer | null>;

const ANSWER_MS = 5000;
/** Maximum size of an answer. A list has at most about 1 MiB, and the snapshot of a scaler with 5,000 pods has 2 MB. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Maximum number of requests to other replicas at a time, for all clients together. */
const MAX_REQUESTS = 16;

/** Thrown if another replica does not answer, or if the answer does not come from a replica with the same key. */
export class PeerError extends Error {
  override name = 'PeerError';
}

/**
 * Creates the client for other replicas. It follows no redirects and never retries. After an internal error, it calls
 * `onFault` and returns null.
 */
export function createPeerClient(
  fleet: Pick<Fleet, 'keys'>,
  { clock, onFault }: { readonly clock: Clock; readonly onFault: (error: unknown) => void },
): AskPeer {
  const places = createSemaphore(MAX_REQUESTS);
  const get = async (peer: Peer, asked: { path: string; identity: Identity; signal: AbortSignal }) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const head = await requestPeer(peer, {
      ...asked,
      key: (await fleet.keys())[0] ?? null,
      lastId: null,
      clock,
      mostFrameBytes: MAX_BYTES,
      onBytes: (chunk) => {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) throw new PeerError('the answer is too long');
        chunks.push(chunk);
      },
    });
    return { status: head.status, body: Buffer.concat(chunks) };
  };
  return async (peer, path, identity) => {
    const release = await places.acquire();
    try {
      return await withDeadline(clock, { ms: ANSWER_MS }, (signal) => get(peer, { path, identity, signal }));
    } catch (error) {
      // A `PeerError` is not logged: the page says that the replica did not answer, and the reason may only be in the
      // log of that replica.
      if (!(error instanceof PeerError)) onFault(error);
      return null;
    } finally {
      release();
    }
  };
}

interface PeerRequest {
  readonly path: string;
  readonly identity: Identity;
  /** The first shared key; null: there is no key. */
  readonly key: Buffer | null;
  readonly lastId: string | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly mostFrameBytes: number;
  /** Called when the headers have arrived, which are not authenticated. */
  readonly onResponse?: (response: IncomingMessage) => void;
  /** Called with authenticated bytes. If it throws, the request ends. */
  readonly onBytes: (bytes: Buffer, head: AnswerHead) => void;
}

/**
 * Sends an encrypted request, and resolves when the whole answer has arrived. Rejects with a `PeerError` if the other
 * replica has no address or does not answer, if there is no key, or if a part of the answer was not encrypted with the
 * key for this request. Rejects with any error that `onBytes` throws.
 */
export function requestPeer({ identity: to, address }: Peer, asked: PeerRequest): Promise<AnswerHead> {
  const { identity, key, lastId, clock, signal } = asked;
  if (address === null) return Promise.reject(new PeerError('the replica has no address'));
  if (key === null) return Promise.reject(new PeerError('this replica has no key for other replicas'));
  const url = new URL(asked.path, address);
  const path = `${url.pathname}${url.search}`;
  return new Promise((resolve, reject) => {
    const { header, by } = sealed({ to, atMs: clock.now(), path, lastId, identity }, key);
    const fail = (cause: unknown): void =>
      reject(new PeerError(`the replica does not answer: ${String(cause)}`, { cause }));
    const sent = request(url, { headers: { [PEER_HEADER]: header }, agent: false });
    const forget = onAbort(signal, () => sent.destroy(new Error('aborted')));
    const reader = createAnswerReader(by, asked.mostFrameBytes);
    sent.on('response', (response) => {
      asked.onResponse?.(response);
      response.on('data', (piece: Buffer) => {
        try {
          for (const bytes of opened(reader, piece)) asked.onBytes(bytes, reader.head() ?? NO_HEAD);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
          sent.destroy();
        }
      });
      response.on('error', fail);
      response.on('end', () => {
        const head = reader.head();
        if (head !== null && reader.isWhole()) resolve(head);
        else fail('the answer ends early');
      });
    });
    sent.on('error', fail);
    sent.on('close', () => {
      forget();
      fail('the connection was closed');
    });
    sent.end();
  });
}

function sealed(question: PeerMessage, key: Buffer): ReturnType<typeof encryptRequest> {
  try {
    return encryptRequest(question, key);
  } catch (cause) {
    // A RangeError means that the user is in too many groups: the identity does not fit into a header.
    throw cause instanceof RangeError ? new PeerError(cause.message, { cause }) : cause;
  }
}

/**
 * Decrypts a chunk. Treats any error as a chunk that no replica has encrypted, because OpenSSL has no error class for
 * such a chunk.
 */
function opened(reader: AnswerReader, piece: Buffer): readonly Buffer[] {
  try {
    return reader.push(piece);
  } catch (cause) {
    throw new PeerError('the answer is invalid', { cause });
  }
}

const NO_HEAD: AnswerHead = { status: 0, type: '' };
