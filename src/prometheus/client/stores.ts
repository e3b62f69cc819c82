import type { Clock } from '../../units/clock.js';
import { asObject, isWholeAnswer, parseObject, quote } from '../answers/classify.js';
import type { GetPage, QueryOptions } from '../requests/request-options.js';

/** A store with recent data that a Thanos querier lists. */
export interface Store {
  /** Its address. */
  readonly name: string;
  /** What it has data of: its label sets, or its address if it has none. */
  readonly keys: readonly string[];
  /** False: its last health check failed, so queries succeed without it (Thanos: pkg/query/endpointset.go). */
  readonly isQueried: boolean;
}

/** Returns the stores; null if the server lists none, or does not answer. Never rejects. */
export type ReadStores = (options: QueryOptions) => Promise<readonly Store[] | null>;

const STORES_PATH = '/api/v1/stores';

/** How long a server without the page is not asked for it again. */
const REST_MS = 600_000;

/** A store gateway has only data that is older than an hour. No recent value depends on it. */
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
    if (page.kind === 'failed' || page.status >= 500) return null;
    const stores = isWholeAnswer(page.status) ? readStores(page.body, clock.now() - RECENT_MS) : null;
    if (stores === null) restUntilMs = clock.monotonicMs() + REST_MS;
    return stores;
  };
}

/** Returns the stores with data after `sinceMs`; null for another page. */
function readStores(body: string, sinceMs: number): readonly Store[] | null {
  const lists = dataOf(body);
  if (lists === null) return null;
  const stores: Store[] = [];
  for (const each of Object.values(lists).flat()) {
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

/** Returns the lists of stores by component; null for another page. */
function dataOf(body: string): Readonly<Record<string, readonly unknown[]>> | null {
  const { status, data } = parseObject(body) ?? {};
  const components = Object.entries(asObject(data) ?? {});
  const lists = components.filter((one): one is [string, unknown[]] => Array.isArray(one[1]));
  const isWhole = status === 'success' && asObject(data) !== null && lists.length === components.length;
  return isWhole ? Object.fromEntries(lists) : null;
}
