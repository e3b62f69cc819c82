import {
  createServer,
  type RequestListener,
  type Server,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { sleep, type Clock } from '../units/clock.js';
import { MAX_CONNECTIONS, MAX_REQUESTS_PER_SOCKET, SERVER_LIMITS } from './hardening.js';
import { RequestGate } from './pacing/request-gate.js';
import { createBackgroundWork } from './pacing/background-work.js';

interface ServerOptions {
  readonly app: RequestListener;
  /** 0: any free port. */
  readonly port: number;
  /** The IP address on which the server listens; default: all addresses. */
  readonly host?: string | undefined;
  readonly clock: Clock;
  /** Maximum number of connections at a time; default 256. */
  readonly maxConnections?: number;
  readonly onConnection?: () => void;
}

export interface RunningServer {
  /** URL for clients on this machine, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  /** Rejects new requests, and aborts those that are still running after 1 s. */
  readonly close: () => Promise<void>;
}

export class ListenError extends Error {
  override name = 'ListenError';
}

const CLOSE_GRACE_MS = 1000;

/** Serves `app` until it is closed. Throws `ListenError` if address or port are not available or not permitted. */
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
        // Once the server has started, the error of a connection must not end the process.
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

/**
 * How many connections above the limit may exist that have not sent a request yet. A probe needs such a connection even
 * if many clients reconnect at once: only its request shows that it is a probe.
 */
const UNDECIDED_PLACES = 256;
const PROBES: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz']);
/** A client that has sent and read nothing for this time may be disconnected. */
const SLOW_MS = 1000;
const FULL =
  'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/**
 * Serves the requests of `server` with `app`: one at a time for each connection, and with at most `most` connections.
 * At the limit, a new request evicts the connection that has been idle longest, for at least 1 s; otherwise the
 * connection whose client has not read its response for longest. Therefore neither idle clients nor slow readers can
 * block others. If there is neither, the new client gets a 503, unless it sends a probe or many connections are idle.
 * (With `maxConnections` of Node.js, the new client would be dropped.)
 */
function guardConnections(server: Server, { app, clock, most, onConnection }: GuardOptions): void {
  const serve = server.listeners('connection');
  const open = new Set<RequestGate>();
  const idle = new Set<RequestGate>();
  let accepted = 0;
  const backgroundWork = createBackgroundWork({ clock, connections: () => accepted });
  const drop = (gate: RequestGate): void => {
    open.delete(gate);
    idle.delete(gate);
    gate.destroy();
  };
  /** Returns the connection to drop when a client sends a request above the limit; null: all connections are busy. */
  const findVictim = (): RequestGate | null => {
    // A new connection will probably send a request soon, so it is only dropped if many connections are idle.
    const youngest = idle.size >= most / 2 ? 0 : SLOW_MS;
    return longestIdle(idle, SLOW_MS) ?? slowest(open) ?? longestIdle(idle, youngest);
  };
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    if (open.size >= most + UNDECIDED_PLACES) {
      const victim = longestIdle(idle, SLOW_MS) ?? slowest(open) ?? longestIdle(idle, 0);
      if (victim === null) return void socket.destroy();
      drop(victim);
    }
    onConnection?.();
    const gate = new RequestGate(socket, { clock, backgroundWork });
    open.add(gate);
    idle.add(gate);
    gate.on('close', () => {
      open.delete(gate);
      idle.delete(gate);
    });
    for (const listener of serve) listener.call(server, gate);
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const gate: Duplex = request.socket;
    if (!(gate instanceof RequestGate)) return;
    gate.hold();
    idle.delete(gate);
    if (open.size > most) {
      const victim = findVictim();
      if (victim !== null) drop(victim);
      else if (!PROBES.has(request.url)) {
        open.delete(gate);
        gate.refuse(FULL);
        return;
      }
    }
    response.on('close', () => {
      // Added at the end of `idle`, so that connections that have been idle for longer are dropped first.
      if (!gate.destroyed) idle.add(gate);
      gate.release();
    });
    app(request, response);
  });
}

interface GuardOptions {
  readonly app: RequestListener;
  readonly clock: Clock;
  readonly most: number;
  readonly onConnection?: (() => void) | undefined;
}

/** Returns the connection that has been idle for the longest time; null: no connection has been idle for `leastMs`. */
function longestIdle(idle: ReadonlySet<RequestGate>, leastMs: number): RequestGate | null {
  const [first] = idle;
  return first !== undefined && first.idleMs >= leastMs ? first : null;
}

function slowest(gates: ReadonlySet<RequestGate>): RequestGate | null {
  let found: RequestGate | null = null;
  for (const gate of gates) {
    if (gate.stalledMs >= SLOW_MS && gate.stalledMs > (found?.stalledMs ?? 0)) found = gate;
  }
  return found;
}
