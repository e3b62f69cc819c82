import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { PEER_HEADER, encryptResponse } from '../../../src/server/fleet/peer-check.js';
import { decryptRequest } from '../../../src/server/fleet/sealed.js';
import type { PeerMessage } from '../../../src/server/fleet/sealed.js';
import { listen, shut } from '../../../src/simulator/sockets.js';
import { PEER_KEYS } from '../fleet/peer-keys.js';

/** A replica that answers whatever a test wants: sealed if it has the key, as a stranger does without. */
export interface PeerServer {
  readonly url: string;
  /** Headers of the requests, the oldest first. */
  readonly asked: IncomingHttpHeaders[];
  /** What it was asked, as far as its key opens it. */
  readonly questions: PeerMessage[];
  /** The open answers. */
  readonly answers: ServerResponse[];
  readonly close: () => Promise<void>;
}

export async function startPeer(
  answer: (response: ServerResponse) => void,
  { keys = PEER_KEYS }: { readonly keys?: readonly Buffer[] } = {},
): Promise<PeerServer> {
  const asked: IncomingHttpHeaders[] = [];
  const questions: PeerMessage[] = [];
  const answers: ServerResponse[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers);
    const opened = decryptRequest(String(request.headers[PEER_HEADER]), keys);
    if (opened !== null) {
      questions.push(opened.question);
      encryptResponse(response, opened.by);
    }
    answers.push(response);
    response.on('close', () => answers.splice(answers.indexOf(response), 1));
    answer(response);
  });
  const url = await listen(server, 0);
  return { url, asked, questions, answers, close: () => shut(server) };
}

/** Begins an event stream. */
export function stream(response: ServerResponse, text: string): void {
  response.setHeader('content-type', 'text/event-stream; charset=utf-8');
  response.write(text);
}

export function failureText(id: string, message: string, namespace = 'shop'): string {
  const data = {
    at: '2026-01-01T00:00:00Z',
    namespace,
    name: 'web',
    subject: 'change',
    failing: true,
    message,
  };
  return `id: ${id}\nevent: failure\ndata: ${JSON.stringify(data)}\n\n`;
}
