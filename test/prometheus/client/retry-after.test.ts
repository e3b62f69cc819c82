import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { createPrometheusClient } from '../../../src/prometheus/client/client.js';
import { instantFromMs } from '../../../src/units/time.js';
import { aSource } from '../../support/builders.js';
import { realClock, vectorBody } from '../fakes.js';
import { clientOf, serve } from '../served.js';

const NOW_MS = Date.UTC(2026, 0, 1, 12);
const VALUE = vectorBody([{ labels: {}, value: 1 }]);

/** A source that answers `hostile` queries with a status and a `Retry-After`, and others with a value. */
async function setUp(status: number, retryAfter: string | null) {
  let nowMs = 0;
  const clock = { ...realClock, monotonicMs: () => nowMs, now: () => instantFromMs(NOW_MS + nowMs) };
  const server = await serve((response, { form }) => {
    const isHostile = form.get('query')?.startsWith('hostile') === true;
    const headers = isHostile && retryAfter !== null ? { 'Retry-After': retryAfter } : {};
    response.writeHead(isHostile ? status : 200, headers).end(isHostile ? '' : VALUE);
  });
  const client = createPrometheusClient(aSource({ urls: [server.url] }), clock);
  const ask = async (query: string, namespace?: string): Promise<string> => {
    const answer: Answer = await client.query(query, { timeoutMs: 5000, namespace, mayRetry: false });
    return answer.class === 'failed' ? answer.reason : answer.class;
  };
  return { ask, sent: () => server.requests.length, advance: (ms: number) => (nowMs += ms) };
}

describe('a Retry-After', () => {
  it.each([
    [429, '60', 'rate_limited', 60],
    [429, 'Thu, 01 Jan 2026 12:00:40 GMT', 'rate_limited', 40],
    [503, '30', 'busy', 30],
    [503, 'Thu, 01 Jan 2026 12:00:20 GMT', 'busy', 20],
    [503, '100000', 'busy', 300],
  ] as const)('of a %d, %s, is honored', async (status, header, reason, seconds) => {
    const { ask, sent, advance } = await setUp(status, header);

    expect(await ask('hostile')).toBe(reason);
    advance(seconds * 1000 - 1);
    expect(await ask('other')).toBe(reason);
    expect(sent()).toBe(1);
    advance(1);
    expect(await ask('other')).toBe('value');
  });

  it.each([
    [429, null, 'rate_limited'],
    [429, 'soon', 'rate_limited'],
    [503, null, 'server_error'],
    [503, 'Thu, 01 Jan 2026 11:00:00 GMT', 'busy'],
  ] as const)('of a %d, %p, asks for no silence', async (status, header, reason) => {
    const { ask } = await setUp(status, header);

    expect(await ask('hostile')).toBe(reason);
    expect(await ask('other')).toBe('value');
  });

  it('for the query of one namespace holds only its queries, for those of two namespaces all', async () => {
    const { ask, sent } = await setUp(429, '60');

    expect(await ask('hostile', 'a')).toBe('rate_limited');
    expect([await ask('own', 'a'), await ask('own', 'b'), await ask('merged')]).toEqual([
      'rate_limited',
      'value',
      'value',
    ]);
    expect(await ask('hostile', 'b')).toBe('rate_limited');
    expect([await ask('own', 'c'), await ask('merged')]).toEqual(['rate_limited', 'rate_limited']);
    expect(sent()).toBe(4);
  });
});

describe('a 503', () => {
  const timesOf = async (retryAfter: string | null, timeoutMs: number): Promise<readonly number[]> => {
    const times: number[] = [];
    const server = await serve((response) => {
      times.push(performance.now());
      response.writeHead(503, retryAfter === null ? {} : { 'Retry-After': retryAfter }).end();
    });
    await clientOf({ urls: [server.url] }).query('up', { timeoutMs });
    return times.map((time) => time - (times[0] ?? 0));
  };

  it('is sent again once, after more than 0.2 s', async () => {
    const [, second = 0, ...more] = await timesOf(null, 5000);

    expect(second).toBeGreaterThan(200);
    expect(more).toEqual([]);
  });

  it('is not sent again after its time limit, or with a Retry-After', async () => {
    expect(await timesOf(null, 150)).toHaveLength(1);
    expect(await timesOf('1', 5000)).toHaveLength(1);
  });
});
