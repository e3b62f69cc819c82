import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { sleep } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import { guardConnections } from './connections.js';
import { MAX_CONNECTIONS, MAX_REQUESTS_PER_SOCKET, SERVER_LIMITS } from './hardening.js';

interface ServerOptions {
  readonly app: RequestListener;
  /** 0: any free port. */
  readonly port: number;
  /** IP address to listen on; default: all addresses. */
  readonly host?: string | undefined;
  readonly clock: Clock;
  /** Concurrent connections; default 256. */
  readonly maxConnections?: number;
  readonly onConnection?: () => void;
}

export interface RunningServer {
  /** URL for clients on this machine: `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  /** Rejects new requests, and aborts current ones after 1 s. */
  readonly close: () => Promise<void>;
}

export class ListenError extends Error {
  override name = 'ListenError';
}

const CLOSE_GRACE_MS = 1000;

/**
 * Serves `app` until closed. Throws `ListenError` if the port is in use or not permitted, or this machine does not have
 * the address of `host`.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { app, port, host, clock } = options;
  const server = createServer(SERVER_LIMITS);
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET;
  const { maxConnections: most = MAX_CONNECTIONS, onConnection } = options;
  guardConnections(server, { app, clock, most, onConnection });
  await listen(server, { port, host });
  const address = server.address();
  const actualPort = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${reachableHost(host)}:${actualPort}`,
    port: actualPort,
    close: () => close(server, clock),
  };
}

function listen(
  server: Server,
  address: { readonly port: number; readonly host: string | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, address)));
    server.listen(
      { port: address.port, ...(address.host === undefined ? {} : { host: address.host }) },
      () => {
        // After startup, the error of one connection must not end the process.
        server.removeAllListeners('error').on('error', () => undefined);
        resolve();
      },
    );
  });
}

function listenError(
  error: NodeJS.ErrnoException,
  address: { readonly port: number; readonly host: string | undefined },
): ListenError {
  const where = address.host === undefined ? `port ${address.port}` : `${address.host}, port ${address.port}`;
  return new ListenError(`listening on ${where}: ${listenReason(error)}`, { cause: error });
}

function listenReason(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return 'the port is in use by another program; choose another port (server.port of the service config, --port of the demo)';
    case 'EACCES':
      return 'permission denied; ports below 1024 need more privileges; choose another port (server.port of the service config, --port of the demo)';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'this machine does not have the address';
    default:
      return error.message;
  }
}

function reachableHost(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

async function close(server: Server, clock: Clock): Promise<void> {
  if (!server.listening) return;
  const closed = new AbortController();
  const ended = new Promise<void>((resolve) => {
    server.close(() => {
      closed.abort();
      resolve();
    });
  });
  server.closeIdleConnections();
  await sleep(clock, CLOSE_GRACE_MS, closed.signal);
  server.closeAllConnections();
  await ended;
}
