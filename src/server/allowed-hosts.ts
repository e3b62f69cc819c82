import { isIP } from 'node:net';
import type { RequestHandler } from 'express';

export interface HostCheckOptions {
  /** Names of the service config; `*.example.com` stands for one label in the place of the star. */
  readonly allowed: readonly string[];
  /** The names in the certificate of the API server, whose service proxy hands on the name that it was asked by. */
  readonly apiServerNames: () => readonly string[];
}

/** Which of them nobody outside can own: in a cluster these names lead to its Services alone. */
const CLUSTER_SUFFIXES = ['.svc', '.svc.cluster.local', '.localhost'] as const;

/**
 * Answers 421 where a request names a host that is none of ours. A web page can have a name of its own resolve to the
 * address of the service, and then read it as its own site (DNS rebinding); it cannot choose what the browser sends as
 * Host. Addresses, single labels (Services, localhost), names of Services with `.svc` and of the API server pass.
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
  'the service does not answer to this host name (Host header): add the name to server.allowedHosts of the service config';

/** Without port and brackets, in lower case, without the dot of a name that is written out. */
function hostName(header: string): string {
  const name = header.startsWith('[')
    ? header.slice(1).replace(/\](?::\d*)?$/, '')
    : header.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}

/** A request without a name is of no browser. */
function isOwnName(host: string): boolean {
  if (host === '' || isIP(host) !== 0) return true;
  return !host.includes('.') || CLUSTER_SUFFIXES.some((suffix) => host.endsWith(suffix));
}

function matches(host: string, name: string): boolean {
  if (!name.startsWith('*.')) return host === name;
  const dot = host.indexOf('.');
  return dot > 0 && host.slice(dot) === name.slice(1);
}
