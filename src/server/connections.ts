import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../units/clock.js';
import { RequestGate } from './pacing/request-gate.js';
import { createBackgroundWork } from './pacing/background-work.js';

/**
 * Maximum number of connections above the limit that have not sent a request yet. Clients that reconnect at once must
 * not occupy these before a probe, whose request follows its connection shortly.
 */
const UNDECIDED_PLACES = 256;
const PROBES: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz']);
/** A client that has neither sent nor read for this time may be disconnected. */
const SLOW_MS = 1000;
const FULL =
  'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/**
 * Serves the requests of `server` with `app`: one at a time per connection, with at most `most` connections in total.
 * At that maximum, a client that sends a request replaces the client that has been without a request for longest, or
 * otherwise the client that has not read its response for longest. Neither can then block others. (`maxConnections` of
 * Node.js drops the new client.) If all connections are busy, a new client gets a 503.
 */
export function guardConnections(server: Server, { app, clock, most, onConnection }: GuardOptions): void {
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
  /** Returns the connection to drop for a client that sends a request, or null. */
  const findVictim = (): RequestGate | null => {
    // A new connection will probably send a request soon, so it is dropped only if many connections are idle.
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
      // Appended to `idle`: connections without a request are dropped first.
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

/** Returns null if no connection has been idle for `leastMs`. */
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
