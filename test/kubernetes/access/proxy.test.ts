import { type IncomingMessage, createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Connection } from '../../../src/kubernetes/access/connection.js';
import { createTransport, type Transport } from '../../../src/kubernetes/requests/transport.js';
import { ManualClock } from '../../support/manual-clock.js';
import { CA, SERVER_CERTIFICATE, SERVER_KEY } from './test-certificates.js';

const SECRET = 'canary-5c1d';

let servers: Server[];
let transports: Transport[];
/** The requests that the API server has received. */
let received: IncomingMessage[];
/** The CONNECT requests that the proxy has received. */
let connects: IncomingMessage[];
/** What the proxy answers instead of opening a tunnel. */
let refusal: string | null;
let apiUrl: string;
let apiPort: number;
let proxyPort: number;

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

beforeEach(async () => {
  servers = [];
  transports = [];
  received = [];
  connects = [];
  refusal = null;
  const api = createServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY }, (request, response) => {
    received.push(request);
    request.resume().on('end', () => response.end('{}'));
  });
  apiPort = await listen(api);
  apiUrl = 'https://api.invalid:6443';
  const proxy = createHttpServer();
  proxy.on('connect', (request: IncomingMessage, socket, head) => {
    connects.push(request);
    if (refusal !== null) {
      socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
      return;
    }
    const upstream = connect(apiPort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) end.on('error', () => upstream.destroy());
  });
  proxyPort = await listen(proxy);
});

afterEach(async () => {
  for (const transport of transports) transport.close();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
});

function transportOf(given: Partial<Connection> = {}): Transport {
  const tls = { ca: CA, certificate: null, key: null, serverName: 'kubernetes.default.svc', verify: true };
  const connection: Connection = {
    url: apiUrl,
    source: 'test',
    authorization: () => Promise.resolve('Bearer token'),
    tls: () => Promise.resolve(tls),
    proxyUrl: `http://me:${SECRET}@127.0.0.1:${proxyPort}`,
    ...given,
  };
  const transport = createTransport({ connection, clock: new ManualClock() });
  transports.push(transport);
  return transport;
}

const REQUEST = {
  lane: 'write',
  path: '/api',
  doing: 'creating x',
  verb: 'create',
  resource: 'x',
  deadlineMs: 5000,
  signal: undefined,
} as const;

describe('a connection with a proxy', () => {
  it('opens one tunnel for two requests, verifies the certificate of the API server, and authenticates to the proxy', async () => {
    const transport = transportOf();

    await transport.request({ ...REQUEST, body: { a: 1 } });
    await transport.request({ ...REQUEST, body: { a: 2 } });

    expect(connects.map(({ url }) => url)).toEqual(['api.invalid:6443']);
    const login = Buffer.from(`me:${SECRET}`).toString('base64');
    expect(connects[0]?.headers['proxy-authorization']).toBe(`Basic ${login}`);
    expect(received.map(({ headers }) => headers.authorization)).toEqual(['Bearer token', 'Bearer token']);
    expect(received[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('reports the answer of the proxy, without its password', async () => {
    refusal = '407 Proxy Authentication Required';

    const failing = transportOf().request(REQUEST);

    await expect(failing).rejects.toThrow(`proxy 127.0.0.1:${proxyPort}: 407 Proxy Authentication Required`);
    await expect(failing).rejects.not.toThrow(SECRET);
  });

  it('reports a proxy that does not answer', async () => {
    const failing = transportOf({ proxyUrl: 'http://127.0.0.1:1' }).request(REQUEST);

    await expect(failing).rejects.toThrow('proxy 127.0.0.1:1: connect ECONNREFUSED');
  });
});

/** What a SOCKS5 proxy answers to a request to connect (RFC 1928, section 6). */
const SUCCEEDED = 0;
const NOT_ALLOWED = 2;

/**
 * Starts a SOCKS5 proxy that requires the user `me` with the password `SECRET` (RFC 1929), and connects to the API
 * server whatever the requested name is. `seen` gets the requested names and ports.
 */
async function startSocks(seen: string[], reply: number): Promise<number> {
  const next = async (socket: Socket): Promise<Buffer> =>
    new Promise((resolve) => void socket.once('data', (chunk: Buffer) => resolve(chunk)));
  const serve = async (socket: Socket): Promise<void> => {
    await next(socket);
    socket.write(Buffer.from([5, 2]));
    const login = await next(socket);
    const expected = Buffer.from(`\u0001\u0002me${String.fromCharCode(SECRET.length)}${SECRET}`);
    socket.write(Buffer.from([1, login.equals(expected) ? 0 : 1]));
    const request = await next(socket);
    const length = request[4] ?? 0;
    seen.push(`${request.toString('utf8', 5, 5 + length)}:${request.readUInt16BE(5 + length)}`);
    socket.write(Buffer.from([5, reply, 0, 1, 127, 0, 0, 1, 0, 0]));
    const upstream = connect(apiPort, '127.0.0.1');
    upstream.pipe(socket).pipe(upstream);
    for (const end of [socket, upstream]) end.on('error', () => upstream.destroy());
  };
  return listen(createTcpServer((socket) => void serve(socket)));
}

describe('a connection with a SOCKS5 proxy', () => {
  it('opens one tunnel for two requests, and lets the proxy resolve the name of the API server', async () => {
    const seen: string[] = [];
    const port = await startSocks(seen, SUCCEEDED);
    const transport = transportOf({ proxyUrl: `socks5://me:${SECRET}@127.0.0.1:${port}` });

    await transport.request({ ...REQUEST, body: { a: 1 } });
    await transport.request({ ...REQUEST, body: { a: 2 } });

    expect(seen).toEqual(['api.invalid:6443']);
    expect(received.map(({ headers }) => headers.authorization)).toEqual(['Bearer token', 'Bearer token']);
  });

  it.each([
    ['does not allow the connection', `me:${SECRET}`, NOT_ALLOWED, 'Socks5 proxy rejected connection'],
    ['rejects the password', `me:${SECRET}x`, SUCCEEDED, 'Socks5 Authentication failed'],
  ])('reports a proxy that %s, without the password', async (_, login, reply, message) => {
    const port = await startSocks([], reply);

    const failing = transportOf({ proxyUrl: `socks5://${login}@127.0.0.1:${port}` }).request(REQUEST);

    await expect(failing).rejects.toThrow(`proxy 127.0.0.1:${port}: ${message}`);
    await expect(failing).rejects.not.toThrow(SECRET);
  });

  it('reports a proxy that does not answer', async () => {
    const failing = transportOf({ proxyUrl: 'socks5://127.0.0.1:1' }).request(REQUEST);

    await expect(failing).rejects.toThrow('proxy 127.0.0.1:1: connect ECONNREFUSED');
  });
});

describe('a connection that impersonates a user', () => {
  it.each([
    ['GET', 'get'],
    ['POST', 'create'],
  ] as const)('sends each group as a header of its own with %s', async (method, verb) => {
    const headers = { 'Impersonate-User': 'jane', 'Impersonate-Group': ['dev', 'ops'] };

    await transportOf({ headers }).request({
      ...REQUEST,
      verb,
      ...(method === 'GET' ? {} : { body: {} }),
    });

    expect(received[0]?.headersDistinct).toMatchObject({
      'impersonate-user': ['jane'],
      'impersonate-group': ['dev', 'ops'],
    });
  });
});
