import { EventEmitter, once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import type { Clock } from '../../../src/units/clock.js';
import { ManualClock, eventually } from '../../support/manual-clock.js';

const sockets: Socket[] = [];
const servers: { readonly server: RunningServer; readonly clock: ManualClock }[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const { server, clock } of servers.splice(0)) {
    const closed = server.close();
    clock.advance(1000);
    await closed;
  }
});

const REQUEST = 'GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n';
const MIB = Buffer.alloc(1024 * 1024, 'x');

describe('a connection', () => {
  it('has one current request, although 1,000 have arrived, and the next one once the answer is sent', async () => {
    const { open, responses } = await start();
    const client = open(REQUEST.repeat(1000));

    await eventually(() => responses.length === 1);
    await settle();
    expect(responses).toHaveLength(1);
    responses[0]?.end('first');

    await eventually(() => responses.length === 2);
    await eventually(() => client.text().includes('first'));
  });

  it('renders no more answers than the kernel accepts: 1,000 of 1 MiB that the client does not read are never rendered', async () => {
    let answers = 0;
    const { open } = await start((_request, response) => {
      answers += 1;
      response.end(MIB);
    });

    open(REQUEST.repeat(1000), { reads: false });
    await untilStable(() => answers);

    expect(answers).toBeLessThan(50);
  });

  it.each([
    ['in one segment', [REQUEST.repeat(3)]],
    ['byte by byte', Array.from(REQUEST.repeat(3))],
    ['cut in the blank line', [REQUEST.slice(0, -1), `\n${REQUEST}${REQUEST.slice(0, -3)}`, '\n\r\n']],
    ['after blank lines', ['\r\n\r\n', `\r\n${REQUEST}`, REQUEST, `\r\n${REQUEST}`]],
  ])('gets 3 answers in their order for requests that come %s', async (_how, parts) => {
    let answers = 0;
    const { open } = await start((_request, response) => response.end(`<${(answers += 1)}>`));
    const client = open();

    for (const part of parts) {
      client.socket.write(part);
      await settle();
    }

    await eventually(() => client.text().includes('<3>'));
    expect(client.text().match(/<\d>/g)).toEqual(['<1>', '<2>', '<3>']);
  });

  it('gets the answers to 2 requests that it sent before it half-closed', async () => {
    const { open } = await start((_request, response) => response.end('answer'));

    const client = open(REQUEST.repeat(2));
    client.socket.end();

    await eventually(() => client.isClosed());
    expect(client.text().match(/answer/g)).toHaveLength(2);
  });

  it('yields to the event loop between the answers to 100 requests that it sent at once', async () => {
    let answers = 0;
    const { open, turns } = await start((_request, response) => {
      answers += 1;
      response.end('answer');
    });

    open(REQUEST.repeat(100));
    await eventually(() => answers === 100);

    expect(turns()).toBeGreaterThanOrEqual(99);
  });

  it('yields to the event loop between the 16 pieces of an answer of 1 MiB', async () => {
    const { open, turns } = await start((_request, response) => response.end(MIB));

    const client = open(REQUEST);
    await eventually(() => client.text().length > MIB.length);

    expect(turns()).toBeGreaterThanOrEqual(16);
  });

  it('gets an answer that a body is rejected, however long that is', async () => {
    const { open } = await start((_request, response) => {
      response.writeHead(413, { Connection: 'close' }).end('refused');
    });

    const client = open(
      `POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n${'x'.repeat(500_000)}`,
    );

    await eventually(() => client.text().includes('refused'));
  });

  it('aborts its work as soon as its client has disconnected', async () => {
    const { open, responses } = await start();
    const client = open(REQUEST);
    await eventually(() => responses.length === 1);
    const closed = once(responses[0] ?? new EventEmitter(), 'close');

    client.socket.destroy();

    await closed;
  });

  it('is dropped when nothing of an answer was read for 10,000 ms, not for 9,999', async () => {
    const { open, clock, responses, turns } = await start();
    open(REQUEST, { reads: false });
    await eventually(() => responses.length === 1);
    responses[0]?.end(Buffer.alloc(64 * 1024 * 1024));
    const closed = { is: false };
    responses[0]?.on('close', () => (closed.is = true));

    await unlessMeanwhile(turns, async () => {
      clock.advance(9999);
      await settle();
    });
    expect(closed.is).toBe(false);
    clock.advance(1);

    await eventually(() => closed.is);
  });

  it('is kept while its client reads, even slowly', async () => {
    const { open, clock, responses, turns } = await start();
    const client = open(REQUEST, { reads: false });
    await eventually(() => responses.length === 1);
    responses[0]?.end(Buffer.alloc(64 * 1024 * 1024));
    await untilStable(turns);

    for (let turn = 0; turn < 5; turn += 1) {
      clock.advance(9000);
      const before = turns();
      let read = 0;
      while (read < 8 * 1024 * 1024) {
        const chunk = client.socket.read() as Buffer | null;
        if (chunk === null) await once(client.socket, 'readable');
        else read += chunk.length;
      }
      await eventually(() => turns() > before, 'a next piece to be sent');
    }

    expect(responses[0]?.destroyed).toBe(false);
  });
});

describe('the connection limit', () => {
  it('replaces a client that has not read for 1,000 ms by a new one, but not one that has not read for 999 ms', async () => {
    const { open, clock, responses, turns } = await start(undefined, 1);
    open(REQUEST, { reads: false });
    await eventually(() => responses.length === 1);
    responses[0]?.end(Buffer.alloc(64 * 1024 * 1024));

    await unlessMeanwhile(turns, async () => {
      clock.advance(999);
      const early = open(REQUEST);
      await eventually(() => early.isClosed());
    });
    clock.advance(1);
    open(REQUEST);

    await eventually(() => responses.length === 2);
    expect(responses[0]?.destroyed).toBe(true);
  });
});

describe('a probe', () => {
  it('is answered if all 64 places are taken and 40 more clients came before its request', async () => {
    const { open, responses } = await start((request, response) => {
      if (request.url === '/healthz') response.end('ok');
      else responses.push(response);
    }, 64);
    for (let index = 0; index < 64; index += 1) open(REQUEST);
    await eventually(() => responses.length === 64);

    const probe = open();
    await once(probe.socket, 'connect');
    const others = Array.from({ length: 40 }, () => open());
    await Promise.all(others.map(({ socket }) => once(socket, 'connect')));
    await settle();
    probe.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');

    await eventually(() => probe.text().endsWith('ok'));
  });

  it('is the only request answered beyond the limit: 20 clients with other requests get a Retry-After', async () => {
    const { open, responses } = await start(undefined, 64);
    for (let index = 0; index < 64; index += 1) open(REQUEST);
    await eventually(() => responses.length === 64);

    const others = Array.from({ length: 20 }, () => open(REQUEST));

    await eventually(() => others.every(({ isClosed }) => isClosed()));
    const refused = /^HTTP\/1.1 503 .*\r\nRetry-After: 1\r\n/;
    expect(others.filter(({ text }) => refused.test(text()))).toHaveLength(20);
    expect(responses).toHaveLength(64);
  });
});

async function start(
  app?: RequestListener,
  maxConnections = 256,
): Promise<{
  readonly open: (text?: string, options?: { readonly reads: boolean }) => Client;
  readonly clock: ManualClock;
  readonly responses: ServerResponse[];
  /** How many turns of the event loop the server has waited for. */
  readonly turns: () => number;
}> {
  const clock = new ManualClock();
  const responses: ServerResponse[] = [];
  let turns = 0;
  const record: RequestListener = (_request, response) => responses.push(response);
  const server = await startServer({
    app: app ?? record,
    port: 0,
    host: '127.0.0.1',
    clock: withRealTurns(clock, () => (turns += 1)),
    maxConnections,
  });
  servers.push({ server, clock });
  return {
    open: (text, options) => openClient(server.port, text, options),
    clock,
    responses,
    turns: () => turns,
  };
}

/** Turns of the event loop are real; longer times pass when a test advances the clock. */
function withRealTurns(clock: ManualClock, onTurn: () => void): Clock {
  const { now, monotonicMs, random } = clock;
  const after = (ms: number, callback: () => void): (() => void) => {
    if (ms > 0) return clock.after(ms, callback);
    const timer = setTimeout(() => {
      onTurn();
      callback();
    }, 0);
    return () => clearTimeout(timer);
  };
  return { now, monotonicMs, random, after };
}

interface Client {
  readonly socket: Socket;
  readonly text: () => string;
  readonly isClosed: () => boolean;
}

function openClient(port: number, request = '', { reads } = { reads: true }): Client {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  let text = '';
  let isClosed = false;
  if (reads) socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  else socket.pause();
  socket.on('close', () => (isClosed = true));
  if (request !== '') socket.write(request);
  return { socket, text: () => text, isClosed: () => isClosed };
}

/** Waits for data in the buffers of the kernel, which raise no event. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

/** Waits until a figure no longer changes. */
async function untilStable(figure: () => number): Promise<void> {
  let last = Number.NaN;
  for (let same = 0; same < 5;) {
    await settle();
    same = figure() === last ? same + 1 : 0;
    last = figure();
  }
}

/**
 * Does `step` while a figure is stable; repeats it if the figure changed meanwhile, since the kernel of a busy machine
 * takes its time.
 */
async function unlessMeanwhile(figure: () => number, step: () => Promise<void>): Promise<void> {
  let before: number;
  do {
    await untilStable(figure);
    before = figure();
    await step();
  } while (figure() !== before);
}
