import { type IncomingMessage, createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
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
  const port = await listen(api);
  apiUrl = 'https://api.invalid:6443';
  const proxy = createHttpServer();
  proxy.on('connect', (request: IncomingMessage, socket, head) => {
    connects.push(request);
    if (refusal !== null) {
      socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
      return;
    }
    const upstream = connect(port, '127.0.0.1', () => {
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
