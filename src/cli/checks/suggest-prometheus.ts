import { orNull } from '../../kubernetes/api/types.js';
import { countIn, type JsonObject, objectIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import type { CheckResult } from './check-result.js';
import type { ClusterContext } from './context.js';
import { listSome } from '../../units/format.js';

/**
 * `QUERY_SERVICES` matches names of Services that answer queries, `OTHER_SERVICES` names of Services of other
 * components.
 */
const QUERY_SERVICES =
  /prometheus|thanos-quer|vmselect|vmsingle|victoria-metrics-single|mimir-(?:query-frontend|gateway|nginx)/i;
const OTHER_SERVICES =
  /alertmanager|exporter|operator|adapter|pushgateway|node|state-metrics|kubelet|coredns|etcd|scheduler|grafana/i;

/**
 * Adds the addresses of Services that look like Prometheus to the fix of each unreachable data source. If there are
 * none, or listing them is forbidden, returns the results unchanged.
 */
export async function suggestPrometheus(
  results: readonly CheckResult[],
  context: ClusterContext,
): Promise<readonly CheckResult[]> {
  const isUnreachable = ({ check, status }: CheckResult): boolean =>
    check === 'prometheus' && status === 'failed';
  if (!results.some(isUnreachable)) return results;
  const addresses = await findServices(context);
  if (addresses.length === 0) return results;
  const hint = `. These Services of the cluster may be a Prometheus: ${listSome(addresses, 3)}`;
  return results.map((one) => (isUnreachable(one) ? { ...one, fix: `${one.fix ?? ''}${hint}` } : one));
}

async function findServices({ transport, signal }: ClusterContext): Promise<readonly string[]> {
  const scope = resourceScope('/api/v1', 'services', null);
  const listed = await orNull(() => listAll({ transport, scope, convert: addressOf, signal }));
  // A Service with a cluster IP comes first: prometheus-operator also creates a headless Service for the same pods.
  const found = [...(listed?.items ?? [])].sort((a, b) => Number(a.isHeadless) - Number(b.isHeadless));
  return found.map(({ address }) => address);
}

function addressOf(object: JsonObject): { readonly address: string; readonly isHeadless: boolean } | null {
  const metadata = objectIn(object, 'metadata');
  const name = textIn(metadata, 'name') ?? '';
  const namespace = textIn(metadata, 'namespace') ?? '';
  if (!QUERY_SERVICES.test(name) || OTHER_SERVICES.test(name)) return null;
  const spec = objectIn(object, 'spec');
  const ports = objectsIn(spec, 'ports').flatMap((port) => countIn(port, 'port') ?? []);
  const port = ports.find((one) => [9090, 80, 8481, 8428, 8080].includes(one)) ?? ports[0];
  if (port === undefined) return null;
  const isHeadless = textIn(spec, 'clusterIP') === 'None';
  return { address: `http://${name}.${namespace}${port === 80 ? '' : `:${port}`}`, isHeadless };
}
