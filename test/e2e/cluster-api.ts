import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { kubectlFile } from '../support/kubectl.js';
import { METRICS_API_SERVICE } from './metrics-api.js';
import { ReplicaHistory } from './replica-history.js';
import type { GivenCluster } from './waiting.js';
import { waitFor } from './waiting.js';

/** The API of a real cluster, restricted to one namespace and the APIService of the metrics API. */
export interface ClusterApi {
  /** Sends a request to a path below the namespace; returns the body. Throws with the code and the body from 400 on. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<unknown>;
  /** Records the changes of a Deployment's replicas from now on, until the API is closed. */
  readonly recordReplicas: (name: string) => ReplicaHistory;
  readonly close: () => Promise<void>;
}

const DEADLINE_MS = 20_000;
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

/**
 * Opens the API through `kubectl proxy`, which supports every login method. It listens on a socket in `directory` and
 * admits only the namespace: no other user of this machine can access the cluster with it.
 */
export async function openClusterApi(cluster: GivenCluster, directory: string): Promise<ClusterApi> {
  const { kubeconfig, namespace } = cluster;
  const socketPath = join(directory, 's');
  const groups = 'api/v1|apis/apps/v1|apis/autoscaling/v2|apis/coordination.k8s.io/v1';
  const paths = `^/(${groups})/namespaces/${namespace}/,^${API_SERVICES}(/${METRICS_API_SERVICE})?$`;
  // A cluster behind a gateway has a path in its address, which kubectl proxy drops by default.
  const options = ['--append-server-path', '--unix-socket', socketPath, '--accept-paths', paths];
  const args = ['proxy', '--kubeconfig', kubeconfig, ...options];
  const proxy = spawn(await kubectlFile(), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [proxy.stdout, proxy.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  await waitFor(
    () => {
      if (proxy.exitCode !== null) throw new Error(`kubectl proxy ended: ${output}`);
      return output.includes('Starting to serve');
    },
    { what: 'kubectl proxy to serve', seconds: 20 },
  );
  const closed = new AbortController();
  const inNamespace = (path: string): string => `${groupOf(path)}/namespaces/${namespace}${path}`;
  return {
    send: (method, path, body) => {
      const full = path.startsWith(API_SERVICES) ? path : inNamespace(path);
      return exchange(socketPath, { method, path: full, body });
    },
    recordReplicas: (name) => {
      const path = `${inNamespace('/deployments')}?watch=true&fieldSelector=metadata.name%3D${name}`;
      return new ReplicaHistory(socketPath, path, closed.signal);
    },
    close: async () => {
      closed.abort();
      if (proxy.exitCode !== null || proxy.signalCode !== null) return;
      proxy.kill('SIGKILL');
      await once(proxy, 'exit');
    },
  };
}

const GROUPS: Readonly<Record<string, string>> = {
  deployments: '/apis/apps/v1',
  horizontalpodautoscalers: '/apis/autoscaling/v2',
  leases: '/apis/coordination.k8s.io/v1',
};

/** The API group of a resource, by the first segment of its path. */
function groupOf(path: string): string {
  return GROUPS[path.split('/')[1] ?? ''] ?? '/api/v1';
}

async function exchange(
  socketPath: string,
  call: { readonly method: string; readonly path: string; readonly body: unknown },
): Promise<unknown> {
  const { method, path, body } = call;
  const sent = request({
    socketPath,
    method,
    path,
    headers: { host: 'localhost', 'content-type': 'application/json' },
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const answer = await text(response);
  const code = response.statusCode ?? 0;
  if (code >= 400) throw new Error(`${method} ${path} was answered with ${code}: ${answer}`);
  return JSON.parse(answer);
}
