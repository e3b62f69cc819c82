import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { cacheDirectory } from '../../files/cache-directory.js';
import { readBoundedText } from '../../files/read-bounded.js';
import { replaceFile } from '../../files/replace-file.js';
import type { Clock } from '../../units/clock.js';
import {
  type AnswerKey,
  type Fetching,
  MAX_POINTS,
  type Range,
} from '../../backtest/history/fetch-series.js';
import type { RangeSeries, RangeAnswer } from '../../prometheus/answers/classify.js';
import { parseJson } from '../../units/json-bounds.js';
import { readNamedFile } from '../input/read-files.js';
import type { RangeClient } from '../../prometheus/client/range-client.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import { formatSeconds } from '../../units/format.js';
import { formatInstant, parseInstant, secondsBetween } from '../../units/time.js';
import type { OutputFile } from '../output/output-file.js';
import { CommandError, type CommandIo } from '../output/io.js';

/**
 * Stores the answers of range queries on disk. A failure is no error: if a file cannot be read, the query is sent; if
 * it cannot be written, the answer is not stored.
 */
export interface HistoryCache extends NonNullable<Fetching['cache']> {
  /** Removes the oldest files until the directory is within its size limit. */
  readonly prune: () => Promise<void>;
}

/** Limits the cache, and a file of `--save-history`. */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** The format of stored answers, in the cache and in a file of `--save-history`. */
const FORMAT = 1;
const FILE = /^[0-9a-f]{64}\.json$/;

/** Returns the directory of the cache; null: the user has no cache directory. */
export function historyDirectory(env: Readonly<Record<string, string | undefined>>): string | null {
  const cache = cacheDirectory(env);
  return cache === null ? null : join(cache, 'history');
}

export function createHistoryCache(directory: string, clock: Clock): HistoryCache {
  const pathOf = (key: AnswerKey): string => {
    const { source, query, start, end, stepSeconds } = key;
    const text = JSON.stringify([FORMAT, source, query, start, end, stepSeconds]);
    return join(directory, `${createHash('sha256').update(text).digest('hex')}.json`);
  };

  return {
    read: async (key) => {
      try {
        const path = pathOf(key);
        const parsed: unknown = JSON.parse(await readBoundedText(path, { mostBytes: MAX_FILE_BYTES }));
        if (!isSeriesList(parsed)) return null;
        // The time of the last use decides which files `prune` removes first.
        const nowSeconds = clock.now() / 1000;
        await utimes(path, nowSeconds, nowSeconds).catch(() => undefined);
        return parsed;
      } catch {
        return null;
      }
    },
    write: async (key, series) => {
      const text = JSON.stringify(series);
      if (text.length > MAX_FILE_BYTES) return;
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await replaceFile(pathOf(key), text, 0o600);
      } catch {
        return;
      }
    },
    prune: async () => {
      const names = await readdir(directory).catch(() => []);
      const found = await Promise.all(names.map((name) => fileOf(directory, name)));
      const files = found.filter((file) => file !== null).toSorted((a, b) => a.usedMs - b.usedMs);
      let left = files.reduce((sum, { bytes }) => sum + bytes, 0);
      for (const { path, bytes } of files) {
        if (left <= MAX_BYTES) return;
        await rm(path, { force: true }).catch(() => undefined);
        left -= bytes;
      }
    },
  };
}

async function fileOf(
  directory: string,
  name: string,
): Promise<{ readonly path: string; readonly bytes: number; readonly usedMs: number } | null> {
  if (!FILE.test(name) && !name.endsWith('.partial')) return null;
  const path = join(directory, name);
  try {
    const { size, mtimeMs } = await stat(path);
    return { path, bytes: size, usedMs: mtimeMs };
  } catch {
    return null;
  }
}

function isSeriesList(value: unknown): value is readonly RangeSeries[] {
  return Array.isArray(value) && value.every(isSeries);
}

function isSeries(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const { labels, points } = value;
  if (typeof labels !== 'object' || labels === null || !Array.isArray(points)) return false;
  // Only the time of a point is checked: its value may be null, because JSON cannot represent NaN.
  return points.every((point) => Array.isArray(point) && point.length === 2 && typeof point[0] === 'number');
}

export const MAX_DAYS = 400;

/** The settings of a data source that its queries depend on. */
type SavedSource = Pick<
  SourceConfig,
  'scrapeIntervalSeconds' | 'resourceWindowSeconds' | 'resourceQueries' | 'resourceWindows' | 'onceQueries'
>;

interface SavedAnswer extends Omit<AnswerKey, 'source'> {
  /** The name of the data source. */
  readonly source: string;
  readonly series: readonly RangeSeries[];
}

/** The answers of data sources, saved in a file so that a back-test needs no server. Contains no credentials. */
export interface SavedHistory {
  readonly range: Range;
  readonly sources: Readonly<Record<string, SavedSource>>;
  readonly answers: readonly SavedAnswer[];
}

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
  const { range, ...rest } = history;
  const { start, end, ...steps } = range;
  const times = { from: formatInstant(start), to: formatInstant(end) };
  await file.write(JSON.stringify({ format: FORMAT, ...times, ...steps, ...rest }));
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
  const range = { start, end, stepSeconds, warmUpSeconds };
  return { range, sources: sources as SavedHistory['sources'], answers };
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
