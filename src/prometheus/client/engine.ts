import { asObject } from '../../scaler/plain-json.js';
import type { Clock } from '../../units/clock.js';
import { type Instant, instantFromSeconds, parseInstant } from '../../units/time.js';
import { isWholeAnswer, parseObject, quote } from '../answers/classify.js';
import type { Flavor, SourceConfig } from '../data-source/source-config.js';
import type { QueryOptions, SendResult } from './request.js';

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

/**
 * Members that only VictoriaMetrics sends: a single node sends `stats` after the data, a cluster sends `isPartial`
 * before it.
 */
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

/** Requests a page by its path on the server. Never rejects. */
type GetPage = (path: string, options: QueryOptions & { readonly accept?: string }) => Promise<SendResult>;

const RUNTIME_INFO_PATH = '/api/v1/status/runtimeinfo';
const METRICS_PATH = '/metrics';

/** `unavailable`: no complete response arrived, or its status is 5xx or 206; null: the server reports no start time. */
type ReadStartTime = (options: QueryOptions) => Promise<Instant | null | 'unavailable'>;

/** After a page without a start time, the page is not requested again for this time. */
const REST_MS = 600_000;

/**
 * Creates a function that reads the start time of a server. Prometheus reports it in its runtime information,
 * VictoriaMetrics only in its own metrics. A Thanos querier also has a start time in its runtime information, which is
 * ignored because its stores have their own (Thanos: pkg/api/api.go).
 */
export function createStartTimeReader(parts: {
  readonly get: GetPage;
  readonly engine: Engine;
  readonly clock: Clock;
}): ReadStartTime {
  const { get, engine, clock } = parts;
  let restUntilMs = -Infinity;

  return async (options) => {
    const { flavor } = engine.config();
    if (flavor === 'thanos') return null;
    if (flavor !== 'victoriametrics') {
      const page = await get(RUNTIME_INFO_PATH, options);
      if (page.class === 'failed' || isInconclusive(page.status)) return 'unavailable';
      const info = readRuntimeInfo(page.body);
      if (info !== null || flavor !== 'prometheus') return info?.storesSince ?? null;
    }
    if (clock.monotonicMs() < restUntilMs) return null;
    const page = await get(METRICS_PATH, { ...options, accept: 'text/plain' });
    if (page.class === 'failed' || isInconclusive(page.status)) return 'unavailable';
    const start = page.status === 200 ? readStorageStart(page.body) : null;
    if (start === null) restUntilMs = clock.monotonicMs() + REST_MS;
    return start;
  };
}

/**
 * Returns whether a response with this status does not show what the server reports: the server failed, or the response
 * is partial (206).
 */
function isInconclusive(status: number): boolean {
  return status >= 500 || (status < 300 && !isWholeAnswer(status));
}

/** Returns null if the page reports no start time. `storesSince` is null if the server itself stores nothing. */
function readRuntimeInfo(body: string): { readonly storesSince: Instant | null } | null {
  const { startTime, storageRetention } = asObject(parseObject(body)?.['data']) ?? {};
  const start = typeof startTime === 'string' ? parseInstant(startTime) : null;
  return start === null ? null : { storesSince: typeof storageRetention === 'string' ? start : null };
}

/** Returns the start time of a VictoriaMetrics; null: the page is of a component without data (vmselect, vmauth). */
function readStorageStart(page: string): Instant | null {
  if (!/^vm_data_size_bytes\{/m.test(page)) return null;
  const seconds = /^vm_app_start_timestamp (\d{1,12})$/m.exec(page)?.[1];
  // The metric is rounded down to whole seconds. One second is added so that the server never appears to be older than
  // it is.
  return seconds === undefined ? null : instantFromSeconds(Number(seconds) + 1);
}

/** A store with recent data in the list of a Thanos querier. */
export interface Store {
  /** Address of the store. */
  readonly name: string;
  /** Identifies the data of the store: its label sets, or its address if it has no labels. */
  readonly keys: readonly string[];
  /** False: its last health check failed, so queries succeed without its data (Thanos: pkg/query/endpointset.go). */
  readonly isQueried: boolean;
}

/** Returns the stores; null: the server has no list of stores, or did not answer. Never rejects. */
export type ReadStores = (options: QueryOptions) => Promise<readonly Store[] | null>;

const STORES_PATH = '/api/v1/stores';

/**
 * Stores are ignored if all of their data is older than this. For example, a store gateway only has data that is older
 * than an hour, and no recent value depends on it.
 */
const RECENT_MS = 1_800_000;

export function createStoresReader({
  get,
  clock,
}: {
  readonly get: GetPage;
  readonly clock: Clock;
}): ReadStores {
  let restUntilMs = -Infinity;
  return async (options) => {
    if (clock.monotonicMs() < restUntilMs) return null;
    const page = await get(STORES_PATH, options);
    if (page.class === 'failed' || page.status >= 500) return null;
    const stores = isWholeAnswer(page.status) ? readStores(page.body, clock.now() - RECENT_MS) : null;
    if (stores === null) restUntilMs = clock.monotonicMs() + REST_MS;
    return stores;
  };
}

/** Returns the stores that have data after `sinceMs`; null: the page is not a list of stores by component. */
function readStores(body: string, sinceMs: number): readonly Store[] | null {
  const { status, data } = parseObject(body) ?? {};
  const components = asObject(data);
  if (status !== 'success' || components === null) return null;
  const stores: Store[] = [];
  for (const each of Object.values(components).flatMap((list): readonly unknown[] =>
    Array.isArray(list) ? list : [null],
  )) {
    const entry = asObject(each);
    if (entry === null) return null;
    const { name, lastError, labelSets, maxTime } = entry;
    if (typeof name !== 'string') return null;
    if (typeof maxTime === 'number' && maxTime < sinceMs) continue;
    const sets = Array.isArray(labelSets) ? labelSets.map((set) => JSON.stringify(set)) : [];
    const isQueried = lastError === null || lastError === undefined;
    stores.push({ name: quote(name), keys: sets.length === 0 ? [name] : sets, isQueried });
  }
  return stores;
}
