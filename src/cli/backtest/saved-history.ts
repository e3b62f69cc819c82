import { parseJson } from '../../units/json-bounds.js';
import { resolve } from 'node:path';
import { MAX_POINTS, type Range } from '../../backtest/history/fetch-series.js';
import { readNamedFile } from '../input/read-files.js';
import type { RangeAnswer, RangeSeries } from '../../prometheus/answers/classify.js';
import type { RangeClient } from '../../prometheus/client/range-client.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import { formatSeconds } from '../../units/format.js';
import { formatInstant, parseInstant, secondsBetween } from '../../units/time.js';
import type { OutputFile } from '../output/output-file.js';
import { CommandError, type CommandIo } from '../output/io.js';
import { isSeriesList } from './history-cache.js';

export const MAX_DAYS = 400;

/** The settings of a data source that its queries depend on. */
type SavedSource = Pick<
  SourceConfig,
  'scrapeIntervalSeconds' | 'resourceWindowSeconds' | 'resourceQueries' | 'resourceWindows' | 'onceQueries'
>;

interface SavedAnswer {
  readonly source: string;
  readonly query: string;
  readonly stepSeconds: number;
  /** Unix time in milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly series: readonly RangeSeries[];
}

/** The answers of data sources, saved in a file so that a back-test needs no server. Contains no credentials. */
export interface SavedHistory extends Range {
  readonly sources: Readonly<Record<string, SavedSource>>;
  readonly answers: readonly SavedAnswer[];
}

const FORMAT = 1;
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_SECONDS = MAX_DAYS * 86_400;
/** Maximum warm-up: the lookback of a forecast, which is at most 35 days, and one more day. */
const MAX_WARM_UP_SECONDS = 36 * 86_400;

export function savedSource({
  scrapeIntervalSeconds,
  resourceWindowSeconds,
  resourceQueries,
  resourceWindows = {},
  onceQueries,
}: SourceConfig): SavedSource {
  return { scrapeIntervalSeconds, resourceWindowSeconds, resourceQueries, resourceWindows, onceQueries };
}

/** Throws `CommandError`. */
export async function writeHistory(file: OutputFile, history: SavedHistory): Promise<void> {
  const { start, end, ...rest } = history;
  const times = { from: formatInstant(start), to: formatInstant(end) };
  await file.write(JSON.stringify({ format: FORMAT, ...times, ...rest }));
}

/** Reads a file that `writeHistory` wrote. Throws `CommandError`. */
export async function readSavedHistory(path: string, io: CommandIo): Promise<SavedHistory> {
  const bounds = { mostBytes: MAX_BYTES };
  const text = await readNamedFile(`--history: reading ${path}`, resolve(io.cwd, path), bounds);
  const history = parseHistory(text);
  if (typeof history === 'string')
    throw new CommandError(
      `--history: ${path} ${history}; promscaler backtest --save-history writes a valid file`,
    );
  return history;
}

function parseHistory(text: string): SavedHistory | string {
  const parsed = parseJson(text);
  if (parsed === undefined) return 'is not JSON';
  if (!isPlainObject(parsed) || parsed['format'] !== FORMAT)
    return `is not a saved history of format ${FORMAT}`;
  const { from, to, stepSeconds, warmUpSeconds = 0, sources, answers } = parsed;
  const start = typeof from === 'string' ? parseInstant(from) : null;
  const end = typeof to === 'string' ? parseInstant(to) : null;
  if (start === null || end === null || end <= start) return 'has no valid from and to';
  if (!isStep(stepSeconds)) return 'has no valid stepSeconds';
  if (!isWarmUp(warmUpSeconds, stepSeconds)) return 'has no valid warmUpSeconds';
  const seconds = secondsBetween(start, end);
  if (seconds > MAX_SECONDS || seconds / stepSeconds > MAX_POINTS)
    return `covers ${formatSeconds(seconds)} in steps of ${stepSeconds} s; at most ${MAX_DAYS} days and ${MAX_POINTS} steps are accepted`;
  if (!isPlainObject(sources)) return 'has no sources';
  for (const source of Object.values(sources)) if (!isSource(source)) return 'has an invalid source';
  if (!Array.isArray(answers) || !answers.every(isAnswer)) return 'has an invalid answer';
  return { start, end, stepSeconds, warmUpSeconds, sources: sources as SavedHistory['sources'], answers };
}

function isStep(value: unknown): value is number {
  return typeof value === 'number' && value >= 1 && value <= 86_400;
}

function isWarmUp(value: unknown, stepSeconds: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_WARM_UP_SECONDS && value % stepSeconds === 0;
}

function isSource(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const { scrapeIntervalSeconds, resourceWindowSeconds, resourceWindows = {} } = value;
  const { resourceQueries, onceQueries = {} } = value;
  const isTexts = [resourceQueries, onceQueries].every(
    (queries) => isPlainObject(queries) && Object.values(queries).every((query) => typeof query === 'string'),
  );
  const isSteps = isPlainObject(resourceWindows) && Object.values(resourceWindows).every(isStep);
  return isStep(scrapeIntervalSeconds) && isStep(resourceWindowSeconds) && isTexts && isSteps;
}

function isAnswer(value: unknown): value is SavedAnswer {
  if (!isPlainObject(value)) return false;
  const { source, query, stepSeconds, start, end, series } = value;
  const isNamed = typeof source === 'string' && typeof query === 'string';
  return (
    isNamed &&
    isStep(stepSeconds) &&
    Number.isSafeInteger(start) &&
    Number.isSafeInteger(end) &&
    isSeriesList(series)
  );
}

/** Returns a client that answers the queries of a data source from the file. */
export function savedClient({ answers }: SavedHistory, source: string): RangeClient {
  const keyOf = (one: Omit<SavedAnswer, 'series' | 'source'>): string =>
    JSON.stringify([one.query, one.stepSeconds, one.start, one.end]);
  const known = new Map(
    answers.filter((one) => one.source === source).map((one) => [keyOf(one), one.series]),
  );
  const unknown: RangeAnswer = {
    class: 'failed',
    // After `too_large`, the caller queries the two halves of the range. If the server had rejected the whole range as
    // too large, the file contains only answers for its halves.
    reason: 'too_large',
    message:
      'the file of --history has no answer to this query; save the history again with all documents and options',
  };
  return {
    queryRange: (range) => {
      const series = known.get(keyOf(range));
      return Promise.resolve(series === undefined ? unknown : { class: 'matrix', series });
    },
  };
}
