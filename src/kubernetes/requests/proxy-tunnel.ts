import { type Agent as HttpAgent, type ClientRequestArgs, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

type OnSocket = (error: Error | null, socket?: Duplex) => void;

const CONNECT_MS = 10_000;

/**
 * Makes an agent open its connections through an HTTP proxy, by CONNECT. The agent keeps them as without a proxy; the
 * agents of https-proxy-agent, which axios brings, open one for each request. `isTls`: the agent is for https. Errors
 * contain the host of the proxy and not its password.
 */
export function tunnelThrough(agent: HttpAgent, proxyUrl: string, isTls: boolean): void {
  const proxy = new URL(proxyUrl);
  const createConnection = (options: ClientRequestArgs & ConnectionOptions, onSocket: OnSocket): void => {
    openTunnel(proxy, authorityOf(options), (error, socket) => {
      if (error !== null || socket === undefined)
        onSocket(error ?? new Error(`proxy ${proxy.host}: no socket`));
      else onSocket(null, isTls ? connectTls({ ...options, socket }) : socket);
    });
  };
  Object.assign(agent, { createConnection });
}

function authorityOf({ host, port }: ClientRequestArgs): string {
  const name = host ?? 'localhost';
  return `${name.includes(':') ? `[${name}]` : name}:${port ?? 443}`;
}

function openTunnel(proxy: URL, authority: string, onSocket: OnSocket): void {
  const { protocol, hostname, port, username, password } = proxy;
  const fail = (why: string): void => onSocket(new Error(`proxy ${proxy.host}: ${why}`));
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const request = (protocol === 'https:' ? requestHttps : requestHttp)({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : port,
    method: 'CONNECT',
    path: authority,
    headers: {
      Host: authority,
      ...(username === '' ? {} : { 'Proxy-Authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    },
    agent: false,
    timeout: CONNECT_MS,
  });
  request.on('connect', ({ statusCode = 0, statusMessage = '' }, socket, head) => {
    socket.setTimeout(0);
    if (statusCode !== 200) {
      socket.destroy();
      fail(`${statusCode} ${statusMessage}`);
      return;
    }
    if (head.length > 0) socket.unshift(head);
    onSocket(null, socket);
  });
  // A proxy that does not know CONNECT answers like a web server.
  request.on('response', ({ statusCode = 0, statusMessage = '' }) => {
    request.destroy();
    fail(`${statusCode} ${statusMessage}`);
  });
  request.on('timeout', () => request.destroy(new Error(`timeout after ${CONNECT_MS / 1000} s`)));
  request.on('error', ({ message }) => fail(message));
  request.end();
}
