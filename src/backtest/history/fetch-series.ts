import { BacktestError } from '../compare/variant.js';
import type { Failure } from '../../units/failure.js';
import type { RangeSeries } from '../../prometheus/answers/classify.js';
import type { RangeClient, RangeQuery } from '../../prometheus/client/range-client.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { selectLoad, type TotalLoad } from '../../prometheus/queries/total-load.js';
import {
  addSeconds,
  formatInstant,
  type Instant,
  instantFromMs,
  multipleBefore,
  secondsBetween,
} from '../../units/time.js';

export interface Range {
  readonly start: Instant;
  readonly end: Instant;
  readonly stepSeconds: number;
  /** How many seconds before `start` are read, so that windows are filled at `start`. A multiple of the step. */
  readonly warmUpSeconds: number;
}

/** What identifies an answer in the cache. Contains no credentials. */
export interface AnswerKey {
  /** The URLs of the data source, and settings that select its data, such as the tenant and the user. */
  readonly source: readonly string[];
  readonly query: string;
  /** Unix time in milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly stepSeconds: number;
}

export interface Fetching {
  readonly source: SourceConfig;
  readonly client: RangeClient;
  readonly cache: {
    readonly read: (key: AnswerKey) => Promise<readonly RangeSeries[] | null>;
    readonly write: (key: AnswerKey, series: readonly RangeSeries[]) => Promise<void>;
  } | null;
  readonly progress: { readonly add: (parts: number) => void; readonly done: () => void };
  readonly now: () => Instant;
  readonly signal: AbortSignal;
  /** Called with each answer, for `--save-history`. */
  readonly onAnswer?: (key: Omit<AnswerKey, 'source'>, series: readonly RangeSeries[]) => void;
}

/** Maximum number of points in a history: 30 days with a step of 5 s. */
export const MAX_POINTS = 520_000;

/** Time limit of a query. It is longer than for the queries of a round, because range queries read more samples. */
const TIMEOUT_MS = 60_000;
/** Answers with newer samples are not cached, because the samples may still change. */
const SETTLED_SECONDS = 600;
/** After these failures, the two halves of the range are queried, because a shorter range may succeed. */
const REFUSALS: ReadonlySet<string> = new Set(['timeout', 'too_large', 'execution']);
const RANGE_REFUSAL = /points|resolution|too many|too long|time range|range is|limit|max-query-length/i;

/** Reads the series of a query in chunks. `what`: what error messages call the query. */
export async function fetchSeries(
  what: string,
  load: TotalLoad,
  range: Omit<Range, 'warmUpSeconds'>,
  fetching: Fetching,
): Promise<readonly RangeSeries[]> {
  const chunks = chunksOf(range.start, range.end, range.stepSeconds);
  fetching.progress.add(chunks.length);
  const pieces = await Promise.all(
    chunks.map(async (chunk) => {
      const query = { query: load.query, stepSeconds: range.stepSeconds, ...chunk };
      const series = await fetchChunk(what, query, fetching);
      fetching.progress.done();
      return series;
    }),
  );
  return selectLoad(load, pieces.flat());
}

/** Returns the series of a query at the last multiple of the step before `at`. Throws the errors of `fetchSeries`. */
export async function fetchInstant(
  what: string,
  query: string,
  { at, stepSeconds }: { readonly at: Instant; readonly stepSeconds: number },
  fetching: Fetching,
): Promise<readonly RangeSeries[]> {
  const time = multipleBefore(at, stepSeconds);
  return fetchChunk(what, { query, stepSeconds, start: time, end: time }, fetching);
}

async function fetchChunk(
  what: string,
  query: RangeQuery,
  fetching: Fetching,
): Promise<readonly RangeSeries[]> {
  const { source, client, cache, now, signal, onAnswer } = fetching;
  const { start, end, stepSeconds } = query;
  const key = { source: identityOf(source), ...query };
  const known = await cache?.read(key);
  if (known !== null && known !== undefined) {
    onAnswer?.(key, known);
    return known;
  }
  const answer = await client.queryRange(query, { timeoutMs: TIMEOUT_MS, signal });
  if (answer.class === 'matrix') {
    const isSettled = addSeconds(end, SETTLED_SECONDS) < now();
    if (isSettled) await cache?.write(key, answer.series);
    onAnswer?.(key, answer.series);
    return answer.series;
  }
  const halves = isRefusal(answer) ? halvesOf({ start, end }, stepSeconds) : null;
  if (halves === null)
    throw new BacktestError(
      `the history of ${what} from ${formatInstant(start)} to ${formatInstant(end)} cannot be read: ${answer.message}${whatToDo(answer)}`,
    );
  const [first, second] = halves;
  return [
    ...(await fetchChunk(what, { ...query, ...first }, fetching)),
    ...(await fetchChunk(what, { ...query, ...second }, fetching)),
  ];
}

function whatToDo(answer: Failure): string {
  if (answer.reason === 'connection') return '. Check the URL of --prometheus or --config';
  return isRefusal(answer)
    ? '. The server rejects even the shortest part of the range: raise its limit for range queries'
    : '';
}

function isRefusal({ reason, message }: Failure): boolean {
  return REFUSALS.has(reason) || (reason === 'bad_query' && RANGE_REFUSAL.test(message));
}

const TENANT_HEADER = /^(?:x-scope-orgid|thanos-tenant|accountid|projectid)$/i;

/** Returns the strings that identify the data of a data source, without secrets. */
export function identityOf({
  name,
  urls,
  headers,
  basicAuth,
  bearerTokenFile,
}: SourceConfig): readonly string[] {
  const tenants = Object.entries(headers).filter(([header]) => TENANT_HEADER.test(header));
  return [name, ...urls, ...tenants.flat(), basicAuth?.username ?? '', bearerTokenFile ?? ''];
}

/** A part of the history, including both ends. Its points are multiples of the step since the Unix epoch. */
interface Chunk {
  readonly start: Instant;
  readonly end: Instant;
}

/**
 * Points in a chunk. Prometheus allows 11,000 for each series. Chunks are smaller, so that a query usually stays below
 * the default limit of 50 million samples, too.
 */
const CHUNK_POINTS = 4000;
const FEWEST_POINTS = 60;

/** Chunks begin at multiples of their length, so most chunks of another range are already in the cache. */
export function chunksOf(from: Instant, to: Instant, stepSeconds: number): readonly Chunk[] {
  const stepMs = stepSeconds * 1000;
  const lengthMs = stepMs * CHUNK_POINTS;
  const last = Math.floor(to / stepMs) * stepMs;
  const chunks: Chunk[] = [];
  for (let start = Math.ceil(from / stepMs) * stepMs; start <= last;) {
    const next = (Math.floor(start / lengthMs) + 1) * lengthMs;
    chunks.push({ start: instantFromMs(start), end: instantFromMs(Math.min(next - stepMs, last)) });
    start = next;
  }
  return chunks;
}

/** Returns the two halves of a chunk that the server rejected; null: the chunk is too small to be divided. */
export function halvesOf({ start, end }: Chunk, stepSeconds: number): readonly [Chunk, Chunk] | null {
  const points = Math.floor(secondsBetween(start, end) / stepSeconds) + 1;
  if (points < 2 * FEWEST_POINTS) return null;
  const middle = addSeconds(start, Math.floor(points / 2) * stepSeconds);
  return [
    { start, end: addSeconds(middle, -stepSeconds) },
    { start: middle, end },
  ];
}
