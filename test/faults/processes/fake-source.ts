import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, shut } from '../../../src/simulator/sockets.js';
import { type AgeQuery, readAgeQuery } from '../age-queries.js';

/**
 * A Prometheus that is an hour old and answers `sum(rate(load_NAME[...]))` with the test's value of NAME. Each is
 * scraped every second, the last time when it is queried.
 */
export interface FakeSource {
  readonly url: string;
  /** Null: no series. */
  readonly set: (name: string, value: number | null) => void;
  readonly close: () => Promise<void>;
}

/** Starts it on the loopback address, with all values at 0. */
export async function startFakeSource(): Promise<FakeSource> {
  const values = new Map<string, number | null>();
  const startTime = new Date(Date.now() - 3_600_000).toISOString();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      response.setHeader('content-type', 'application/json');
      if (request.url?.startsWith('/api/v1/query') !== true) {
        response.end(JSON.stringify({ status: 'success', data: { startTime } }));
        return;
      }
      const query = new URLSearchParams(body).get('query') ?? '';
      const name = /load_(\w+)/.exec(query)?.[1] ?? '';
      const nowSeconds = Date.now() / 1000;
      const age = readAgeQuery(query);
      const loaded = values.get(name) ?? (values.has(name) ? null : 0);
      const one = (value: number, metric = {}): object => ({ metric, value: [nowSeconds, String(value)] });
      const found = age === null ? [one(loaded ?? 0)] : freshAge(age, nowSeconds, one);
      const result = loaded === null ? [] : found;
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
    });
  });
  const url = await listen(server, 0);
  return {
    url,
    set: (name, value) => void values.set(name, value),
    close: () => shut(server),
  };
}

/** Returns the series of an answer. No scrapes fail. */
function freshAge(
  age: AgeQuery,
  nowSeconds: number,
  one: (value: number, metric?: object) => object,
): readonly object[] {
  switch (age.kind) {
    case 'interval':
      return [one(1)];
    case 'newest': {
      const newest = one(nowSeconds - age.offsetSeconds);
      if (age.start === null) return [newest];
      return [newest, one(nowSeconds - age.start.offsetSeconds, { [age.start.mark]: '1' })];
    }
    case 'seen':
      return [one(nowSeconds - age.offsetSeconds)];
    case 'samples':
      return [one(Math.floor(age.rangeSeconds))];
    case 'failing':
      return [];
    default:
      return age satisfies never;
  }
}
