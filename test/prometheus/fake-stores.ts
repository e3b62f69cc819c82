import type { Clock } from '../../src/units/clock.js';
import { type FakeServer, startServer } from './fakes.js';

interface Target {
  /** Monotonic times in seconds. */
  fromSeconds: number;
  toSeconds: number | null;
}

/** A store behind a querier: a sidecar of Thanos with its Prometheus, or a vmstorage. */
export class FakeStore {
  readonly name: string;
  targets: Target[];
  /** Whether the querier still queries it. */
  isQueried = true;
  /** Whether the querier lists it. */
  isListed = true;
  labels: Readonly<Record<string, string>>;
  /** Milliseconds; a store gateway has none of the last hours. */
  maxTimeMs = Number.MAX_SAFE_INTEGER;
  component = 'sidecar';

  constructor(name: string, targets: number) {
    this.name = name;
    this.labels = { cluster: name };
    this.targets = Array.from({ length: targets }, () => ({ fromSeconds: -7200, toSeconds: null }));
  }

  /** Ends the first targets that live, as a scale-in does. */
  end(count: number, nowSeconds: number): void {
    const alive = this.targets.filter(({ toSeconds }) => toSeconds === null);
    for (const target of alive.slice(0, count)) target.toSeconds = nowSeconds;
  }

  add(count: number, nowSeconds: number): void {
    for (let index = 0; index < count; index += 1)
      this.targets.push({ fromSeconds: nowSeconds, toSeconds: null });
  }

  /** Deletes all data but what a scraper sends again. */
  empty(nowSeconds: number): void {
    for (const target of this.targets)
      target.fromSeconds = Math.max(target.fromSeconds, nowSeconds - RESENT_SECONDS);
  }
}

const RESENT_SECONDS = 45;
/** Prometheus writes the marker of a target that has ended after 1.1 scrape intervals, with the time of its end. */
const STALE_AFTER_SECONDS = 33;

export interface FakeQuerier extends FakeServer {
  /** The queries for the number of targets. */
  readonly counts: () => readonly string[];
}

/**
 * Starts a querier over several stores. It evaluates queries for the number of targets; any other query returns 10 for
 * each target that lives. Without `listsStores` it has no `/api/v1/stores`, as a vmselect.
 */
export async function startQuerier(
  clock: Clock,
  stores: readonly FakeStore[],
  { listsStores = true, refusesAt = false, isUp = (): boolean => true } = {},
): Promise<FakeQuerier> {
  const nowSeconds = (): number => clock.monotonicMs() / 1000;
  const epoch = clock.now() / 1000 - nowSeconds();
  const countAt = (seconds: number): number =>
    stores
      .filter(({ isQueried }) => isQueried)
      .flatMap(({ targets }) => targets)
      .filter(({ fromSeconds, toSeconds }) => {
        const isMarked = toSeconds !== null && nowSeconds() >= toSeconds + STALE_AFTER_SECONDS;
        return fromSeconds <= seconds && (!isMarked || seconds < toSeconds);
      }).length;
  const evaluate = (query: string): readonly object[] => {
    const terms = [...query.matchAll(/(label_replace\()?count\(up (@|offset) ([\d.]+)s?\)/g)];
    const value = (labels: object, number: number): readonly object[] =>
      number === 0 ? [] : [{ metric: labels, value: [clock.now() / 1000, String(number)] }];
    if (terms.length === 0) {
      const living = stores
        .filter(({ isQueried }) => isQueried)
        .flatMap(({ targets }) => targets)
        .filter(({ toSeconds }) => toSeconds === null).length;
      return value({}, 10 * living);
    }
    return terms.flatMap(([, isLabeled, form, number]) => {
      const seconds = form === '@' ? Number(number) - epoch : nowSeconds() - Number(number);
      return value(isLabeled === undefined ? {} : { at: 'before' }, countAt(seconds));
    });
  };
  const server = await startServer((response, { url, form }) => {
    if (!isUp()) {
      response.writeHead(503).end('no backend');
      return;
    }
    const send = (data: object): void => void response.end(JSON.stringify({ status: 'success', data }));
    const query = form.get('query') ?? '';
    if (url === '/api/v1/query' && refusesAt && query.includes('@'))
      response
        .writeHead(400)
        .end('{"status":"error","errorType":"bad_data","error":"@ modifier is disabled"}');
    else if (url === '/api/v1/query') send({ resultType: 'vector', result: evaluate(query) });
    else if (url === '/api/v1/stores' && listsStores) send(listOf(stores));
    else if (url === '/api/v1/status/runtimeinfo' && listsStores)
      send({ startTime: '2025-12-01T00:00:00Z', CWD: '/', GoroutineCount: 9, GOMAXPROCS: 2, GOGC: '' });
    else response.writeHead(404).end('404 page not found');
  });
  return {
    ...server,
    counts: () =>
      server.requests
        .map(({ form }) => form.get('query') ?? '')
        .filter((query) => query.includes('count(up')),
  };
}

function listOf(stores: readonly FakeStore[]): object {
  const byComponent: Record<string, object[]> = {};
  for (const { name, labels, isListed, isQueried, component, maxTimeMs } of stores) {
    if (!isListed) continue;
    (byComponent[component] ??= []).push({
      name: `${name}:10901`,
      lastCheck: '2026-01-01T00:00:00Z',
      lastError: isQueried ? null : 'rpc error: code = Unavailable',
      labelSets: [labels],
      minTime: 0,
      maxTime: maxTimeMs,
    });
  }
  return byComponent;
}

export const THANOS = { flavor: 'thanos', ifVictoriaMetrics: null } as const;
