import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** What a server has been asked, and what it has sent. */
export interface Traffic {
  readonly requests: Readonly<Record<string, number>>;
  /** Over the wire, headers included. */
  readonly bytes: number;
}

export interface TrafficMeter {
  readonly count: (what: string) => void;
  readonly traffic: () => Traffic;
  /** Requests without their whole answer; watches are none. */
  readonly inFlight: () => number;
  readonly connections: () => number;
  readonly begin: (response: ServerResponse) => void;
}

export function createTrafficMeter(server: Server): TrafficMeter {
  const requests: Record<string, number> = {};
  const sockets = new Set<Socket>();
  let closedBytes = 0;
  let inFlight = 0;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.once('close', () => {
      sockets.delete(socket);
      closedBytes += socket.bytesWritten;
    });
  });
  return {
    count: (what) => {
      requests[what] = (requests[what] ?? 0) + 1;
    },
    traffic: () => ({
      requests: { ...requests },
      bytes: [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, closedBytes),
    }),
    inFlight: () => inFlight,
    connections: () => sockets.size,
    begin: (response) => {
      inFlight += 1;
      response.once('close', () => (inFlight -= 1));
    },
  };
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

/** A JSON body, compressed as real servers do it: fast, and only for clients that accept it. */
export function packBody(body: string): Buffer {
  return gzipSync(body, { level: 1 });
}

export function acceptsGzip(request: IncomingMessage): boolean {
  return (request.headers['accept-encoding'] ?? '').includes('gzip');
}

export function sendJson(
  response: ServerResponse,
  body: string | Buffer,
  { status = 200, isPacked = false }: { readonly status?: number; readonly isPacked?: boolean } = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
  });
  response.end(body);
}

/** Returns the URL. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
