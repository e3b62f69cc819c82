import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../units/clock.js';
import { RequestGate } from './request-gate.js';

/** Beyond the bound, for probes alone. */
const PROBE_PLACES = 32;
const PROBES: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz']);
/** A client that has not asked or read for so long may lose its place to another one. */
const SLOW_MS = 1000;

/**
 * Has `app` answer the requests of `server`: one at a time for each connection, and at most `most` connections in all. At
 * that bound a new client takes the place of the one that has asked nothing for longest, else of the one that has not read
 * its answer for longest: neither keeps anybody out. (Node's own `maxConnections` turns away the new one.) Where all are
 * being answered the new one may ask for a probe, and for nothing else.
 */
export function guardConnections(server: Server, { app, clock, most, onConnection }: GuardOptions): void {
  const serve = server.listeners('connection');
  const open = new Set<RequestGate>();
  const idle = new Set<RequestGate>();
  const drop = (gate: RequestGate): void => {
    open.delete(gate);
    idle.delete(gate);
    gate.destroy();
  };
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (open.size >= most) {
      const isFull = open.size >= most + PROBE_PLACES;
      // One that has just come is about to ask: only many of them at once lose their places to newer ones.
      const youngest = isFull || idle.size >= Math.min(most, PROBE_PLACES) ? 0 : SLOW_MS;
      const victim = longestIdle(idle, SLOW_MS) ?? slowest(open) ?? longestIdle(idle, youngest);
      if (victim === null && isFull) return void socket.destroy();
      if (victim !== null) drop(victim);
    }
    onConnection?.();
    const gate = new RequestGate(socket, clock);
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
    if (open.size > most && !PROBES.has(request.url)) {
      drop(gate);
      return;
    }
    gate.hold();
    idle.delete(gate);
    response.on('close', () => {
      // Behind those that have not asked anything yet.
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

/** The first of those that became idle one after the other, if that was so long ago. */
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
