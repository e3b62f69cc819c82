import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../units/clock.js';
import { onAbort } from '../../units/abort.js';
import type { ForwardedCredentials } from '../fleet/ask-peer.js';
import { FORWARDED_HEADER, type Peer } from '../fleet/fleet.js';
import { createMessageReader } from './read-messages.js';
import type { StreamMessage } from './read-messages.js';

export interface PeerStreamOptions {
  readonly clock: Clock;
  /** Null: from now on. */
  readonly lastId: string | null;
  readonly credentials: ForwardedCredentials;
  readonly signal: AbortSignal;
  readonly onMessages: (messages: readonly StreamMessage[]) => void;
}

const ANSWER_MS = 5000;
/** A replica sends a comment every 15 s. */
const SILENCE_MS = 40_000;
/** What is sent faster waits in the other replica, which ends a stream that does not read. */
const MOST_BYTES_PER_SECOND = 256 * 1024;

/** Reads the events of another replica until its stream ends. Rejects when it breaks, is silent or is no event stream. */
export function readPeerEvents({ address }: Peer, options: PeerStreamOptions): Promise<void> {
  const { clock, lastId, credentials, signal } = options;
  if (address === null) return Promise.reject(new Error('the replica has no address'));
  return new Promise((resolve, reject) => {
    const headers = {
      ...credentials,
      accept: 'text/event-stream',
      [FORWARDED_HEADER]: '1',
      ...(lastId === null ? {} : { 'last-event-id': lastId }),
    };
    const sent = request(`${address}/api/v1/events`, { headers, agent: false });
    let cancelTimer = clock.after(ANSWER_MS, () => sent.destroy(new Error('timeout')));
    const isAlive = (): void => {
      cancelTimer();
      cancelTimer = clock.after(SILENCE_MS, () => sent.destroy(new Error('the event stream is silent')));
    };
    const forget = onAbort(signal, () => sent.destroy(new Error('aborted')));
    sent.on('response', (response) => {
      isAlive();
      read(response, { ...options, isAlive, fail: (error) => sent.destroy(error) });
      response.on('end', resolve);
    });
    sent.on('error', reject);
    sent.on('close', () => {
      cancelTimer();
      forget();
      reject(new Error('the event stream was cut off'));
    });
    sent.end();
  });
}

interface Reading extends PeerStreamOptions {
  readonly isAlive: () => void;
  readonly fail: (error: Error) => void;
}

function read(response: IncomingMessage, { clock, onMessages, isAlive, fail }: Reading): void {
  const { statusCode, headers } = response;
  if (statusCode !== 200 || headers['content-type']?.startsWith('text/event-stream') !== true) {
    fail(new Error(`the answer is no event stream: status ${String(statusCode)}`));
    return;
  }
  const reader = createMessageReader();
  let [secondMs, bytes] = [clock.monotonicMs(), 0];
  response.setEncoding('utf8');
  response.on('error', () => undefined);
  response.on('data', (text: string) => {
    isAlive();
    const nowMs = clock.monotonicMs();
    if (nowMs - secondMs >= 1000) [secondMs, bytes] = [nowMs, 0];
    bytes += text.length;
    if (bytes > MOST_BYTES_PER_SECOND) {
      response.pause();
      clock.after(1000 - (nowMs - secondMs), () => response.resume());
    }
    try {
      onMessages(reader.push(text));
    } catch (error) {
      fail(error instanceof Error ? error : new Error('the event stream is invalid'));
    }
  });
}
