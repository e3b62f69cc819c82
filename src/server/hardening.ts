import { isIP } from 'node:net';
import type { RequestHandler } from 'express';

const MAX_URL_LENGTH = 2048;

const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
};

/** Strict limits: by default, Node.js allows timeouts of a minute or more and any number of connections. */
export const SERVER_LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5000,
  // How often Node.js looks for slow clients. With its default of 30 s, a timeout of 5 s could take 35 s.
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 8192,
} as const;

export const MAX_REQUESTS_PER_SOCKET = 1000;
export const MAX_CONNECTIONS = 256;

/** Sets headers that allow a browser only to display a response. */
export const setSafeHeaders: RequestHandler = (_request, response, next) => {
  response.set(SAFE_HEADERS);
  next();
};

/** Rejects requests that no page accepts: 405 unless the method is GET or HEAD, 413 for a body, 414 for a long URL. */
export const refuseOddRequests: RequestHandler = (request, response, next) => {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.set({ Allow: 'GET, HEAD', Connection: 'close' });
    response.status(405).json({ error: 'method not allowed: the API is read-only (GET and HEAD)' });
  } else if (hasBody) {
    response
      .set('Connection', 'close')
      .status(413)
      .json({ error: 'the request has a body: send the request without a body' });
  } else if (request.url.length > MAX_URL_LENGTH) {
    response.status(414).json({ error: `the URL is longer than ${MAX_URL_LENGTH} characters` });
  } else {
    next();
  }
};

export interface HostCheckOptions {
  /** `server.allowedHosts` of the service config. The star in `*.example.com` stands for a single label. */
  readonly allowed: readonly string[];
  /**
   * Returns the names in the certificate of the API server. Requests through its service proxy have such a name as
   * host.
   */
  readonly apiServerNames: () => readonly string[];
}

/** Names with these suffixes exist only in the cluster or on the host, so that an attacker cannot register them. */
const CLUSTER_SUFFIXES = ['.svc', '.svc.cluster.local', '.localhost'] as const;

/**
 * Answers 421 to a request for an unknown host, because of DNS rebinding: a web page can make its own host name resolve
 * to the address of this service, and then read the service like its own site. But the page cannot choose the Host
 * header that the browser sends. The check accepts IP addresses, names with a single label (Services, localhost), names
 * of Services that end in `.svc`, and names of the API server.
 */
export function createHostCheck({ allowed, apiServerNames }: HostCheckOptions): RequestHandler {
  return (request, response, next) => {
    const host = hostName(request.headers.host ?? '');
    const names = [...allowed, ...apiServerNames()];
    const isAllowed = isOwnName(host) || names.some((name) => matches(host, name.toLowerCase()));
    if (isAllowed) next();
    else response.status(421).json({ error: REFUSED });
  };
}

const REFUSED =
  'unknown host name in the Host header: add the name to server.allowedHosts of the service config';

/** Returns the host name in lower case, without a port, brackets or a dot at the end. */
function hostName(header: string): string {
  const name = header.startsWith('[')
    ? header.slice(1).replace(/\](?::\d*)?$/, '')
    : header.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}

/**
 * Returns whether no web page of an attacker can have this host name. An empty name is accepted, because browsers never
 * send it.
 */
function isOwnName(host: string): boolean {
  if (host === '' || isIP(host) !== 0) return true;
  return !host.includes('.') || CLUSTER_SUFFIXES.some((suffix) => host.endsWith(suffix));
}

function matches(host: string, name: string): boolean {
  if (!name.startsWith('*.')) return host === name;
  const dot = host.indexOf('.');
  return dot > 0 && host.slice(dot) === name.slice(1);
}
