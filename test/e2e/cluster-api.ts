import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { kubectlFile } from '../support/kubectl.js';
import type { GivenCluster } from './waiting.js';
import { waitFor } from './waiting.js';

/** The API of a real cluster, as far as one namespace goes. */
export interface ClusterApi {
  /** Sends a request to a path below the namespace; gives the body. Throws with the code and the body from 400 on. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const DEADLINE_MS = 20_000;

/**
 * Opens the API through `kubectl proxy`, which knows every way to log in. It listens on a socket in `folder` and lets
 * nothing through but the namespace: nobody else on this machine gets at the cluster by it.
 */
export async function openClusterApi(cluster: GivenCluster, folder: string): Promise<ClusterApi> {
  const { kubeconfig, namespace } = cluster;
  const socketPath = join(folder, 's');
  const paths = `^/(api/v1|apis/apps/v1|apis/autoscaling/v2)/namespaces/${namespace}/`;
  // A cluster behind a gateway has a path in its address, which kubectl proxy drops unless told otherwise.
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
  return {
    send: (method, path, body) => {
      const [group = '', rest = ''] = splitGroup(path);
      return exchange(socketPath, { method, path: `${group}/namespaces/${namespace}${rest}`, body });
    },
    close: async () => {
      if (proxy.exitCode !== null || proxy.signalCode !== null) return;
      proxy.kill('SIGKILL');
      await once(proxy, 'exit');
    },
  };
}

/** `/deployments...` is of apps/v1, the HPA of its own group, everything else of the core group. */
function splitGroup(path: string): readonly string[] {
  if (path.startsWith('/horizontalpodautoscalers')) return ['/apis/autoscaling/v2', path];
  return [path.startsWith('/deployments') ? '/apis/apps/v1' : '/api/v1', path];
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
