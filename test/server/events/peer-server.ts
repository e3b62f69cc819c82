import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { listen, shut } from '../../../src/simulator/sockets.js';

/** A replica that answers whatever a test wants. */
export interface PeerServer {
  readonly url: string;
  /** Headers of the requests, the oldest first. */
  readonly asked: IncomingHttpHeaders[];
  /** The open answers. */
  readonly answers: ServerResponse[];
  readonly close: () => Promise<void>;
}

export async function startPeer(answer: (response: ServerResponse) => void): Promise<PeerServer> {
  const asked: IncomingHttpHeaders[] = [];
  const answers: ServerResponse[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers);
    answers.push(response);
    response.on('close', () => answers.splice(answers.indexOf(response), 1));
    answer(response);
  });
  const url = await listen(server, 0);
  return { url, asked, answers, close: () => shut(server) };
}

/** Begins an event stream. */
export function stream(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
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
