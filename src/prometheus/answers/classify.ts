import { parseJson } from '../../units/json-bounds.js';
import { asObject } from '../../scaler/plain-json.js';
import { cleanText } from '../../units/clean-text.js';
import { failed, type Failure, type FailureReason } from '../../units/failure.js';
import { type Instant, instantFromSeconds } from '../../units/time.js';
import { type Answer, DEFAULT_LIMITS } from './answer.js';
import type { Labels, Series } from './columns.js';

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: string;
}

type Json = Readonly<Record<string, unknown>>;

/** The end of the year 9999: RFC 3339 cannot express a later time. */
export const LATEST_SECONDS = 253_402_300_799;

/** The values of `errorType` in Prometheus and compatible servers. */
const REASON_OF_ERROR_TYPE: Readonly<Record<string, FailureReason>> = {
  bad_data: 'bad_query',
  execution: 'execution',
  timeout: 'timeout',
  canceled: 'canceled',
  internal: 'server_error',
  unavailable: 'server_error',
  not_found: 'bad_answer',
  too_many_requests: 'rate_limited',
};

/**
 * The error of a query that waited for other queries until its time limit, so that Prometheus never evaluated it.
 * Source: `execEval` of promql/engine.go.
 */
const IN_QUEUE = /timed out in query queue/;

const REASON_OF_STATUS: Readonly<Record<number, FailureReason>> = {
  400: 'bad_query',
  401: 'unauthorized',
  403: 'unauthorized',
  408: 'timeout',
  413: 'too_large',
  422: 'execution',
  429: 'rate_limited',
  499: 'canceled',
};

/**
 * Returns the class of an answer to an instant query. Checks in this order: status code, JSON body, `status`, warnings,
 * result type, number of series, values. Keeps NaN and infinite values, which samples.ts checks. An empty vector with a
 * warning is `partial` without series, not `missing`. Source: algorithm.md, section 2.
 */
export function classifyAnswer(http: HttpAnswer, maxSeries = DEFAULT_LIMITS.series): Answer {
  const read = readAnswerData(http);
  return 'class' in read ? read : classifyResult(read.data, read.why, maxSeries);
}

/**
 * Returns the field `data` of an answer, with the reason `why` it may be incomplete (null: it is complete). Returns a
 * failure if there is no such field.
 */
function readAnswerData(http: HttpAnswer): { readonly data: Json; readonly why: string | null } | Failure {
  const json = parseObject(http.body);
  if (!isWholeAnswer(http.status)) return failedByStatus(http, json);
  if (json === null) return failed('bad_answer', `${sayStatus(http)} with ${sayForm(http)} instead of JSON`);
  if (json['status'] === 'error') return failedByType(http, json);
  if (json['status'] !== 'success')
    return failed('bad_answer', 'the JSON is not an answer of the Prometheus API');
  const data = asObject(json['data']);
  if (data === null) return failed('bad_answer', 'the answer has no field "data"');
  return { data, why: whyAnswerPartial(json) };
}

/**
 * Returns whether a response with this status contains the whole result of the query. This is also true for 203 (a
 * proxy has changed the response), but not for 206 (partial content).
 */
export function isWholeAnswer(status: number): boolean {
  return status === 200 || status === 203;
}

function failedByStatus(http: HttpAnswer, json: Json | null): Failure {
  if (http.status < 300)
    return failed('bad_answer', `${sayStatus(http)}: only 200 and 203 are complete answers`);
  if (http.status < 400) {
    return failed('bad_answer', `${sayStatus(http)}: redirects are not followed`);
  }
  // The statuses 401, 403 and 429 take precedence over the body, because a proxy may have sent them. For all other
  // statuses, `errorType` is more specific.
  const byStatus = REASON_OF_STATUS[http.status];
  if (byStatus === 'unauthorized' || byStatus === 'rate_limited') return failed(byStatus, sayStatus(http));
  if (typeof json?.['errorType'] === 'string') return failedByType(http, json);
  const reason = byStatus ?? (http.status >= 500 ? 'server_error' : 'bad_answer');
  const text = sayForm(http) === 'text' ? `: ${quote(http.body)}` : '';
  return failed(reason, sayStatus(http) + text);
}

/**
 * Error messages of Thanos, Mimir and Cortex if one of their components did not answer. They have the status 422 and
 * the type `execution`, like an error of the query itself. `ResourceExhausted` is excluded: the query exceeds a limit
 * of a component, and would exceed it at every URL.
 */
const PART_DOWN = /rpc error: code = (?!ResourceExhausted)|\bproxy Series\(\)|\breceive series from\b/;

/**
 * VictoriaMetrics quotes the query before the error. The quoted query is removed before the error is read, because it
 * may contain any word.
 */
const QUOTED_QUERY = /^error when executing query=[\s\S]* for \(time=\d{1,20}, step=\d{1,20}\): /;

/** Error messages of VictoriaMetrics for a query that it cannot parse, or that calls a function incorrectly. */
const UNREADABLE =
  /unexpected token|unparsed data|unknown func|unsupported func|cannot parse|cannot expand WITH|invalid regexp|unexpected number of args|expecting at least \d{1,4} args|number of string args|missing `query` arg/;

function failedByType(http: HttpAnswer, json: Json): Failure {
  const type = typeof json['errorType'] === 'string' ? json['errorType'] : '';
  const error = errorOf(http, type, json['error']);
  const byType = Object.hasOwn(REASON_OF_ERROR_TYPE, type) ? REASON_OF_ERROR_TYPE[type] : undefined;
  const reason = byType ?? REASON_OF_STATUS[http.status] ?? 'server_error';
  const text = error === '' ? '' : `: ${quote(error)}`;
  const named =
    type === '' || type === String(http.status) ? sayStatus(http) : `${sayStatus(http)} ${quote(type)}`;
  return failed(correctReason(reason, { http, type, error }), named + text);
}

/**
 * Returns the text of the error, or '' if it is not a string. For a 422 of VictoriaMetrics, which sends the status code
 * as `errorType`, the quoted query is removed from the text.
 */
function errorOf({ status }: HttpAnswer, type: string, error: unknown): string {
  if (typeof error !== 'string') return '';
  return status === 422 && type === '422' ? error.replace(QUOTED_QUERY, '') : error;
}

/**
 * Returns a more specific reason, because some engines report failures too generally. A 422 because a component is down
 * is a failure of the server, so that another URL is tried. A query that VictoriaMetrics cannot parse is invalid and is
 * retried rarely.
 */
function correctReason(
  reason: FailureReason,
  { http, type, error }: { readonly http: HttpAnswer; readonly type: string; readonly error: string },
): FailureReason {
  if (reason === 'timeout' && IN_QUEUE.test(error)) return 'busy';
  if (http.status !== 422 || reason !== 'execution') return reason;
  if (PART_DOWN.test(error)) return 'server_error';
  return type === '422' && UNREADABLE.test(error) ? 'bad_query' : reason;
}

function classifyResult(data: Json, why: string | null, maxSeries: number): Answer {
  const type = data['resultType'];
  const result = data['result'];
  if (type === 'string' || type === 'matrix') {
    const hint = type === 'matrix' ? ': put a function around a range such as [5m]' : '';
    return invalid(`the query returns a ${type}, not an instant vector${hint}`);
  }
  if (type === 'scalar') return classifySeries([{ metric: {}, value: result }], why);
  if (type !== 'vector') return invalid('the query returns neither a vector nor a scalar');
  if (!Array.isArray(result)) return failed('bad_answer', 'the vector in the answer is not a list');
  if (result.length > maxSeries) {
    return failed('too_large', `the answer has ${result.length} series, more than maxSeries (${maxSeries})`);
  }
  return classifySeries(result, why);
}

function classifySeries(elements: readonly unknown[], why: string | null): Answer {
  const series: Series[] = [];
  let oldestSeconds = Infinity;
  for (const element of elements) {
    const read = readElement(element);
    if (typeof read === 'string') return invalid(read);
    series.push(read.series);
    oldestSeconds = Math.min(oldestSeconds, read.seconds);
  }
  if (series.length === 0) {
    if (why === null) return { class: 'missing', message: 'no series' };
    return { class: 'partial', series: [], evaluatedAt: EPOCH, why: `no series, and ${why}` };
  }
  const evaluatedAt = instantFromSeconds(oldestSeconds);
  return why === null
    ? { class: 'value', series, evaluatedAt }
    : { class: 'partial', series, evaluatedAt, why };
}

/** The evaluation time of an answer without series. Nothing reads it. */
const EPOCH: Instant = instantFromSeconds(0);

function readElement(element: unknown): { readonly series: Series; readonly seconds: number } | string {
  const object = asObject(element);
  if (object === null) return 'an element of the vector is not an object';
  const pair = object['value'];
  if (pair === undefined && object['histogram'] !== undefined) {
    return 'the query returns native histograms, which are not numbers';
  }
  const labels = readLabels(object['metric']);
  if (labels === null) return 'an element of the vector has no labels';
  if (!Array.isArray(pair) || pair.length !== 2) return 'an element of the vector has no value';
  const [seconds, text] = pair as readonly unknown[];
  if (typeof seconds !== 'number' || !(Math.abs(seconds) <= LATEST_SECONDS))
    return 'a sample has no valid timestamp';
  const value = typeof text === 'string' ? parseSampleValue(text) : null;
  if (value === null)
    return `${typeof text === 'string' ? `"${quote(text)}"` : sayValue(text)} is not a sample value`;
  return { series: { labels, value }, seconds };
}

function readLabels(metric: unknown): Labels | null {
  const object = asObject(metric);
  if (object === null) return null;
  for (const name in object) if (typeof object[name] !== 'string') return null;
  return object as Labels;
}

/** Parses a response that should be a JSON object; null: it is not one. */
export function parseObject(body: string): Json | null {
  return asObject(parseJson(body));
}

/** Prometheus before 3.0 sends infos as warnings with this prefix. An info does not mean that data is missing. */
const HARMLESS_WARNING = 'PromQL info';

/** Returns why an answer may be incomplete (`isPartial` or a warning) and thus `partial`; null: it is complete. */
export function whyAnswerPartial(json: Readonly<Record<string, unknown>>): string | null {
  const isPartial = json['isPartial'];
  if (isPartial !== undefined && isPartial !== null && isPartial !== false)
    return 'the server reports isPartial';
  const warnings = json['warnings'];
  if (warnings === undefined || warnings === null) return null;
  if (!Array.isArray(warnings)) return 'the field "warnings" of the answer is not a list';
  const harmful = warnings.map(sayValue).filter((warning) => !warning.startsWith(HARMLESS_WARNING));
  const [first] = harmful;
  if (first === undefined) return null;
  const more = harmful.length > 1 ? ` (and ${harmful.length - 1} more)` : '';
  return `warning from the server: ${quote(first)}${more}`;
}

/** One series of a range query. Values may be NaN or infinite. */
export interface RangeSeries {
  readonly labels: Labels;
  /** Pairs of Unix time in milliseconds and value, in ascending order of time. */
  readonly points: readonly (readonly [atMs: number, value: number])[];
}

/** The result of a range query. `series` is empty if there is no data. */
export type RangeAnswer = { readonly class: 'matrix'; readonly series: readonly RangeSeries[] } | Failure;

/** Classifies the answer to a range query. An incomplete answer fails, because missing data would look like a gap. */
export function classifyRange(http: HttpAnswer): RangeAnswer {
  const read = readAnswerData(http);
  if ('class' in read) return read;
  const { data, why } = read;
  if (why !== null) return failed('server_error', `the answer is partial: ${why}`);
  const { resultType, result } = data;
  if (resultType !== 'matrix' || !Array.isArray(result))
    return failed('bad_answer', 'the answer to a range query is not a matrix');
  if (result.length > DEFAULT_LIMITS.series)
    return failed('too_large', `the answer has ${result.length} series, more than ${DEFAULT_LIMITS.series}`);
  const series: RangeSeries[] = [];
  for (const element of result as readonly unknown[]) {
    const one = readSeries(element);
    if (typeof one === 'string') return failed('bad_answer', one);
    series.push(one);
  }
  return { class: 'matrix', series };
}

function readSeries(element: unknown): RangeSeries | string {
  if (typeof element !== 'object' || element === null) return 'an element of the matrix is not an object';
  const { metric, values, histograms } = element as Readonly<Record<string, unknown>>;
  const labels = readLabels(metric);
  if (labels === null) return 'an element of the matrix has no labels';
  if (values === undefined && histograms !== undefined)
    return 'the query returns native histograms, which are not numbers';
  if (!Array.isArray(values)) return 'an element of the matrix has no values';
  const points: (readonly [number, number])[] = [];
  let before = -Infinity;
  for (const pair of values as readonly unknown[]) {
    const [seconds, text] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    const value = typeof text === 'string' ? parseSampleValue(text) : null;
    if (typeof seconds !== 'number' || !(seconds > before) || value === null)
      return 'the points of a series are not pairs of time and value in ascending order of time';
    before = seconds;
    points.push([Math.round(seconds * 1000), value]);
  }
  return { labels, points };
}

/** Limits the length of a value. The longest float64 without an exponent, 5e-324 with 17 digits, has 343 characters. */
const MAX_LENGTH = 400;

const FINITE = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Parses a sample value of the HTTP API (`"1.5"`, `"1e+21"`, `"NaN"`, `"+Inf"`); null: invalid. `Number(text)` would
 * read `""` and `" "` as 0 and `"0x10"` as 16, and does not support `"+Inf"`.
 */
export function parseSampleValue(text: string): number | null {
  if (text.length > MAX_LENGTH) return null;
  if (FINITE.test(text)) return Number(text);
  if (text === 'NaN') return NaN;
  if (text === '+Inf' || text === 'Inf') return Infinity;
  return text === '-Inf' ? -Infinity : null;
}

const MAX_QUOTED_LENGTH = 300;

/** Returns a server's message on one line, without control characters, truncated to 300 characters. */
export function quote(text: string): string {
  const line = cleanText(text.replace(/[\s\p{Cc}]+/gu, ' ').trim());
  return line.length > MAX_QUOTED_LENGTH ? `${line.slice(0, MAX_QUOTED_LENGTH)}...` : line;
}

/** Returns a scalar as a string. For any other value, returns its type: an object could have its own `toString`. */
function sayValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}

function sayStatus({ status }: HttpAnswer): string {
  return `HTTP ${status}`;
}

function sayForm({ contentType, body }: HttpAnswer): string {
  const start = body.trimStart();
  if (start === '') return 'an empty body';
  const isHtml = (contentType ?? '').includes('html') || start.startsWith('<');
  return isHtml ? 'an HTML page (a login page, or the URL is not that of a Prometheus server)' : 'text';
}

function invalid(message: string): Answer {
  return { class: 'invalid', message };
}
