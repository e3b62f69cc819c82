import type { Clock } from '../../units/clock.js';
import { type Instant, instantFromSeconds, parseInstant } from '../../units/time.js';
import { asObject, isWholeAnswer, parseObject } from '../answers/classify.js';
import type { Engine } from './engine.js';
import type { GetPage, QueryOptions } from '../requests/request-options.js';

const RUNTIME_INFO_PATH = '/api/v1/status/runtimeinfo';
const METRICS_PATH = '/metrics';

/** `unavailable`: the server did not answer; null: its answer contains no start time. */
type ReadStartTime = (options: QueryOptions) => Promise<Instant | null | 'unavailable'>;

/** How long a metrics page without a start time is not read again. */
const REST_MS = 600_000;

/**
 * Creates a reader of the start time of a server that stores data. Prometheus reports it in its runtime information,
 * VictoriaMetrics only in its own metrics. A querier of Thanos reports its own start there, which says nothing about
 * the data of its stores (Thanos: pkg/api/api.go).
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
      if (page.kind === 'failed' || saysNothing(page.status)) return 'unavailable';
      const info = readRuntimeInfo(page.body);
      if (info !== null || flavor !== 'prometheus') return info?.storesSince ?? null;
    }
    if (clock.monotonicMs() < restUntilMs) return null;
    const page = await get(METRICS_PATH, { ...options, accept: 'text/plain' });
    if (page.kind === 'failed' || saysNothing(page.status)) return 'unavailable';
    const start = page.status === 200 ? readStorageStart(page.body) : null;
    if (start === null) restUntilMs = clock.monotonicMs() + REST_MS;
    return start;
  };
}

/** Whether the response is a failure of the server or partial (206). */
function saysNothing(status: number): boolean {
  return status >= 500 || (status < 300 && !isWholeAnswer(status));
}

/** Returns null if the page reports no start time. `storesSince` is null for a server that stores nothing. */
function readRuntimeInfo(body: string): { readonly storesSince: Instant | null } | null {
  const { startTime, storageRetention } = asObject(parseObject(body)?.['data']) ?? {};
  const start = typeof startTime === 'string' ? parseInstant(startTime) : null;
  return start === null ? null : { storesSince: typeof storageRetention === 'string' ? start : null };
}

/**
 * Returns the start time of a VictoriaMetrics that stores data; null for a component in front of it (vmselect, vmauth).
 */
function readStorageStart(page: string): Instant | null {
  if (!/^vm_data_size_bytes\{/m.test(page)) return null;
  const seconds = /^vm_app_start_timestamp (\d{1,12})$/m.exec(page)?.[1];
  // The metric is in whole seconds, rounded down. The server must not appear older than it is.
  return seconds === undefined ? null : instantFromSeconds(Number(seconds) + 1);
}
