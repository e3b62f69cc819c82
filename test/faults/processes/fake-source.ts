import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, shut } from '../../../src/simulator/sockets.js';

/** A Prometheus that is an hour old and answers `sum(rate(load_NAME[...]))` with the test's value of NAME. */
export interface FakeSource {
  readonly url: string;
  /** Null: no series. */
  readonly set: (name: string, value: number | null) => void;
  /** Returns `performance.now()` of each query so far. */
  readonly queriesMs: () => readonly number[];
  readonly close: () => Promise<void>;
}

/** Starts it on the loopback address, with all values at 0. */
export async function startFakeSource(): Promise<FakeSource> {
  const values = new Map<string, number | null>();
  const queriesMs: number[] = [];
  const startTime = new Date(Date.now() - 3_600_000).toISOString();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      response.setHeader('content-type', 'application/json');
      if (request.url?.startsWith('/api/v1/query') !== true) {
        response.end(JSON.stringify({ status: 'success', data: { startTime } }));
        return;
      }
      queriesMs.push(performance.now());
      const name = /load_(\w+)/.exec(new URLSearchParams(body).get('query') ?? '')?.[1] ?? '';
      const value = values.get(name) ?? (values.has(name) ? null : 0);
      const result = value === null ? [] : [{ metric: {}, value: [Date.now() / 1000, String(value)] }];
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
    });
  });
  const url = await listen(server, 0);
  return {
    url,
    set: (name, value) => void values.set(name, value),
    queriesMs: () => queriesMs,
    close: () => shut(server),
  };
}
