import { connect } from 'node:net';
import type { Flood, FloodUse } from './flood.js';

/**
 * A client that sends requests and never reads, in its own process so that its cpu time is not the service's. Each of
 * its connections sends all its requests at once; a dropped one is opened again. Ends with its parent.
 */
process.on('disconnect', () => process.exit());
process.on('message', (message: Flood | 'use') => {
  if (message === 'use') process.send?.(useSoFar());
  else for (let index = 0; index < message.connections; index += 1) open(message);
});
process.send?.('ready');

const REOPEN_MS = 200;
let connections = 0;

function useSoFar(): FloodUse {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, connections };
}

function open(flood: Flood): void {
  const socket = connect(flood.port, '127.0.0.1');
  const request = `GET ${flood.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
  socket.on('connect', () => {
    connections += 1;
    socket.write(request.repeat(flood.requests));
  });
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(() => open(flood), REOPEN_MS));
  // Without a reader the end of a connection that still has data is never reported: a write detects it.
  const probe = setInterval(() => socket.write(request), 1000);
  socket.on('close', () => clearInterval(probe));
  socket.pause();
}
