import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

interface Lease {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

const LEASES = /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/[^/]+\/leases(?:\/([^/?]+))?(?:\?|$)/;

/** A proxy of an API server that keeps Leases itself, any number of them: the fake cluster has only one. */
export function createLeaseProxy(upstreamUrl: string): Server {
  const upstream = new URL(upstreamUrl);
  const leases = new Map<string, Lease>();
  let version = 0;

  const store = (lease: Lease): Lease => {
    version += 1;
    const metadata = { uid: `uid-${version}`, ...lease.metadata, resourceVersion: String(version) };
    const stored = { ...lease, metadata };
    leases.set(metadata.name, stored);
    return stored;
  };

  const answer = async (incoming: IncomingMessage, name: string | undefined): Promise<[number, unknown]> => {
    const { method } = incoming;
    if (method === 'POST') return [201, store((await json(incoming)) as Lease)];
    if (name === undefined) {
      const items = [...leases.values()].filter(({ metadata }) => metadata.labels !== undefined);
      return [200, { kind: 'LeaseList', apiVersion: 'coordination.k8s.io/v1', metadata: {}, items }];
    }
    const known = leases.get(name);
    if (known === undefined) return [404, { kind: 'Status', reason: 'NotFound', code: 404 }];
    if (method === 'PUT') return [200, store((await json(incoming)) as Lease)];
    if (method === 'DELETE') leases.delete(name);
    return [200, known];
  };

  const forward = (incoming: IncomingMessage, response: ServerResponse): void => {
    const { method, url, headers } = incoming;
    const { hostname, port } = upstream;
    const outgoing = request({ hostname, port, method, path: url, headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  };

  return createServer((incoming, response) => {
    const match = LEASES.exec(incoming.url ?? '');
    if (match === null) {
      forward(incoming, response);
      return;
    }
    void answer(incoming, match[1]).then(([status, body]) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
}
