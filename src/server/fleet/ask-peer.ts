import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { withDeadline, type Clock } from '../../units/clock.js';
import { onAbort } from '../../units/abort.js';
import { createSemaphore } from '../../units/semaphore.js';
import type { Identity } from '../access/viewer.js';
import type { Fleet, Peer } from './fleet.js';
import { PEER_HEADER } from './peer-check.js';
import { createAnswerReader, sealQuestion, type AnswerHead } from './sealed.js';

export interface PeerAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Asks another replica for a page on behalf of a client. Null: the replica did not answer in time, has another key, or
 * the answer is too large.
 */
export type AskPeer = (peer: Peer, path: string, identity: Identity) => Promise<PeerAnswer | null>;

const ANSWER_MS = 5000;
/** A list has at most about 1 MiB; a snapshot of 5,000 pods has 2 MB. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Concurrent requests of all clients together. */
const MAX_REQUESTS = 16;

/** Creates the client for other replicas. It follows no redirects and does not retry. */
export function createPeerClient(fleet: Pick<Fleet, 'keys'>, clock: Clock): AskPeer {
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
        if (bytes > MAX_BYTES) throw new Error('the answer is too long');
        chunks.push(chunk);
      },
    });
    return { status: head.status, body: Buffer.concat(chunks) };
  };
  return async (peer, path, identity) => {
    const release = await places.acquire();
    try {
      return await withDeadline(clock, { ms: ANSWER_MS }, (signal) => get(peer, { path, identity, signal }));
    } catch {
      // The page reports that the replica did not answer. Only the log of that replica may contain the
      // reason.
      return null;
    } finally {
      release();
    }
  };
}

export interface PeerRequest {
  readonly path: string;
  readonly identity: Identity;
  /** The first of the shared keys; null: there is none. */
  readonly key: Buffer | null;
  readonly lastId: string | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly mostFrameBytes: number;
  /** Called when headers arrive, which are not authentic. */
  readonly onResponse?: (response: IncomingMessage) => void;
  /** Receives authentic bytes. What it throws ends the request. */
  readonly onBytes: (bytes: Buffer, head: AnswerHead) => void;
}

/**
 * Sends a sealed question and resolves when the whole answer has arrived. Rejects if the peer has no address or no key,
 * does not answer, or answers with anything that was not sealed with the key for this question.
 */
export function requestPeer({ identity: to, address }: Peer, asked: PeerRequest): Promise<AnswerHead> {
  const { identity, key, lastId, clock, signal } = asked;
  if (address === null) return Promise.reject(new Error('the replica has no address'));
  if (key === null) return Promise.reject(new Error('this replica has no key for other replicas'));
  const url = new URL(asked.path, address);
  const path = `${url.pathname}${url.search}`;
  return new Promise((resolve, reject) => {
    const { header, by } = sealQuestion({ to, atMs: clock.now(), path, lastId, identity }, key);
    const sent = request(url, { headers: { [PEER_HEADER]: header }, agent: false });
    const forget = onAbort(signal, () => sent.destroy(new Error('aborted')));
    const reader = createAnswerReader(by, asked.mostFrameBytes);
    sent.on('response', (response) => {
      asked.onResponse?.(response);
      response.on('data', (piece: Buffer) => {
        try {
          for (const bytes of reader.push(piece)) asked.onBytes(bytes, reader.head() ?? NO_HEAD);
        } catch (error) {
          sent.destroy(error instanceof Error ? error : new Error('the answer is invalid'));
        }
      });
      response.on('error', reject);
      response.on('end', () => {
        const head = reader.head();
        if (head !== null && reader.isWhole()) resolve(head);
        else reject(new Error('the answer is cut off'));
      });
    });
    sent.on('error', reject);
    sent.on('close', () => {
      forget();
      reject(new Error('the connection was closed'));
    });
    sent.end();
  });
}

const NO_HEAD: AnswerHead = { status: 0, type: '' };
