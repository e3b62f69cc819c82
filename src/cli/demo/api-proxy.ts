import { Agent, createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, shut } from '../../simulator/sockets.js';
import { DEMO_NAMESPACE, DEMO_SERVICE } from './workloads.js';

export interface ApiProxy {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const PROXY = new RegExp(
  `^/api/v1/namespaces/${DEMO_NAMESPACE}/services/(?:http:)?${DEMO_SERVICE}(?::\\w+)?/proxy(/.*)?$`,
);

/**
 * Starts a server that forwards requests for the Service of promscaler to `serviceUrl` and all others to `apiUrl`, like
 * the service proxy of a real API server. One kubeconfig then reaches both.
 */
export async function startApiProxy(apiUrl: string, serviceUrl: string): Promise<ApiProxy> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '/';
    const proxied = PROXY.exec(path);
    const target = proxied === null ? new URL(apiUrl) : new URL(serviceUrl);
    forward(incoming, response, { target, path: proxied === null ? path : (proxied[1] ?? '/'), agent });
  });
  const url = await listen(server, 0);
  return {
    url,
    close: async () => {
      await shut(server);
      agent.destroy();
    },
  };
}

function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  { target, path, agent }: { readonly target: URL; readonly path: string; readonly agent: Agent },
): void {
  const { hostname, port, host } = target;
  const { method, headers } = incoming;
  const outgoing = request(
    { agent, hostname, port, method, path, headers: { ...headers, host } },
    (answer) => {
      response.writeHead(answer.statusCode ?? BAD_GATEWAY, answer.headers);
      // The headers of a watch must not wait for its first event.
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    },
  );
  outgoing.on('error', () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(BAD_GATEWAY).end();
  });
  // If the client closes a watch, close it at the API server as well.
  response.on('close', () => outgoing.destroy());
  incoming.on('error', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

const BAD_GATEWAY = 502;
