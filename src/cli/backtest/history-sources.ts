import { type Fetching, identityOf, type Range } from '../../backtest/history/fetch-series.js';
import { type ServiceConfig, resolveServiceConfig } from '../../config/resolve-service-config.js';
import { createPrometheusClient } from '../../prometheus/client/client.js';
import { createRangeClient } from '../../prometheus/client/range-client.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { createProgress } from '../output/progress.js';
import type { CommandIo } from '../output/io.js';
import { createHistoryCache, type HistoryCache, historyDirectory } from './history-cache.js';
import { savedClient, type SavedHistory, savedSource } from './saved-history.js';

/** The data sources of a history, which are either servers or a file. */
export interface HistorySources {
  readonly byName: ReadonlyMap<string, Fetching>;
  /** Returns all data that has been read, for `--save-history`. */
  readonly saved: (range: Range) => SavedHistory;
  /** Must be called at the end, also after an error. */
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

/** Opens the data that `--save-history` has written to a file. */
export function openSaved(saved: SavedHistory, io: CommandIo): HistorySources {
  const { prometheus } = resolveServiceConfig({}, null);
  const base = prometheus['default'];
  if (base === undefined) throw new Error('the default config has a data source');
  const progress = { add: () => undefined, done: () => undefined };
  const byName = Object.entries(saved.sources).map(([name, own]): readonly [string, Fetching] => {
    const source = { ...base, ...own, name };
    return [
      name,
      {
        source,
        client: savedClient(saved, name),
        cache: null,
        progress,
        now: io.clock.now,
        signal: io.signal,
      },
    ];
  });
  return { byName: new Map(byName), saved: () => saved, close: () => Promise.resolve() };
}

interface SourceParts extends Pick<Fetching, 'progress'> {
  readonly cache: HistoryCache | null;
  readonly io: CommandIo;
}

/**
 * Time limit for detecting the flavor. It is short, because the following range query reports an unreachable server
 * better.
 */
const RECOGNITION_MS = 5000;

/**
 * Opens the data sources with these names; ignores names that the config does not contain. Detects a flavor that is not
 * configured, because VictoriaMetrics needs another CPU query.
 */
async function openSources(
  configs: Readonly<Record<string, SourceConfig>>,
  names: readonly string[],
  { cache, progress, io }: SourceParts,
): Promise<ReadonlyMap<string, Fetching>> {
  const known = [...new Set(names)].filter((name) => Object.hasOwn(configs, name));
  const opened = await Promise.all(
    known.map(async (name): Promise<readonly (readonly [string, Fetching])[]> => {
      const config = configs[name];
      if (config === undefined) return [];
      const source = await fittingConfig(config, { cache, io });
      const { clock, signal, env } = io;
      const client = createRangeClient(source, clock, env);
      return [[name, { source, client, cache, progress, now: clock.now, signal }]];
    }),
  );
  return new Map(opened.flat());
}

/**
 * Returns the config with the queries for the detected flavor. If the server is down, uses the flavor of its cached
 * answers.
 */
async function fittingConfig(
  config: SourceConfig,
  { cache, io }: Pick<SourceParts, 'cache' | 'io'>,
): Promise<SourceConfig> {
  const client = createPrometheusClient(config, io.clock, io.env);
  const hasAnswered = await client.recognize({ timeoutMs: RECOGNITION_MS, signal: io.signal });
  const fitting = client.fittingConfig();
  const { ifVictoriaMetrics } = config;
  if (ifVictoriaMetrics === null) return fitting;
  const key = { source: identityOf(config), query: '# flavor', start: 0, end: 0, stepSeconds: 1 };
  if (hasAnswered) {
    await cache?.write(key, [{ labels: { flavor: fitting.flavor }, points: [] }]);
    return fitting;
  }
  const [known] = (await cache?.read(key)) ?? [];
  return known?.labels['flavor'] === ifVictoriaMetrics.flavor
    ? { ...config, ...ifVictoriaMetrics, ifVictoriaMetrics: null }
    : fitting;
}
