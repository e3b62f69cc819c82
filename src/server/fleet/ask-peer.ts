import { request } from 'node:http';
import { withDeadline, type Clock } from '../../units/clock.js';
import { onAbort } from '../../units/abort.js';
import { createSemaphore } from '../../units/semaphore.js';
import { FORWARDED_HEADER, type Peer } from './fleet.js';

export interface PeerAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Forwards the GET of a client to another replica. Null: the replica did not answer in time, or the answer is too
 * large.
 */
export type AskPeer = (
  peer: Peer,
  path: string,
  credentials: ForwardedCredentials,
) => Promise<PeerAnswer | null>;

/** Headers with the credentials of the client, by which the other replica decides what the client may see. */
export type ForwardedCredentials = Readonly<Record<string, string>>;

const ANSWER_MS = 5000;
/** A list has at most about 1 MiB; a snapshot of 5,000 pods has 2 MB. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Concurrent requests of all clients together. */
const MAX_REQUESTS = 16;

/** Creates the client for other replicas. It uses plain HTTP, follows no redirects and does not retry. */
export function createPeerClient(clock: Clock): AskPeer {
  const places = createSemaphore(MAX_REQUESTS);
  return async ({ address }, path, credentials) => {
    if (address === null) return null;
    const release = await places.acquire();
    try {
      return await withDeadline(clock, { ms: ANSWER_MS }, (signal) =>
        get(`${address}${path}`, { credentials, signal }),
      );
    } catch {
      // The page reports that the replica did not answer. Only the log of that replica may contain the
      // reason.
      return null;
    } finally {
      release();
    }
  };
}

function get(
  url: string,
  { credentials, signal }: { readonly credentials: ForwardedCredentials; readonly signal: AbortSignal },
): Promise<PeerAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { ...credentials, accept: 'application/json', [FORWARDED_HEADER]: '1' };
    const sent = request(url, { method: 'GET', headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) sent.destroy(new Error('the answer is too long'));
        else chunks.push(chunk);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
      response.on('error', reject);
      response.on('aborted', () => reject(new Error('the answer is cut off')));
    });
    const forget = onAbort(signal, () => sent.destroy(new Error('timeout')));
    sent.on('close', forget);
    sent.on('error', reject);
    sent.end();
  });
}
