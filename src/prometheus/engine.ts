import type { SendResult } from './send.js';
import type { SourceConfig } from './source-config.js';

/** Which server answers a data source, as far as its config and its answers say. */
export interface Engine {
  /** The config that fits the server. */
  readonly config: () => SourceConfig;
  /** It is a VictoriaMetrics. Nothing changes where the config names a flavor. */
  readonly recognize: () => void;
}

export function createEngine(config: SourceConfig): Engine {
  let current = config;
  return {
    config: () => current,
    recognize: () => {
      const { ifVictoriaMetrics } = current;
      if (ifVictoriaMetrics !== null) current = { ...current, ...ifVictoriaMetrics, ifVictoriaMetrics: null };
    },
  };
}

/** Only VictoriaMetrics has these beside `data`: its single node behind it, its cluster before it. */
const STATS = /"stats":\s?\{\s?"seriesFetched"/;
const IS_PARTIAL = /^\s?\{\s?"status":\s?"success",\s?"isPartial":/;
const LOOKED_AT = 400;

/** Whether an answer to a query can only be of VictoriaMetrics. The small ones of version 1.90 and before do not say. */
export function isVictoriaMetricsAnswer(body: string): boolean {
  return IS_PARTIAL.test(body.slice(0, LOOKED_AT)) || STATS.test(body.slice(-LOOKED_AT));
}

/**
 * Which server build information is of: VictoriaMetrics says no more than a version, while all that are built of Prometheus
 * name a revision; its header, which vmauth also sets before a Prometheus, does not suffice alone. Null: it does not say.
 */
export function engineOfBuild(page: SendResult): 'victoriametrics' | 'other' | null {
  if (page.kind === 'failed' || page.status !== 200) return null;
  try {
    const { status, data } = JSON.parse(page.body) as { status?: unknown; data?: unknown };
    if (status !== 'success' || typeof data !== 'object' || data === null) return null;
    const names = Object.keys(data);
    if (names.includes('revision')) return 'other';
    return page.hasServerHostname && names.every((name) => name === 'version') ? 'victoriametrics' : null;
  } catch {
    return null;
  }
}
