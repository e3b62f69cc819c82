import { textIn } from '../../../kubernetes/json.js';
import { KubernetesError } from '../../../kubernetes/types.js';
import { type Finding, findingsOf } from '../finding.js';
import { CLUSTER_SUBJECT, type ClusterInquiry, REQUEST_MS } from '../inquiry.js';

/** The first version with autoscaling/v2, which HPAs are listed by, and the last-but-many that anybody runs. */
const LEAST_MINOR = 23;

/** Whether the API server answers us, and which version it is. */
export async function checkCluster(inquiry: ClusterInquiry): Promise<readonly Finding[]> {
  const make = findingsOf('cluster', CLUSTER_SUBJECT);
  const { transport, connection, signal } = inquiry;
  try {
    const answer = await transport.request({
      lane: 'read',
      method: 'GET',
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
      return [
        make.warning(
          `Kubernetes ${version} is older than 1.${LEAST_MINOR}, the first with autoscaling/v2`,
          `upgrade the cluster; until then other autoscalers are not seen`,
        ),
      ];
    return [make.ok(`Kubernetes ${version} (${connection.source})`)];
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    return [make.failed(`${connection.url}: ${error.message}`, mendOf(error))];
  }
}

function mendOf({ kind, message }: KubernetesError): string {
  switch (kind) {
    case 'unauthorized':
      return 'the credentials are refused: log in anew (`kubectl get ns` must work), or, in a pod, look at automountServiceAccountToken';
    case 'forbidden':
      return 'the account may not even read /version: bind it to the role system:discovery';
    case 'timeout':
      return 'the packets are lost on the way: look for a NetworkPolicy or firewall between here and the API server';
    case 'connection':
      // The message of a failed lookup names the host.
      return !/ENOTFOUND|EAI_AGAIN/.test(message) && /certificate|CERT/i.test(message)
        ? 'put the CA of the cluster into the kubeconfig (certificate-authority-data)'
        : 'look whether that address is the API server of a running cluster: `kubectl cluster-info`; kubernetes.kubeconfig, context and url of the service config name another one';
    case 'bad_answer':
    case 'not_found':
      return 'that address is no API server: look at kubernetes.url, or `server` in the kubeconfig';
    default:
      return 'try again; where it stays, look at the log of the API server';
  }
}
