import { SERVICE_DEFAULTS, resolveServiceConfig } from '../../config/service-config.js';
import { DOCUMENT_FIELDS } from './document-fields.js';
import type { FieldTable } from './field-text.js';
import { SIGN_IN_FIELDS } from './sign-in-fields.js';

const { prometheus } = resolveServiceConfig({}, null);
const RESOURCE_QUERIES = prometheus['default']?.resourceQueries ?? {};

const SOURCE_FIELDS: FieldTable = {
  'prometheus.NAME.urls': {
    description: 'Servers with the same data, tried in order: the next one when one fails.',
    default: [SERVICE_DEFAULTS.url],
  },
  'prometheus.NAME.flavor': {
    description:
      'The kind of server: sets the parameters that keep partial answers apart, and the default cpu query. Unset, VictoriaMetrics is recognized by its answers.',
    default: SERVICE_DEFAULTS.flavor,
  },
  'prometheus.NAME.timeoutSeconds': {
    description: 'The deadline of one query.',
    default: SERVICE_DEFAULTS.timeoutSeconds,
  },
  'prometheus.NAME.maxConcurrentQueries': {
    description: 'Queries that are under way at once.',
    default: SERVICE_DEFAULTS.maxConcurrentQueries,
  },
  'prometheus.NAME.scrapeIntervalSeconds': {
    description: 'How often the server scrapes: how old a resource sample may be when it is asked for.',
    default: SERVICE_DEFAULTS.scrapeIntervalSeconds,
  },
  'prometheus.NAME.headers': { description: 'Headers of each query, such as X-Scope-OrgID.', default: {} },
  'prometheus.NAME.bearerTokenFile': {
    description: 'A file with a token; it is read again when it changes.',
  },
  'prometheus.NAME.basicAuth': { description: 'User and password.' },
  'prometheus.NAME.basicAuth.username': { description: 'The user.' },
  'prometheus.NAME.basicAuth.passwordFile': {
    description: 'A file with the password; it is read again when it changes.',
  },
  ...SIGN_IN_FIELDS,
  'prometheus.NAME.tls': { description: 'How the server is trusted, and who we are.' },
  'prometheus.NAME.tls.caFile': {
    description: 'Certificates of the authorities that are trusted. Left out: those of the system.',
  },
  'prometheus.NAME.tls.certFile': { description: 'Our certificate, together with keyFile.' },
  'prometheus.NAME.tls.keyFile': { description: 'Its key, together with certFile.' },
  'prometheus.NAME.tls.serverName': {
    description: "The name that the server's certificate must have. Left out: that of the URL.",
  },
  'prometheus.NAME.tls.insecureSkipVerify': {
    description: 'Takes any certificate: whoever is on the way can make up the metrics.',
    default: false,
  },
  'prometheus.NAME.resourceWindowSeconds': {
    description: `The window of resource queries, at least four scrapes. Left out: four scrapes, and not below ${SERVICE_DEFAULTS.resourceWindowSeconds}.`,
    default: SERVICE_DEFAULTS.resourceWindowSeconds,
  },
  'prometheus.NAME.resourceQueries': {
    description: 'The queries of Resource and ContainerResource metrics, with $namespaces and $window.',
  },
  'prometheus.NAME.resourceQueries.cpu': {
    description: 'Cores by namespace, pod and container. VictoriaMetrics has a default of its own.',
    default: RESOURCE_QUERIES['cpu'],
  },
  'prometheus.NAME.resourceQueries.memory': {
    description: 'Bytes by namespace, pod and container.',
    default: RESOURCE_QUERIES['memory'],
  },
  'prometheus.NAME.resourceWindows': {
    description: 'The windows of resource queries without $window, in seconds, such as of a recording rule.',
  },
  'prometheus.NAME.resourceWindows.cpu': {
    description: 'The window of the cpu query. Default: the largest range in the query.',
  },
  'prometheus.NAME.resourceWindows.memory': {
    description: 'The window of the memory query. Default: the largest range in the query.',
  },
  'prometheus.NAME.namespaces': {
    description: 'The namespaces whose documents may ask it; empty: all.',
    default: [],
  },
};

/** Every field of the service config. */
export const SERVICE_FIELDS: FieldTable = {
  prometheus: { description: 'Data sources by name; default is asked where a metric names none.' },
  'prometheus.NAME': { description: 'One data source.' },
  ...SOURCE_FIELDS,
  recoveryHoldMaxSeconds: {
    description: 'The longest that scale-down is held after metrics came back.',
    default: SERVICE_DEFAULTS.recoveryHoldMaxSeconds,
  },
  kubernetes: {
    description:
      'How the cluster is reached. Left out: the service account of the pod, else $KUBECONFIG, else ~/.kube/config.',
  },
  'kubernetes.namespaces': {
    description:
      'The only namespaces that are watched and scaled; documents of others are refused; empty: all.',
    default: [],
  },
  'kubernetes.kubeconfig': { description: 'A kubeconfig file, relative to this one.' },
  'kubernetes.context': { description: 'A context of the kubeconfig. Left out: its current one.' },
  'kubernetes.url': { description: 'The URL of the API server, without credentials.' },
  scalers: { description: 'Where the documents are.' },
  'scalers.paths': {
    description: 'Files and folders, relative to this file; changes are picked up while running.',
    default: [SERVICE_DEFAULTS.scalersPath],
  },
  'scalers.customResources': {
    description:
      'Whether documents are also taken from the cluster, as objects of kind Scaler; the CRD must be installed.',
    default: SERVICE_DEFAULTS.customResources,
  },
  server: { description: 'Our own server: probes, metrics, API.' },
  'server.host': {
    description:
      'The IP address that it listens on. Left out: all addresses in a pod, 127.0.0.1 elsewhere; 0.0.0.0 and :: are all addresses.',
  },
  'server.port': { description: 'Its port; 0: any free one.', default: SERVICE_DEFAULTS.port },
  'server.allowedHosts': {
    description:
      'Further host names by which it may be asked, as of an Ingress; `*.example.com` stands for any one label. Addresses, names without a dot, names of Services that end in .svc or .svc.cluster.local and the names of the API server are always allowed; other names are answered by 421.',
    default: [],
  },
  state: { description: 'What must outlive a restart: last changes, windows, changes under way.' },
  'state.enabled': {
    description:
      'Keep it in the ConfigMaps promscaler-state-00 to -15 of our own namespace. Left out: true in a pod, else false, and after a restart all windows begin anew.',
  },
  leaderElection: {
    description:
      'Which of several replicas does the work: the one that holds the Lease `promscaler` in the namespace of the service.',
  },
  'leaderElection.enabled': {
    description: 'Left out: true in a cluster, false outside. false is for one replica alone.',
  },
  'leaderElection.leaseDurationSeconds': {
    description: 'How long the others wait for a leader of whom they hear nothing.',
    default: SERVICE_DEFAULTS.leaseDurationSeconds,
  },
  'leaderElection.renewDeadlineSeconds': {
    description: 'How long a leader that cannot renew the Lease goes on; below leaseDurationSeconds.',
    default: SERVICE_DEFAULTS.renewDeadlineSeconds,
  },
  'leaderElection.retryPeriodSeconds': {
    description: 'How often it renews, and the others look; 1.2 times as much is below renewDeadlineSeconds.',
    default: SERVICE_DEFAULTS.retryPeriodSeconds,
  },
  defaults: { description: 'Any field of spec, for all documents. What a document writes wins, key by key.' },
  ...defaultsFields(),
  log: { description: 'The log on standard output.' },
  'log.level': { description: 'The least level that is written.', default: SERVICE_DEFAULTS.logLevel },
  'log.format': { description: 'JSON lines, or text for a person.', default: SERVICE_DEFAULTS.logFormat },
};

/** `defaults` has no defaults of its own. */
function defaultsFields(): FieldTable {
  const fields = Object.entries(DOCUMENT_FIELDS).filter(([path]) => path.startsWith('spec.'));
  return Object.fromEntries(
    fields.map(([path, { description }]) => [path.replace(/^spec\./, 'defaults.'), { description }]),
  );
}
