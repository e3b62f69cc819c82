import { countIn, type JsonObject, objectIn, objectsIn, textIn } from '../../kubernetes/json.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import type { Finding } from './finding.js';
import { type ClusterInquiry, listSome } from './inquiry.js';
import { orNull } from './or-error.js';

/** Names of Services in front of what answers queries; not of exporters, operators and the like. */
const NAMES =
  /prometheus|thanos-quer|vmselect|vmsingle|victoria-metrics-single|mimir-(?:query-frontend|gateway|nginx)/i;
const OTHERS =
  /alertmanager|exporter|operator|adapter|pushgateway|node|state-metrics|kubelet|coredns|etcd|scheduler|grafana/i;

/**
 * The findings on data sources that are not reachable, with the Services of the cluster that look like a Prometheus.
 * Unchanged where none does, or Services may not be listed.
 */
export async function suggestPrometheus(
  findings: readonly Finding[],
  inquiry: ClusterInquiry,
): Promise<readonly Finding[]> {
  const isLost = ({ check, status }: Finding): boolean => check === 'prometheus' && status === 'failed';
  if (!findings.some(isLost)) return findings;
  const addresses = await findServices(inquiry);
  if (addresses.length === 0) return findings;
  const hint = `. Services of this cluster that look like one: ${listSome(addresses, 3)}`;
  return findings.map((one) => (isLost(one) ? { ...one, mend: `${one.mend ?? ''}${hint}` } : one));
}

async function findServices({ transport, signal }: ClusterInquiry): Promise<readonly string[]> {
  const scope = resourceScope('/api/v1', 'services', null);
  const listed = await orNull(() => listAll({ transport, scope, convert: addressOf, signal }));
  // A Service without an address of its own is the second one of an operator, beside one that has it.
  const found = [...(listed?.items ?? [])].sort((a, b) => Number(a.isHeadless) - Number(b.isHeadless));
  return found.map(({ address }) => address);
}

function addressOf(object: JsonObject): { readonly address: string; readonly isHeadless: boolean } | null {
  const metadata = objectIn(object, 'metadata');
  const name = textIn(metadata, 'name') ?? '';
  const namespace = textIn(metadata, 'namespace') ?? '';
  if (!NAMES.test(name) || OTHERS.test(name)) return null;
  const spec = objectIn(object, 'spec');
  const ports = objectsIn(spec, 'ports').flatMap((port) => countIn(port, 'port') ?? []);
  const port = ports.find((one) => [9090, 80, 8481, 8428, 8080].includes(one)) ?? ports[0];
  if (port === undefined) return null;
  const isHeadless = textIn(spec, 'clusterIP') === 'None';
  return { address: `http://${name}.${namespace}${port === 80 ? '' : `:${port}`}`, isHeadless };
}
