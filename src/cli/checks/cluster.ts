import { type JsonObject, objectIn, textIn, textsIn } from '../../kubernetes/api/json.js';
import { KubernetesError, orNull } from '../../kubernetes/api/types.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { CLUSTER_SUBJECT, type ClusterContext, REQUEST_MS, type DoctorContext } from './context.js';
import { findConnection } from '../../kubernetes/access/connection.js';
import { createDiscovery } from '../../kubernetes/discovery.js';
import { ConnectionError } from '../../kubernetes/access/kubeconfig.js';
import { SILENT_LOG } from '../../units/log.js';
import { createTransport } from '../../kubernetes/requests/transport.js';
import { connectionSettings, connectionAccess } from '../reach/cluster-options.js';
import { ownObjects } from '../../service/own-objects.js';
import { VERSION } from '../output/version.js';

/** The minor version of Kubernetes 1.23, the first version with autoscaling/v2. HPAs are listed in this API version. */
const LEAST_MINOR = 23;

export async function checkCluster(context: ClusterContext): Promise<CheckResult> {
  const make = resultsOf('cluster', CLUSTER_SUBJECT);
  const { transport, connection, signal } = context;
  try {
    const answer = await transport.request({
      lane: 'read',
      path: '/version',
      doing: 'reading the version of the API server',
      verb: 'get',
      resource: 'version',
      deadlineMs: REQUEST_MS,
      signal,
    });
    const version = textIn(answer, 'gitVersion') ?? 'of unknown version';
    const minor = Number.parseInt(textIn(answer, 'minor') ?? '', 10);
    if (minor < LEAST_MINOR)
      return make.warning(
        `Kubernetes ${version} is older than 1.${LEAST_MINOR}, the first version with autoscaling/v2`,
        'upgrade the cluster; until then promscaler cannot detect HPAs on the same target',
      );
    return make.ok(`Kubernetes ${version} (${connection.source})`);
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    return make.failed(`${connection.url}: ${error.message}`, fixFor(error));
  }
}

function fixFor({ kind, message }: KubernetesError): string {
  switch (kind) {
    case 'unauthorized':
      return 'the API server rejected the credentials: log in again until `kubectl get ns` works; in a pod, check automountServiceAccountToken';
    case 'forbidden':
      return 'the account cannot get /version: bind it to the ClusterRole system:discovery';
    case 'timeout':
      return 'check for a NetworkPolicy or firewall that drops packets between this machine and the API server';
    case 'connection':
      // A failed DNS lookup is excluded, because its message quotes the host name, which may contain these words.
      return !/ENOTFOUND|EAI_AGAIN/.test(message) && /certificate|CERT/i.test(message)
        ? 'add the CA of the cluster to the kubeconfig (certificate-authority-data)'
        : 'check that the address is the API server of a running cluster: `kubectl cluster-info`; kubernetes.kubeconfig, kubernetes.context or kubernetes.url in the service config select another cluster';
    case 'bad_answer':
    case 'not_found':
      return 'the server at this address is not an API server: check kubernetes.url, or `server` in the kubeconfig';
    default:
      return 'try again; if the error persists, check the log of the API server';
  }
}

/**
 * Finds the connection to the cluster, in the service config, the kubeconfig or the service account of the pod. Sends
 * no request. The caller closes `transport`. If there is no connection, returns the failed result of the check
 * `cluster`.
 */
export async function openCluster(context: DoctorContext): Promise<ClusterContext | CheckResult> {
  const { clock, config, env } = context;
  try {
    const connection = await findConnection({
      settings: connectionSettings(config),
      prefersKubeconfig: true,
      log: SILENT_LOG,
      ...connectionAccess(context),
    });
    let seen: ReturnType<ClusterContext['serverDate']> = null;
    const transport = createTransport({
      connection,
      clock,
      userAgent: `promscaler/${VERSION}`,
      onServerDate: (text) => (seen = { text, at: clock.now() }),
    });
    const namespaces = new Map<string, Promise<JsonObject | null>>();
    const readNamespace = (name: string): Promise<JsonObject | null> =>
      orNull(() =>
        transport.request({
          lane: 'read',
          path: `/api/v1/namespaces/${name}`,
          doing: `reading namespace ${name}`,
          verb: 'get',
          resource: 'namespaces',
          deadlineMs: REQUEST_MS,
          signal: context.signal,
        }),
      );
    const annotationsOf: ClusterContext['annotationsOf'] = async (name) => {
      const known = namespaces.get(name) ?? readNamespace(name);
      namespaces.set(name, known);
      return textsIn(objectIn(await known, 'metadata'), 'annotations');
    };
    return {
      ...context,
      annotationsOf,
      transport,
      connection,
      own: ownObjects(config, env, connection),
      discovery: createDiscovery(transport, clock),
      serverDate: () => seen,
    };
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return resultsOf('cluster', CLUSTER_SUBJECT).failed(
      error.message,
      'set KUBECONFIG=FILE, --kubeconfig FILE, or kubernetes.kubeconfig, kubernetes.context or kubernetes.url in the service config; in a pod, mount the token of a service account',
    );
  }
}
