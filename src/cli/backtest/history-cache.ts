import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory } from '../../files/cache-directory.js';
import { readBoundedText } from '../../files/read-bounded.js';
import { replaceFile } from '../../files/replace-file.js';
import type { Clock } from '../../units/clock.js';
import type { AnswerKey, Fetching } from '../../backtest/history/fetch-series.js';
import type { RangeSeries } from '../../prometheus/answers/classify.js';

/**
 * Stores the answers of range queries on disk. A failure is no error: if a file cannot be read, the query is sent; if
 * it cannot be written, the answer is not stored.
 */
export interface HistoryCache extends NonNullable<Fetching['cache']> {
  /** Removes the oldest files until the directory is within its size limit. */
  readonly prune: () => Promise<void>;
}

const MAX_BYTES = 256 * 1024 * 1024;
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const FORMAT = 1;
const FILE = /^[0-9a-f]{64}\.json$/;

/** Returns the directory of the cache; null: the user has no cache directory. */
export function historyDirectory(env: Readonly<Record<string, string | undefined>>): string | null {
  const cache = cacheDirectory(env);
  return cache === null ? null : join(cache, 'history');
}

export function createHistoryCache(directory: string, clock: Clock, mostBytes = MAX_BYTES): HistoryCache {
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
      const files = await Promise.all(names.map((name) => fileOf(directory, name)));
      let left = files.reduce((sum, file) => sum + (file?.bytes ?? 0), 0);
      const known = files.filter((file) => file !== null).toSorted((a, b) => a.usedMs - b.usedMs);
      for (const { path, bytes } of known) {
        if (left <= mostBytes) return;
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

export function isSeriesList(value: unknown): value is readonly RangeSeries[] {
  return Array.isArray(value) && value.every(isSeries);
}

function isSeries(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { labels, points } = value as Readonly<Record<string, unknown>>;
  if (typeof labels !== 'object' || labels === null || !Array.isArray(points)) return false;
  // Only the time of a point is checked: its value may be null, because JSON cannot represent NaN.
  return points.every((point) => Array.isArray(point) && point.length === 2 && typeof point[0] === 'number');
}
