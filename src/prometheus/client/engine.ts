import { asObject } from '../../scaler/plain-json.js';
import { type HttpAnswer, parseObject } from '../answers/classify.js';
import type { Flavor, SourceConfig } from '../data-source/source-config.js';
import type { SendResult } from './request.js';

/**
 * Query parameters without which the engine may return wrong data: see reliability.md, P3. The tenant of Mimir is not
 * among them, because it is a header of the config.
 */
export const FLAVOR_PARAMETERS: Readonly<Record<Flavor, Readonly<Record<string, string>>>> = {
  prometheus: {},
  mimir: {},
  thanos: { dedup: 'true', partial_response: 'false', max_source_resolution: '0s' },
  victoriametrics: { nocache: '1', deny_partial_response: '1' },
};

export interface Engine {
  readonly config: () => SourceConfig;
  /** Records that the server is VictoriaMetrics. No effect if the config sets a flavor. */
  readonly recognize: () => void;
}

export function createEngine(config: SourceConfig): Engine {
  let current = config;
  return {
    config: () => current,
    recognize: () => {
      const { ifVictoriaMetrics } = current;
      if (ifVictoriaMetrics !== null) current = { ...current, ...ifVictoriaMetrics, ifVictoriaMetrics: null };
    },
  };
}

/**
 * Members that only VictoriaMetrics sends: a single node sends `stats` after the data, a cluster sends `isPartial`
 * before it.
 */
const STATS = /"stats":\s?\{\s?"seriesFetched"/;
const IS_PARTIAL = /^\s?\{\s?"status":\s?"success",\s?"isPartial":/;
const LOOKED_AT = 400;

/** Returns whether VictoriaMetrics sent the answer. Small answers of versions up to 1.90 are not recognized. */
export function isVictoriaMetricsAnswer(body: Buffer): boolean {
  const end = body.toString('latin1', Math.max(0, body.length - LOOKED_AT));
  return IS_PARTIAL.test(body.toString('latin1', 0, LOOKED_AT)) || STATS.test(end);
}

/**
 * Returns the engine that the build information shows; null: unknown. VictoriaMetrics reports only a version, while all
 * builds of Prometheus also report a revision. A VictoriaMetrics header proves nothing, because vmauth adds it to the
 * answers of a Prometheus, too.
 */
export function engineOfBuild(page: SendResult): 'victoriametrics' | 'other' | null {
  if (page.class === 'failed' || page.status !== 200) return null;
  const { status, data } = parseObject(page.body) ?? {};
  const build = asObject(data);
  if (status !== 'success' || build === null) return null;
  const names = Object.keys(build);
  if (names.includes('revision')) return 'other';
  return page.hasServerHostname && names.every((name) => name === 'version') ? 'victoriametrics' : null;
}

interface SeenPage extends HttpAnswer {
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
