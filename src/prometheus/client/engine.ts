import type { Answer } from '../answers/answer.js';
import { asObject, classifyAnswer, parseObject, type HttpAnswer } from '../answers/classify.js';
import type { Flavor, SourceConfig } from '../data-source/source-config.js';
import type { SendResult } from './request.js';

/** Parameters that prevent wrong data: see reliability.md, P3. The tenant of Mimir is a header of the config. */
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

/** Only VictoriaMetrics has this next to `data`: the single node after it, the cluster before it. */
const STATS = /"stats":\s?\{\s?"seriesFetched"/;
const IS_PARTIAL = /^\s?\{\s?"status":\s?"success",\s?"isPartial":/;
const LOOKED_AT = 400;

/** Whether only VictoriaMetrics can have sent the answer. Up to version 1.90, small answers lack the mark. */
export function isVictoriaMetricsAnswer(body: Buffer): boolean {
  const end = body.toString('latin1', Math.max(0, body.length - LOOKED_AT));
  return IS_PARTIAL.test(body.toString('latin1', 0, LOOKED_AT)) || STATS.test(end);
}

/**
 * Returns the engine from the build information: VictoriaMetrics reports only a version, while all builds of Prometheus
 * also report a revision. The header alone does not suffice, because vmauth sets it in front of Prometheus, too. Null:
 * unknown.
 */
export function engineOfBuild(page: SendResult): 'victoriametrics' | 'other' | null {
  if (page.kind === 'failed' || page.status !== 200) return null;
  const { status, data } = parseObject(page.body) ?? {};
  const build = asObject(data);
  if (status !== 'success' || build === null) return null;
  const names = Object.keys(build);
  if (names.includes('revision')) return 'other';
  return page.hasServerHostname && names.every((name) => name === 'version') ? 'victoriametrics' : null;
}

/**
 * Error messages of Thanos, Mimir and Cortex if one of their components did not answer. They have the status 422 /
 * `execution`, like an error of the query itself. Excludes limits of a component, which depend on the query and are the
 * same on every url.
 */
const PART_DOWN = /rpc error: code = (?!ResourceExhausted)|\bproxy Series\(\)|\breceive series from\b/;

/** VictoriaMetrics quotes the query before the error. The query is removed first, because it may contain any word. */
const QUOTED_QUERY = /^error when executing query=[\s\S]* for \(time=\d{1,20}, step=\d{1,20}\): /;

/** Error messages of VictoriaMetrics for a query that it cannot parse, or that calls a function incorrectly. */
const UNREADABLE =
  /unexpected token|unparsed data|unknown func|unsupported func|cannot parse|cannot expand WITH|invalid regexp|unexpected number of args|expecting at least \d{1,4} args|number of string args|missing `query` arg/;

/**
 * Classifies like `classifyAnswer`, but corrects the reason of a 422, which depends on the engine. If a component did
 * not answer, it is a failure of the server, so that another url is tried. If VictoriaMetrics cannot parse the query,
 * it is a failure of the query, which is retried rarely.
 */
export function classifyByEngine(http: HttpAnswer, maxSeries?: number): Answer {
  const answer = classifyAnswer(http, maxSeries);
  if (http.status !== 422 || answer.class !== 'failed' || answer.reason !== 'execution') return answer;
  const { errorType, error } = readError(http.body);
  if (PART_DOWN.test(error)) return { ...answer, reason: 'server_error' };
  // VictoriaMetrics sets `errorType` to the status code, for an invalid query and for any other failure.
  if (errorType !== '422') return answer;
  const words = error.replace(QUOTED_QUERY, '');
  const shortened = classifyAnswer({ ...http, body: JSON.stringify({ errorType, error: words }) });
  if (shortened.class !== 'failed') return answer;
  return UNREADABLE.test(words) ? { ...shortened, reason: 'bad_query' } : shortened;
}

function readError(body: string): { readonly errorType: string; readonly error: string } {
  const { errorType, error } = parseObject(body) ?? {};
  return {
    errorType: typeof errorType === 'string' ? errorType : '',
    error: typeof error === 'string' ? error : '',
  };
}
