import type { ServiceConfig } from '../../../config/resolve-service-config.js';
import { resolveServiceConfig } from '../../../config/resolve-service-config.js';
import { createProgress } from '../../output/progress.js';
import type { CommandIo } from '../../process/io.js';
import { type Fetching, type Range } from './fetch-series.js';
import { createHistoryCache, historyDirectory } from './history-cache.js';
import { openSources } from './open-sources.js';
import { savedClient, type SavedHistory, savedSource } from './saved-history.js';

/** The source of a history: servers or a file. */
export interface HistorySources {
  readonly byName: ReadonlyMap<string, Fetching>;
  /** Returns all data that has been read, for `--save-history`. */
  readonly saved: (range: Range) => SavedHistory;
  /** Call at the end, also after an error. */
  readonly close: () => Promise<void>;
}

export async function openServers(
  configs: ServiceConfig['prometheus'],
  settings: { readonly names: readonly string[]; readonly hasCache: boolean; readonly isSaved: boolean },
  io: CommandIo,
): Promise<HistorySources> {
  const progress = createProgress(
    io,
    (finished, total) => `reading the history: ${finished} of ${total} parts`,
  );
  const directory = settings.hasCache ? historyDirectory(io.env) : null;
  const cache = directory === null ? null : createHistoryCache(directory, io.clock);
  const answers = new Map<string, SavedHistory['answers'][number]>();
  const opened = await openSources(configs, settings.names, { cache, progress, io });
  const saving = (name: string): Pick<Fetching, 'onAnswer'> => ({
    onAnswer: ({ query, stepSeconds, start, end }, series) => {
      const key = JSON.stringify([name, query, stepSeconds, start, end]);
      answers.set(key, { source: name, query, stepSeconds, start, end, series });
    },
  });
  return {
    byName: settings.isSaved
      ? new Map([...opened].map(([name, fetching]) => [name, { ...fetching, ...saving(name) }]))
      : opened,
    saved: (range) => ({
      ...range,
      sources: Object.fromEntries([...opened].map(([name, { source }]) => [name, savedSource(source)])),
      answers: [...answers.values()],
    }),
    close: async () => {
      progress.clear();
      await cache?.prune();
    },
  };
}

/** Reads data that `openServers` saved to a file. */
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
