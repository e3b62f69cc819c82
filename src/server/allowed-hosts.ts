import { isIP } from 'node:net';
import type { RequestHandler } from 'express';

export interface HostCheckOptions {
  /** `server.allowedHosts` of the service config. The star in `*.example.com` matches one label. */
  readonly allowed: readonly string[];
  /** Names in the certificate of the API server, because its service proxy forwards the host name of the request. */
  readonly apiServerNames: () => readonly string[];
}

/** Only the cluster resolves these names, so an attacker cannot register them. */
const CLUSTER_SUFFIXES = ['.svc', '.svc.cluster.local', '.localhost'] as const;

/**
 * Answers 421 to a request for an unknown host. A web page can make its own host name resolve to the address of the
 * service and then read the service as if it were its own site (DNS rebinding), but it cannot choose the Host header
 * that the browser sends. IP addresses, single labels (Services, localhost), names of Services that end in `.svc` and
 * the names of the API server are accepted.
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

/** Normalizes to lower case, without port, brackets and trailing dot. */
function hostName(header: string): string {
  const name = header.startsWith('[')
    ? header.slice(1).replace(/\](?::\d*)?$/, '')
    : header.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}

/** Accepts an empty name, because browsers always send a name. */
function isOwnName(host: string): boolean {
  if (host === '' || isIP(host) !== 0) return true;
  return !host.includes('.') || CLUSTER_SUFFIXES.some((suffix) => host.endsWith(suffix));
}

function matches(host: string, name: string): boolean {
  if (!name.startsWith('*.')) return host === name;
  const dot = host.indexOf('.');
  return dot > 0 && host.slice(dot) === name.slice(1);
}
