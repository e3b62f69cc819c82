import type { Answer } from '../answers/answer.js';
import { classifyAnswer, parseObject, type HttpAnswer } from '../answers/classify.js';

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
