import { findConnection } from '../../kubernetes/access/connection.js';
import { createDiscovery } from '../../kubernetes/discovery.js';
import { ConnectionError } from '../../kubernetes/access/kubeconfig.js';
import { SILENT_LOG } from '../../units/log.js';
import { createTransport } from '../../kubernetes/requests/transport.js';
import { connectionSettings } from '../reach/cluster-options.js';
import { ownObjects } from '../../service/own-objects.js';
import { pluginRunner } from '../reach/run-plugin.js';
import { VERSION } from '../output/version.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { CLUSTER_SUBJECT, type ClusterContext, type DoctorContext } from './context.js';

/**
 * Finds the connection to the cluster, in the service config, the kubeconfig or the service account of the pod. Sends
 * no request. If there is no connection, returns the failed result of the check `cluster`.
 */
export async function openCluster(
  context: DoctorContext & {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly home: string | null;
  },
): Promise<{ readonly context: ClusterContext; readonly close: () => void } | CheckResult> {
  const { clock, config, env, home } = context;
  try {
    const settings = connectionSettings(config);
    const runPlugin = pluginRunner(context);
    const connection = await findConnection({
      settings,
      prefersKubeconfig: true,
      env,
      home,
      clock,
      log: SILENT_LOG,
      runPlugin,
    });
    let seen: ReturnType<ClusterContext['serverDate']> = null;
    const transport = createTransport({
      connection,
      clock,
      userAgent: `promscaler/${VERSION}`,
      onServerDate: (text) => (seen = { text, at: clock.now() }),
    });
    const opened = {
      ...context,
      transport,
      connection,
      own: ownObjects(config, env, connection),
      discovery: createDiscovery(transport, clock),
      serverDate: () => seen,
    };
    return { context: opened, close: transport.close };
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return resultsOf('cluster', CLUSTER_SUBJECT).failed(
      error.message,
      'set KUBECONFIG=FILE, --kubeconfig FILE, or kubernetes.kubeconfig, kubernetes.context or kubernetes.url in the service config; in a pod, mount the token of a service account',
    );
  }
}
