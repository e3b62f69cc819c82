import type { ServiceConfig } from '../../../config/resolve-service-config.js';
import { resolveServiceConfig } from '../../../config/resolve-service-config.js';
import { createRangeClient } from '../../../prometheus/client/range-client.js';
import type { SourceConfig } from '../../../prometheus/data-source/source-config.js';
import type { CommandIo } from '../../process/io.js';
import { createProgress, type Fetching, type Range } from './fetch-series.js';
import { createHistoryCache, historyDirectory } from './history-cache.js';
import { savedClient, type SavedHistory, savedSource } from './saved-history.js';

/** Where a history is read from: servers or a file. */
export interface HistorySources {
  readonly byName: ReadonlyMap<string, Fetching>;
  /** What has been read so far, for `--save-history`. */
  readonly saved: (range: Range) => SavedHistory;
  /** Call at the end, also after an error. */
  readonly close: () => Promise<void>;
}

export function openServers(
  prometheus: ServiceConfig['prometheus'],
  { hasCache, isSaved }: { readonly hasCache: boolean; readonly isSaved: boolean },
  io: CommandIo,
): HistorySources {
  const progress = createProgress(io);
  const directory = hasCache ? historyDirectory(io.env) : null;
  const cache = directory === null ? null : createHistoryCache(directory, io.clock);
  const answers = new Map<string, SavedHistory['answers'][number]>();
  const open = (name: string, source: SourceConfig): Fetching => {
    const client = createRangeClient(source, io.clock, io.env);
    const opened = { source, client, cache, progress, io };
    if (!isSaved) return opened;
    return {
      ...opened,
      onAnswer: ({ query, stepSeconds, start, end }, series) => {
        const key = JSON.stringify([name, query, stepSeconds, start, end]);
        answers.set(key, { source: name, query, stepSeconds, start, end, series });
      },
    };
  };
  const sources = Object.entries(prometheus);
  return {
    byName: new Map(sources.map(([name, source]) => [name, open(name, source)])),
    saved: (range) => ({
      ...range,
      sources: Object.fromEntries(sources.map(([name, source]) => [name, savedSource(source)])),
      answers: [...answers.values()],
    }),
    close: async () => {
      progress.clear();
      await cache?.prune();
    },
  };
}

/** Reads from a file what `openServers` saved. */
export function openSaved(saved: SavedHistory, io: CommandIo): HistorySources {
  const { prometheus } = resolveServiceConfig({}, null);
  const base = prometheus['default'];
  if (base === undefined) throw new Error('the default config has a data source');
  const progress = { add: () => undefined, done: () => undefined };
  const byName = Object.entries(saved.sources).map(([name, own]): readonly [string, Fetching] => {
    const source = { ...base, ...own, name };
    return [name, { source, client: savedClient(saved, name), cache: null, progress, io }];
  });
  return { byName: new Map(byName), saved: () => saved, close: () => Promise.resolve() };
}
