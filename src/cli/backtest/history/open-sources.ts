import { createPrometheusClient } from '../../../prometheus/client/client.js';
import { createRangeClient } from '../../../prometheus/client/range-client.js';
import type { SourceConfig } from '../../../prometheus/data-source/source-config.js';
import { type Fetching, identityOf } from './fetch-series.js';

/** A server that does not respond fails its first range query, which has a better message. */
const RECOGNITION_MS = 5000;

/**
 * Opens the data sources with these names. Detects the flavor of a server without a configured flavor, as the service
 * does, because VictoriaMetrics has another CPU query. Ignores names that the config does not contain.
 */
export async function openSources(
  configs: Readonly<Record<string, SourceConfig>>,
  names: readonly string[],
  parts: Pick<Fetching, 'cache' | 'progress' | 'io'>,
): Promise<ReadonlyMap<string, Fetching>> {
  const known = [...new Set(names)].filter((name) => Object.hasOwn(configs, name));
  const opened = await Promise.all(
    known.map(async (name): Promise<readonly (readonly [string, Fetching])[]> => {
      const config = configs[name];
      if (config === undefined) return [];
      const source = await fittingConfig(config, parts);
      const client = createRangeClient(source, parts.io.clock, parts.io.env);
      return [[name, { ...parts, source, client }]];
    }),
  );
  return new Map(opened.flat());
}

/** Returns the config for the queries of the server. If the server is down, the cached answers still apply to it. */
async function fittingConfig(
  config: SourceConfig,
  { cache, io }: Pick<Fetching, 'cache' | 'io'>,
): Promise<SourceConfig> {
  const client = createPrometheusClient(config, io.clock, io.env);
  const hasAnswered = await client.recognize?.({ timeoutMs: RECOGNITION_MS, signal: io.signal });
  const fitting = client.fittingConfig?.() ?? config;
  const { ifVictoriaMetrics } = config;
  if (ifVictoriaMetrics === null) return fitting;
  const key = { source: identityOf(config), query: '# flavor', start: 0, end: 0, stepSeconds: 1 };
  if (hasAnswered === true) {
    await cache?.write(key, [{ labels: { flavor: fitting.flavor }, points: [] }]);
    return fitting;
  }
  const [known] = (await cache?.read(key)) ?? [];
  return known?.labels['flavor'] === ifVictoriaMetrics.flavor
    ? { ...config, ...ifVictoriaMetrics, ifVictoriaMetrics: null }
    : fitting;
}
