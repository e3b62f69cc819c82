import { EventEmitter, once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, RequestOptions } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createApp } from '../../src/server/app.js';
import type { AppParts } from '../../src/server/app.js';
import { startServer } from '../../src/server/server.js';
import type { RunningServer } from '../../src/server/server.js';
import type { Clock } from '../../src/units/clock.js';
import { instantFromMs } from '../../src/units/time.js';
import { partsOf } from './app-parts.js';

const open: RunningServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

describe('pages', () => {
  it('/healthz answers ok, or 503 with the problems', async () => {
    const well = await start();
    const ill = await start({ healthProblems: () => ['no round for 60 s', 'event loop 12 s late'] });

    expect(await get(well, '/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    expect(await get(ill, '/healthz')).toMatchObject({
      status: 503,
      body: 'no round for 60 s\nevent loop 12 s late\n',
    });
  });

  it('/readyz is checked at each request', async () => {
    const waiting = ['pods are not listed yet'];
    const server = await start({ waitingFor: () => waiting });

    const before = await get(server, '/readyz');
    waiting.pop();

    expect(before).toMatchObject({ status: 503, body: 'pods are not listed yet\n' });
    expect(await get(server, '/readyz')).toMatchObject({ status: 200, body: 'ok\n' });
  });

  it('/metrics answers with its own content type', async () => {
    const server = await start();

    const answer = await get(server, '/metrics');

    expect(answer).toMatchObject({ status: 200, body: 'up 1\n' });
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it.each(['/', '/api/v1', '/api/v1/Scalers', '/Metrics', '/../etc/passwd'])(
    '%s is 404 in JSON',
    async (path) => {
      const server = await start();

      expect(await get(server, path)).toMatchObject({
        status: 404,
        body: '{"error":"there is no such page: /api/v1/openapi.json lists the pages"}',
      });
    },
  );

  it('answers 500 without the reason when a page fails, and reports the error', async () => {
    const seen: unknown[] = [];
    const failing = { contentType: 'text/plain', render: () => Promise.reject(new Error('token canary')) };
    const server = await start({
      metrics: failing,
      onError: (error, path) => seen.push([String(error), path]),
    });

    const answer = await get(server, '/metrics');

    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain('canary');
    expect(seen).toEqual([['Error: token canary', '/metrics']]);
  });
});

describe('hardening', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])('rejects %s with 405', async (method) => {
    const server = await start();

    const answer = await get(server, '/metrics', { method });

    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('GET, HEAD');
  });

  it('rejects a body with 413', async () => {
    const server = await start();

    expect(await get(server, '/healthz', { headers: { 'Content-Length': '1' } }, 'x')).toMatchObject({
      status: 413,
    });
  });

  it.each([
    [2048, 404],
    [2049, 414],
  ])('answers a URL of %i characters with %i', async (length, status) => {
    const server = await start();

    expect(await get(server, `/${'x'.repeat(length - 1)}`)).toMatchObject({ status });
  });

  it('rejects headers of more than 8 KiB with 431', async () => {
    const server = await start();

    expect(await get(server, '/healthz', { headers: { 'X-Long': 'x'.repeat(8192) } })).toMatchObject({
      status: 431,
    });
  });

  it('sends headers that restrict the browser and none that reveal the software', async () => {
    const server = await start();

    const { headers } = await get(server, '/healthz');

    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('etag');
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('answers HEAD without a body and a malformed path with 400', async () => {
    const server = await start();

    expect(await get(server, '/healthz', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    expect(await get(server, '/api/v1/scalers/%zz/x')).toMatchObject({
      status: 400,
      body: '{"error":"the path of the request is malformed"}',
    });
  });
});

describe('slow clients', () => {
  it('that have sent half a request block no one: 8 of them have all 8 places, and a ninth is answered', async () => {
    const server = await start({}, clock(), 8);
    const slow = Array.from({ length: 8 }, () => connect(server.port, '127.0.0.1'));
    await Promise.all(
      slow.map(async (socket) => {
        await once(socket, 'connect');
        socket.on('error', () => undefined).write('GET /healthz HTTP/1.1\r\nHost: x\r\n');
      }),
    );
    const ended = once(slow[0] ?? new EventEmitter(), 'close');

    const answer = await get(server, '/healthz');
    await ended;

    expect(answer.status).toBe(200);
    expect(slow.filter(({ destroyed }) => destroyed)).toHaveLength(1);
    for (const socket of slow) socket.destroy();
  });

  it('that are being answered keep their places: with 2 of 2 places taken, a third client gets a probe, or 503', async () => {
    const server = await start({}, clock(), 2);
    const busy: Socket[] = [];
    for (let index = 0; index < 2; index += 1) {
      const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
      socket.write('GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await once(socket, 'data');
      busy.push(socket);
    }

    expect(await get(server, '/metrics')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(await get(server, '/healthz')).toMatchObject({ status: 200 });

    expect(busy.map(({ destroyed }) => destroyed)).toEqual([false, false]);
    for (const socket of busy) socket.destroy();
  });
});

describe('startServer', () => {
  it('names the port that is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;

    const starting = startServer({ app: createApp(parts()), port, host: '127.0.0.1', clock: clock() });

    await expect(starting).rejects.toThrow(
      `listening on 127.0.0.1, port ${port}: the port is in use by another program; choose another port (server.port of the service config, --port of the demo)`,
    );
    taken.close();
    await once(taken, 'close');
  });

  it('rejects an address of another machine', async () => {
    const starting = startServer({ app: createApp(parts()), port: 0, host: '192.0.2.1', clock: clock() });

    await expect(starting).rejects.toThrow('this machine does not have the address');
  });

  it('closes at once without current requests, and a second time without effect', async () => {
    const server = await start();
    await get(server, '/healthz');

    await server.close();
    await server.close();

    await expect(get(server, '/healthz')).rejects.toThrow('ECONNREFUSED');
  });

  it('ends a hanging request after the grace period of 1,000 ms', async () => {
    const graces: number[] = [];
    const arrived = new EventEmitter();
    const render = (): Promise<readonly Buffer[]> => {
      arrived.emit('request');
      return new Promise(() => undefined);
    };
    const server = await start({ metrics: { contentType: 'text/plain', render } }, clock(graces));
    const requested = once(arrived, 'request');
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    await requested;
    const ended = once(socket, 'close');

    await server.close();
    await ended;

    expect(graces).toEqual([1000]);
  });
});

function parts(overrides: Partial<AppParts> = {}): AppParts {
  const contentType = 'text/plain; version=0.0.4; charset=utf-8';
  return partsOf(
    {},
    { metrics: { contentType, render: () => Promise.resolve([Buffer.from('up 1\n')]) }, ...overrides },
  );
}

/** Timers fire in the next turn of the event loop, whatever their duration. */
function clock(waits: number[] = []): Clock {
  return {
    now: () => instantFromMs(0),
    monotonicMs: () => 0,
    random: () => 0,
    after: (ms, callback) => {
      waits.push(ms);
      const timer = setTimeout(callback, 20);
      return () => clearTimeout(timer);
    },
  };
}

async function start(
  overrides: Partial<AppParts> = {},
  time = clock(),
  maxConnections = 256,
): Promise<RunningServer> {
  const app = createApp(parts(overrides));
  const server = await startServer({ app, port: 0, host: '127.0.0.1', clock: time, maxConnections });
  open.push(server);
  return server;
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function get(server: RunningServer, path: string, options: RequestOptions = {}, body = ''): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port: server.port, path, agent: false, ...options },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
