import type { Field } from '../scaler/fields.js';
import { SERVICE_DEFAULTS } from './service-config.js';

const SOURCE = 'prometheus.NAME';

/** Every field of the service config. A test holds it against the schema and against config/README.md. */
export const SERVICE_FIELDS: readonly Field[] = [
  row(
    `${SOURCE}.urls`,
    'list',
    `[${SERVICE_DEFAULTS.url}]`,
    'http or https',
    'Where it is; several are tried in order, the next one when one fails.',
  ),
  row(
    `${SOURCE}.flavor`,
    'text',
    SERVICE_DEFAULTS.flavor,
    'prometheus, thanos, mimir, victoriametrics',
    'Which server it is: sets the safety parameters of its own.',
  ),
  row(
    `${SOURCE}.timeoutSeconds`,
    'integer',
    SERVICE_DEFAULTS.timeoutSeconds,
    '1 to 300',
    'The longest a query may take over all urls; half a sync period is the other bound.',
  ),
  row(
    `${SOURCE}.maxConcurrentQueries`,
    'integer',
    SERVICE_DEFAULTS.maxConcurrentQueries,
    '1 to 1000',
    'How many queries are under way at once.',
  ),
  row(
    `${SOURCE}.scrapeIntervalSeconds`,
    'integer',
    SERVICE_DEFAULTS.scrapeIntervalSeconds,
    '1 to 3600',
    'How old a resource sample may be when it is asked for.',
  ),
  row(`${SOURCE}.headers`, 'mapping', '{}', 'text to text', 'Sent with each query.'),
  row(`${SOURCE}.bearerTokenFile`, 'file', '', '', 'Holds the bearer token; read again when it changes.'),
  row(`${SOURCE}.basicAuth.username`, 'text', '', '', 'The user of basic authentication.'),
  row(`${SOURCE}.basicAuth.passwordFile`, 'file', '', '', 'Holds the password; read again when it changes.'),
  row(
    `${SOURCE}.tls.caFile`,
    'file',
    "the system's",
    '',
    'The certificates of the authorities that are trusted.',
  ),
  row(`${SOURCE}.tls.certFile`, 'file', '', 'with keyFile', 'The certificate that promscaler shows.'),
  row(`${SOURCE}.tls.keyFile`, 'file', '', 'with certFile', 'Its key.'),
  row(
    `${SOURCE}.tls.serverName`,
    'text',
    "the url's",
    '',
    "The name that the server's certificate must bear.",
  ),
  row(`${SOURCE}.tls.insecureSkipVerify`, 'boolean', 'false', '', 'Take any certificate: for trials alone.'),
  row(
    `${SOURCE}.resourceWindowSeconds`,
    'integer',
    SERVICE_DEFAULTS.resourceWindowSeconds,
    '1 to 86400, at least four scrapes',
    'The window of the rates in resource queries: $window; with scrapes of more than 30 s four of them are the default.',
  ),
  row(
    `${SOURCE}.resourceQueries.cpu`,
    'PromQL',
    'cAdvisor',
    '$namespaces, $window',
    'Cores by namespace, pod and container.',
  ),
  row(
    `${SOURCE}.resourceQueries.memory`,
    'PromQL',
    'cAdvisor',
    '$namespaces, $window',
    'Bytes by namespace, pod and container.',
  ),
  row(`${SOURCE}.namespaces`, 'list', '[]', 'namespaces', 'Whose documents may ask it; empty: all.'),
  row(
    'recoveryHoldMaxSeconds',
    'integer',
    SERVICE_DEFAULTS.recoveryHoldMaxSeconds,
    '0 to 86400',
    'The longest that scale-down is held after metrics came back.',
  ),
  row(
    'kubernetes.namespaces',
    'list',
    '[]',
    'namespaces',
    'The only ones that are watched; documents for others are problems; empty: all.',
  ),
  row(
    'kubernetes.kubeconfig',
    'file',
    'in the cluster, else $KUBECONFIG, else ~/.kube/config',
    '',
    'How the cluster is reached.',
  ),
  row('kubernetes.context', 'text', 'the current one', '', 'The context of the kubeconfig.'),
  row('kubernetes.url', 'text', '', 'http or https', 'An API server that asks for no credentials.'),
  row(
    'scalers.paths',
    'list',
    `[${SERVICE_DEFAULTS.scalersPath}]`,
    'files and folders',
    'Where the scaler documents are, relative to this file; changes are picked up while running.',
  ),
  row(
    'server.port',
    'integer',
    SERVICE_DEFAULTS.port,
    '0 to 65535',
    'Where probes, metrics, API and page are served; 0: any free port.',
  ),
  row('leaderElection.enabled', 'boolean', 'false', 'false', 'Not built in this version: run one replica.'),
  row(
    'defaults',
    'mapping',
    '{}',
    'any spec field',
    'Merged into the spec of every document: mappings key by key, lists and scalars of the document win.',
  ),
  row(
    'log.level',
    'text',
    SERVICE_DEFAULTS.logLevel,
    'debug, info, warn, error',
    'The least that is logged.',
  ),
  row(
    'log.format',
    'text',
    SERVICE_DEFAULTS.logFormat,
    'json, text',
    'One JSON object a line, or text for people.',
  ),
];

function row(
  ...[path, type, byDefault, range, text]: readonly [string, string, string | number, string, string]
): Field {
  return { path, type, default: String(byDefault), range, text };
}
