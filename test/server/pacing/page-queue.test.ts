import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import type { RequestHandler } from 'express';
import { createPageQueue } from '../../../src/server/pacing/shared-page.js';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import { ManualClock, eventually } from '../../support/manual-clock.js';

const servers: RunningServer[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe('createPageQueue', () => {
  it('does not render a page whose client has disconnected', async () => {
    let made = 0;
    const { turns, url, closed } = await start(new ManualClock(), (_request, response) => {
      made += 1;
      response.end();
    });
    const leaving = new AbortController();
    const left = fetch(url, { signal: leaving.signal }).catch(() => 'left');
    await eventually(() => turns.length === 1);

    leaving.abort();
    await left;
    await eventually(() => closed() === 1);
    turns[0]?.();

    expect(made).toBe(0);
  });

  it('answers 503 while 32 MiB wait for clients that do not read, and 200 once those are gone', async () => {
    const { turns, url, port, closed } = await start(new ManualClock(), (_request, response) => {
      response.end(Buffer.alloc(48 * 1024 * 1024));
    });
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    socket.pause().write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await eventually(() => turns.length === 1);
    turns[0]?.();

    const refused = fetch(url);
    await eventually(() => turns.length === 2);
    turns[1]?.();
    const { status, headers } = await refused;
    await eventually(() => closed() === 1);
    socket.destroy();
    await eventually(() => closed() === 2);
    const taken = fetch(url);
    await eventually(() => turns.length === 3);
    turns[2]?.();

    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    const { status: later, body } = await taken;
    await body?.cancel();
    expect(later).toBe(200);
  });

  it('answers 500 for a page that throws', async () => {
    const { turns, url } = await start(new ManualClock(), () => {
      throw new Error('broken');
    });

    const answer = fetch(url);
    await eventually(() => turns.length === 1);
    turns[0]?.();

    expect((await answer).status).toBe(500);
  });
});

/** The test calls the turns. */
async function start(
  clock: ManualClock,
  page: RequestHandler,
): Promise<{
  readonly turns: (() => void)[];
  readonly url: string;
  readonly port: number;
  /** Answers that have been sent, or whose client has disconnected. */
  readonly closed: () => number;
}> {
  const turns: (() => void)[] = [];
  const { now, monotonicMs, random } = clock;
  const byHand = (_ms: number, callback: () => void): (() => void) => {
    turns.push(callback);
    return () => undefined;
  };
  const { queued } = createPageQueue({ clock: { now, monotonicMs, random, after: byHand } });
  let closed = 0;
  const count: RequestHandler = (_request, response, next) => {
    response.on('close', () => (closed += 1));
    next();
  };
  const app = express().set('env', 'test').use(count, queued(page));
  const after = (_ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, 1000);
    return () => clearTimeout(timer);
  };
  const server = await startServer({
    app,
    port: 0,
    host: '127.0.0.1',
    clock: { now, monotonicMs, random, after },
  });
  servers.push(server);
  return { turns, url: server.url, port: server.port, closed: () => closed };
}
