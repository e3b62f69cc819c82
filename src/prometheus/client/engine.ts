import { asObject } from '../../scaler/plain-json.js';
import { parseObject } from '../answers/classify.js';
import type { Flavor, SourceConfig } from '../data-source/source-config.js';
import type { SendResult } from './request.js';

/**
 * Query parameters without which the engine may return wrong data: see reliability.md, P3. The tenant of Mimir is not
 * among them, because it is a header of the config.
 */
export const FLAVOR_PARAMETERS: Readonly<Record<Flavor, Readonly<Record<string, string>>>> = {
  prometheus: {},
  mimir: {},
  thanos: { dedup: 'true', partial_response: 'false', max_source_resolution: '0s' },
  victoriametrics: { nocache: '1', deny_partial_response: '1' },
};

export interface Engine {
  readonly config: () => SourceConfig;
  /** Records that the server is VictoriaMetrics. No effect if the config sets a flavor. */
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

/** Members that only VictoriaMetrics sends: a single node `stats` after the data, a cluster `isPartial` before it. */
const STATS = /"stats":\s?\{\s?"seriesFetched"/;
const IS_PARTIAL = /^\s?\{\s?"status":\s?"success",\s?"isPartial":/;
const LOOKED_AT = 400;

/** Returns whether VictoriaMetrics sent the answer. Small answers of versions up to 1.90 are not recognized. */
export function isVictoriaMetricsAnswer(body: Buffer): boolean {
  const end = body.toString('latin1', Math.max(0, body.length - LOOKED_AT));
  return IS_PARTIAL.test(body.toString('latin1', 0, LOOKED_AT)) || STATS.test(end);
}

/**
 * Returns the engine that the build information shows; null: unknown. VictoriaMetrics reports only a version, while all
 * builds of Prometheus also report a revision. A VictoriaMetrics header proves nothing, because vmauth adds it to the
 * answers of a Prometheus, too.
 */
export function engineOfBuild(page: SendResult): 'victoriametrics' | 'other' | null {
  if (page.class === 'failed' || page.status !== 200) return null;
  const { status, data } = parseObject(page.body) ?? {};
  const build = asObject(data);
  if (status !== 'success' || build === null) return null;
  const names = Object.keys(build);
  if (names.includes('revision')) return 'other';
  return page.hasServerHostname && names.every((name) => name === 'version') ? 'victoriametrics' : null;
}
