interface SeenPage {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: string;
  readonly location: string | null;
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
export function recognizePage({ status, contentType, body, location }: SeenPage): string | null {
  if (status >= 300 && status < 400 && location !== null)
    return LOGIN_WORDS.test(location) ? 'a login page' : null;
  const text = body.slice(0, 100_000);
  const known = SERVERS.find(([pattern]) => pattern.test(text));
  if (known !== undefined) return known[1];
  const isHtml = (contentType ?? '').includes('html') || text.trimStart().startsWith('<');
  return isHtml ? 'an HTML page' : null;
}
