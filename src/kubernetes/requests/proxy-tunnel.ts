import { type Agent, type ClientRequestArgs, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { errorMessage } from '../../units/failure.js';

const CONNECT_MS = 10_000;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
/** The port of a SOCKS proxy that has none in its URL, as in Go and therefore in kubectl. */
const SOCKS_PORT = 1080;

/**
 * Makes an agent open its connections through an HTTP proxy with CONNECT, or through a SOCKS5 proxy, which resolves the
 * name of the server. The agent reuses the connections. The agents of https-proxy-agent, a dependency of axios, would
 * open a connection for each request. `isTls`: the agent is for https. Errors contain the host of the proxy, but not
 * its password.
 */
export function tunnelThrough(agent: Agent, proxyUrl: string, isTls: boolean): void {
  const proxy = new URL(proxyUrl);
  const open = proxy.protocol.startsWith('socks') ? openSocks : openTunnel;
  const createConnection = (
    options: ClientRequestArgs & ConnectionOptions,
    onSocket: (error: Error | null, socket?: Duplex) => void,
  ): void => {
    open(proxy, { host: options.host ?? 'localhost', port: options.port ?? 443 }).then(
      (socket) => onSocket(null, isTls ? connectTls({ ...options, socket }) : socket),
      (error: unknown) => onSocket(new Error(`proxy ${proxy.host}: ${errorMessage(error)}`)),
    );
  };
  Object.assign(agent, { createConnection });
}

interface Target {
  readonly host: string;
  /** A request has the port of its URL, which is text. */
  readonly port: number | string;
}

function loginOf({ username, password }: URL): { readonly user: string; readonly password: string } | null {
  return username === ''
    ? null
    : { user: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/** The host name of a URL has brackets around an IPv6 address, which a socket does not accept. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

async function openSocks(proxy: URL, { host, port }: Target): Promise<Duplex> {
  const { SocksClient } = await import('socks');
  const login = loginOf(proxy);
  const { socket } = await SocksClient.createConnection({
    command: 'connect',
    destination: { host, port: Number(port) },
    proxy: {
      type: 5,
      host: hostOf(proxy),
      port: proxy.port === '' ? SOCKS_PORT : Number(proxy.port),
      ...(login === null ? {} : { userId: login.user, password: login.password }),
    },
    timeout: CONNECT_MS,
  });
  return socket;
}

async function openTunnel(proxy: URL, { host, port }: Target): Promise<Duplex> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const login = loginOf(proxy);
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === 'https:' ? requestHttps : requestHttp)({
      host: hostOf(proxy),
      port: proxy.port === '' ? DEFAULT_PORTS[proxy.protocol] : proxy.port,
      method: 'CONNECT',
      path: authority,
      headers: {
        Host: authority,
        ...(login === null
          ? {}
          : {
              'Proxy-Authorization': `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`,
            }),
      },
      agent: false,
      timeout: CONNECT_MS,
    });
    request.on('connect', ({ statusCode = 0, statusMessage = '' }, socket, head) => {
      socket.setTimeout(0);
      if (statusCode !== 200) {
        socket.destroy();
        reject(new Error(`${statusCode} ${statusMessage}`));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    // The proxy does not support CONNECT and answers like a web server.
    request.on('response', ({ statusCode = 0, statusMessage = '' }) => {
      request.destroy();
      reject(new Error(`${statusCode} ${statusMessage}`));
    });
    request.on('timeout', () => request.destroy(new Error(`timeout after ${CONNECT_MS / 1000} s`)));
    request.on('error', reject);
    request.end();
  });
}
