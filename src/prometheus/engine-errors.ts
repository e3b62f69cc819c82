import type { Answer } from './answer.js';
import { classifyAnswer, type HttpAnswer } from './classify-answer.js';

/**
 * Words of Thanos, Mimir and Cortex for a part of theirs that did not answer. They come as 422 `execution`, as an
 * error of the query itself does. A limit of that part is the query's affair, and the same on every url.
 */
const PART_DOWN = /rpc error: code = (?!ResourceExhausted)|\bproxy Series\(\)|\breceive series from\b/;

/** VictoriaMetrics quotes the query before it says what is wrong, and a query may hold any word. */
const QUOTED_QUERY = /^error when executing query=[\s\S]* for \(time=\d{1,20}, step=\d{1,20}\): /;

/** Words of VictoriaMetrics for a query that it cannot read, or that calls a function in a wrong way. */
const UNREADABLE =
  /unexpected token|unparsed data|unknown func|unsupported func|cannot parse|cannot expand WITH|invalid regexp|unexpected number of args|expecting at least \d{1,4} args|number of string args|missing `query` arg/;

/**
 * The class of an answer as `classifyAnswer` has it, but a 422 with the reason that it has on its engine: of a part that
 * is down it is the server's (another url may do better), of VictoriaMetrics for a query that it cannot read it is the
 * query's (which is asked but rarely).
 */
export function classifyByEngine(http: HttpAnswer): Answer {
  const answer = classifyAnswer(http);
  if (http.status !== 422 || answer.class !== 'failed' || answer.reason !== 'execution') return answer;
  const { errorType, error } = readError(http.body);
  if (PART_DOWN.test(error)) return { ...answer, reason: 'server_error' };
  // VictoriaMetrics puts the number in the place of a type, for a wrong query and for any other failure.
  if (errorType !== '422') return answer;
  const words = error.replace(QUOTED_QUERY, '');
  const shortened = classifyAnswer({ ...http, body: JSON.stringify({ errorType, error: words }) });
  if (shortened.class !== 'failed') return answer;
  return UNREADABLE.test(words) ? { ...shortened, reason: 'bad_query' } : shortened;
}

function readError(body: string): { readonly errorType: string; readonly error: string } {
  try {
    const { errorType, error } = JSON.parse(body) as { errorType?: unknown; error?: unknown };
    return {
      errorType: typeof errorType === 'string' ? errorType : '',
      error: typeof error === 'string' ? error : '',
    };
  } catch {
    return { errorType: '', error: '' };
  }
}
