import { podsAt } from '../../decision/missing-data.js';
import { classifyAnswer } from '../../prometheus/answers/classify.js';
import type { HttpReply } from '../../prometheus/client/request.js';
import { QUERY_PATH } from '../../prometheus/client/url-client.js';
import { type Failure, mayBeDown } from '../../units/failure.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { engineOfBuild } from '../../prometheus/client/engine.js';
import { withoutTrailingSlashes } from '../../http/http-client.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { type SourceContext, sourceSubject } from './context.js';

const TIME_QUERY = { parameters: { query: 'time()' } };

/** Checks that each URL serves the Prometheus API. If a URL serves anything else, reports what it serves. */
export async function checkPrometheus(context: SourceContext): Promise<readonly CheckResult[]> {
  const { source } = context;
  return Promise.all(source.urls.map((url) => checkUrl(context, url)));
}

/** Warns if a data source has neither a start time nor `up`, because the service cannot detect lost data then. */
export async function checkHistory({
  source,
  runQuery,
  startTime,
}: SourceContext): Promise<readonly CheckResult[]> {
  if ((await startTime()) !== null) return [];
  const answer = await runQuery('count(up)');
  const isAnswered = answer.class === 'missing' || answer.class === 'value';
  if (!isAnswered || (answer.class === 'value' && answer.series.length > 0)) return [];
  const make = resultsOf('prometheus', sourceSubject(source));
  return [
    make.warning(
      'the data source has no series `up` and reports no start time, so promscaler cannot detect a loss of data. After a loss, values are too low and can cause a scale-down',
      'keep the series `up`: in write_relabel_configs of remote_write, in match[] of a federation, or in the stores of a querier',
    ),
  ];
}

async function checkUrl(context: SourceContext, url: string): Promise<CheckResult> {
  const { source, probe } = context;
  const make = resultsOf('prometheus', sourceSubject(source));
  const result = await probe(url, QUERY_PATH, TIME_QUERY);
  if (result.class === 'failed')
    return make.failed(`${url} is not reachable: ${result.message}`, fixForConnection(url, result, source));
  const answer = classifyAnswer(result);
  if (answer.class === 'value') return make.ok(`${url} answers`);
  if (answer.class === 'partial') {
    const fix =
      'check the stores or shards of the server: one is unreachable, and promscaler scales nothing down until all are available';
    return make.warning(`${url} answers with incomplete data: ${answer.why}`, fix);
  }
  return make.failed(...(await explainErrorResponse(context, url, { result, error: answer.message })));
}

type Explained = readonly [message: string, fix: string];

async function explainErrorResponse(
  context: SourceContext,
  url: string,
  { result, error }: { readonly result: HttpReply; readonly error: string },
): Promise<Explained> {
  const { source } = context;
  const key = `prometheus.${source.name}`;
  if (/\b(?:no org id|tenant|x-scope-orgid)\b/i.test(result.body.slice(0, 1000)) && result.status >= 400)
    return [
      `${url} requires a tenant (${error})`,
      `set ${key}.headers: { X-Scope-OrgID: TENANT } in the service config`,
    ];
  if (result.status === 401 || result.status === 403) {
    const { bearerTokenFile, basicAuth, signIn } = source;
    if ((bearerTokenFile ?? basicAuth ?? signIn) === null)
      return [
        `${url} requires credentials (HTTP ${result.status}), but no credentials are configured`,
        `set ${key}.bearerTokenFile, ${key}.basicAuth or ${key}.headers in the service config`,
      ];
    return [
      `${url} rejected the configured credentials (HTTP ${result.status})`,
      signIn !== null
        ? `check ${key}.${signIn.way}: the identity needs permission to query this server`
        : `check the file of ${key}.${bearerTokenFile === null ? 'basicAuth.passwordFile' : 'bearerTokenFile'}: it must contain credentials for this server that have not expired`,
    ];
  }
  const wrong = await findWrongAddress(context, url, result);
  if (wrong !== null) return wrong;
  if (result.status >= 500)
    return [
      `${url} answers with an error (${error})`,
      podsFirst(
        url,
        `check the log of the server and of any proxy in front of it; curl '${url}/-/ready' shows whether the server is up`,
      ),
    ];
  return [
    `${url} does not serve the Prometheus API (${error})`,
    `set ${key}.urls to the base URL of the server, without ${QUERY_PATH}`,
  ];
}

function fixForConnection(url: string, failure: Failure, { name }: Pick<SourceConfig, 'name'>): string {
  const { reason, code = '' } = failure;
  const fix = reason === 'timeout' ? NETWORK_FIX : fixForCode(code, { url, key: `prometheus.${name}` });
  return mayBeDown(failure) ? podsFirst(url, fix) : fix;
}

/** Adds the command that shows whether the server runs, if the address contains its namespace. */
function podsFirst(url: string, fix: string): string {
  const pods = URL.canParse(url) ? podsAt(new URL(url).host) : null;
  return pods === null
    ? fix
    : `see whether the pods of Prometheus run: \`${pods.text}\`. If they run: ${fix}`;
}

const NETWORK_FIX =
  'check that the host name is correct, and that no NetworkPolicy or firewall drops packets to this address';

function fixForCode(code: string, { url, key }: { readonly url: string; readonly key: string }): string {
  const host = URL.canParse(url) ? new URL(url).hostname : url;
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return (
        `${key}.urls: the host name ${host} cannot be resolved. Inside the cluster use http://SERVICE.NAMESPACE:PORT; outside, ` +
        'run `kubectl port-forward -n NAMESPACE svc/SERVICE 9090` and pass --prometheus http://localhost:9090'
      );
    case 'ECONNREFUSED':
      return `no process listens on this port. If Prometheus has answered there before, it is down: start it. Otherwise, set the port in ${key}.urls (9090 for Prometheus, 80 for the Services of many charts; \`kubectl get svc -A\` lists the ports)`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return NETWORK_FIX;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_GET_ISSUER_CERT':
      return `set ${key}.tls.caFile to a file with the certificate of the CA that signed the server certificate (or use plain http inside the cluster)`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `set ${key}.tls.serverName to a name in the certificate of the server`;
    case 'CERT_HAS_EXPIRED':
      return 'renew the certificate of the server';
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `the port serves plain http: set ${key}.urls: ['${url.replace(/^https:/i, 'http:')}']`;
    case 'ECONNRESET':
    case 'ERR_BAD_RESPONSE':
      return `the server closed the connection: use https:// in ${key}.urls if the server serves https; otherwise, a service mesh or proxy may reject the client`;
    case 'CREDENTIAL_FILE':
      return `mount the credentials file of ${key} (chart value \`secrets\`) or correct its path; the process must have permission to read this file`;
    case 'SIGN_IN':
      return `fix the authentication of ${key}: ${key}.oauth2, ${key}.sigv4, ${key}.azure or ${key}.google`;
    default:
      return code.startsWith('HPE_')
        ? `the server does not speak HTTP (a gRPC port of Thanos?): set the HTTP port in ${key}.urls`
        : `check that ${key}.urls is the address of a Prometheus that is reachable from this machine`;
  }
}

/** Common prefixes of the API path behind an Ingress, and in Mimir and VictoriaMetrics. */
const PREFIXES = ['/prometheus', '/prom', '/api/prom', '/select/0/prometheus', '/query'];

/** Detects what the address serves instead of the Prometheus API, and tries to find the correct address. */
async function findWrongAddress(
  context: SourceContext,
  url: string,
  result: HttpReply,
): Promise<Explained | null> {
  const { source } = context;
  const key = `prometheus.${source.name}.urls`;
  if (/HTTP request.*HTTPS (?:server|port)/i.test(result.body))
    return [`${url} serves https, not http`, `${key}: ['${url.replace(/^http:/i, 'https:')}']`];
  const root = await readRoot(context, url);
  const elsewhere = await findPrefix(context, url, { result, root });
  if (elsewhere !== null)
    return [
      `${url} does not serve the Prometheus API (HTTP ${result.status}), but ${elsewhere} does`,
      `${key}: ['${elsewhere}']`,
    ];
  const what = recognizePage(result) ?? (root === null ? null : recognizePage(root));
  if (what === null && result.location === null) return null;
  const where = result.location === null ? '' : `: the server redirects to ${safeLocation(result.location)}`;
  const fix =
    what === 'a login page'
      ? `set ${key} to the address of Prometheus inside the cluster, which needs no login (http://SERVICE.NAMESPACE:9090), or set prometheus.${source.name}.bearerTokenFile`
      : `set ${key} to the address of the Prometheus server itself`;
  return [`${url} is ${what ?? 'not a Prometheus API'}${where}`, fix];
}

async function findPrefix(
  context: SourceContext,
  url: string,
  { result, root }: { readonly result: HttpReply; readonly root: HttpReply | null },
): Promise<string | null> {
  if (result.status !== 404 && result.location === null && !isHtml(result)) return null;
  const { origin } = new URL(url);
  const base = withoutTrailingSlashes(url);
  const redirected = redirectOf(root, origin);
  const candidates = [
    ...(redirected === null ? [] : [`${origin}${redirected}`]),
    // The configured URL may be a page of the UI or an API path, so the server without a path is tried as well.
    ...(base === origin ? [] : [origin]),
    ...PREFIXES.map((prefix) => `${base}${prefix}`),
  ];
  const answers = await Promise.all(
    [...new Set(candidates)].map(async (candidate) => {
      const page = await context.probe(candidate, QUERY_PATH, TIME_QUERY);
      const isApi = page.class === 'answered' && classifyAnswer(page).class === 'value';
      return isApi ? candidate : null;
    }),
  );
  return answers.find((candidate) => candidate !== null) ?? null;
}

/** If Prometheus has a --web.route-prefix, `/` redirects to the prefix. Returns the prefix, or null. */
function redirectOf(root: HttpReply | null, origin: string): string | null {
  if (root === null || root.location === null || !URL.canParse(root.location, origin)) return null;
  const target = new URL(root.location, origin);
  if (target.origin !== origin) return null;
  const path = target.pathname.replace(/\/(?:graph|query|targets)?\/?$/, '');
  return path === '' ? null : path;
}

async function readRoot({ probe }: SourceContext, url: string): Promise<HttpReply | null> {
  const root = await probe(new URL(url).origin, '/', { accept: 'text/html' });
  return root.class === 'failed' ? null : root;
}

const LOGIN_WORDS =
  /(?:^|[/.?=&_-])(?:log-?in|sign-?in|oauth2?|auth|authorize|sso|saml|dex|openid)(?:[/.?=&_-]|$)/i;

/** Patterns in the title and text of a page, each with the kind of server. The first pattern that matches decides. */
const SERVERS: readonly (readonly [RegExp, string])[] = [
  [/<title>\s*Grafana|grafana-app|"grafanaBootData|\bGrafana\b/i, 'a Grafana'],
  [/<title>\s*Alertmanager|\balertmanager\b/i, 'an Alertmanager'],
  [/Pushgateway/i, 'a Pushgateway'],
  [/kube-state-metrics/i, 'a kube-state-metrics'],
  [/Node Exporter/i, 'a node exporter'],
  [/vmagent/i, 'a vmagent, which stores nothing'],
  [/vminsert/i, 'a vminsert, which only accepts writes'],
  [/"kind":\s*"Status"/, 'a Kubernetes API server'],
  [/\bLoki\b/, 'a Loki'],
  [/default backend/i, 'the default backend of an ingress: no rule has this host and path'],
  [/exporter<\/(?:title|h1)>/i, 'an exporter'],
  [/^# (?:HELP|TYPE) /m, 'the metrics page of an exporter'],
  [/type=["']?password/i, 'a login page'],
];

/** Returns the kind of a server that is not Prometheus, with its article (`a Grafana`); null: not recognized. */
export function recognizePage(
  page: Pick<HttpReply, 'status' | 'contentType' | 'body' | 'location'>,
): string | null {
  const { status, body, location } = page;
  if (status >= 300 && status < 400 && location !== null)
    return LOGIN_WORDS.test(location) ? 'a login page' : null;
  const text = body.slice(0, 100_000);
  const known = SERVERS.find(([pattern]) => pattern.test(text));
  if (known !== undefined) return known[1];
  return isHtml(page) ? 'an HTML page' : null;
}

function isHtml({ contentType, body }: Pick<HttpReply, 'contentType' | 'body'>): boolean {
  return (contentType ?? '').includes('html') || body.trimStart().startsWith('<');
}

/** Returns a location without its query string and fragment, which may contain a token. */
function safeLocation(location: string): string {
  // eslint-disable-next-line no-control-regex -- control characters of a server's text must not reach a terminal
  return (location.split(/[?#]/)[0] ?? '').replace(/[\x00-\x1f\x7f]/g, '').slice(0, 200);
}

/** Compares the configured flavor with the build information of the server, if it has any. */
export async function judgeFlavor(context: SourceContext): Promise<readonly CheckResult[]> {
  const { source } = context;
  const results = await Promise.all(source.urls.map((url) => judgeFlavorOf(context, url)));
  return results.filter((found) => found !== null);
}

/** Reads the build information of a server. Returns its engine; null: unknown. */
export async function readEngine(
  { probe }: SourceContext,
  url: string,
): Promise<ReturnType<typeof engineOfBuild>> {
  return engineOfBuild(await probe(url, '/api/v1/status/buildinfo'));
}

async function judgeFlavorOf(context: SourceContext, url: string): Promise<CheckResult | null> {
  const { source } = context;
  const make = resultsOf('prometheus', sourceSubject(source));
  const engine = await readEngine(context, url);
  const key = `prometheus.${source.name}.flavor`;
  const line = `${key}: victoriametrics`;
  if (engine === 'victoriametrics' && source.ifVictoriaMetrics !== null)
    return make.warning(
      `${url} is VictoriaMetrics, but ${key} is not set, so VictoriaMetrics is detected only after the first response`,
      line,
    );
  if (engine === 'victoriametrics' && source.flavor !== 'victoriametrics')
    return make.failed(`${url} is VictoriaMetrics, but ${key} is ${source.flavor}: ${WITHOUT_FLAVOR}`, line);
  if (engine === 'other' && source.flavor === 'victoriametrics')
    return make.failed(
      `${url} is not VictoriaMetrics, but ${key} is victoriametrics: ${WITH_FLAVOR}`,
      `${key}: prometheus, thanos or mimir`,
    );
  return null;
}

const WITHOUT_FLAVOR =
  'samples are about 30 s old, responses of a cluster may be incomplete, and ' +
  'a container that restarted is counted twice for the window of the query';
const WITH_FLAVOR =
  'on other servers, the cpu query for VictoriaMetrics omits the usage before a restart of a container, ' +
  'so the value is too low for one window';
