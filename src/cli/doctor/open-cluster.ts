import { findConnection } from '../../kubernetes/access/connection.js';
import { createDiscovery } from '../../kubernetes/discovery.js';
import { ConnectionError } from '../../kubernetes/access/kubeconfig.js';
import { SILENT_LOG } from '../../units/log.js';
import { createTransport } from '../../kubernetes/requests/transport.js';
import { connectionSettings } from '../reach/cluster-options.js';
import { ownObjects } from '../running/own-objects.js';
import { pluginRunner } from '../running/run-plugin.js';
import { VERSION } from '../version.js';
import { type Finding, findingsOf } from './finding.js';
import { CLUSTER_SUBJECT, type ClusterInquiry, type Inquiry } from './inquiry.js';

/** The ways to ask the cluster that the service config or the surroundings name, or the finding that there is none. */
export async function openCluster(
  inquiry: Inquiry & {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly home: string | null;
  },
): Promise<{ readonly inquiry: ClusterInquiry; readonly close: () => void } | Finding> {
  const { clock, config, env, home } = inquiry;
  try {
    const settings = connectionSettings(config);
    const runPlugin = pluginRunner(inquiry);
    const connection = await findConnection({ settings, env, home, clock, log: SILENT_LOG, runPlugin });
    let seen: ReturnType<ClusterInquiry['serverDate']> = null;
    const transport = createTransport({
      connection,
      clock,
      userAgent: `promscaler/${VERSION}`,
      onServerDate: (text) => (seen = { text, at: clock.now() }),
    });
    const opened = {
      ...inquiry,
      transport,
      connection,
      own: ownObjects(config, env, connection),
      discovery: createDiscovery(transport, clock),
      serverDate: () => seen,
    };
    return { inquiry: opened, close: transport.close };
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return findingsOf('cluster', CLUSTER_SUBJECT).failed(
      error.message,
      'export KUBECONFIG=FILE, or --kubeconfig FILE, or kubernetes.kubeconfig, context or url in the service config; in a pod, a service account',
    );
  }
}
