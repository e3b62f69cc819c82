import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { createTokenAccess } from '../../src/server/access/access-control.js';
import { createApp } from '../../src/server/app.js';
import { startServer } from '../../src/server/server.js';
import type { RunningServer } from '../../src/server/server.js';
import { createRecords } from '../../src/telemetry/records.js';
import { ManualClock } from '../support/manual-clock.js';
import { randomRuns } from '../support/random-runs.js';
import { record } from '../telemetry/record-builder.js';
import { partsOf } from './app-parts.js';

const SEED = 20_260_101;
const HISTORY = '/api/v1/scalers/shop/web/history';

const servers = new Map<'open' | 'closed', RunningServer>();

beforeAll(async () => {
  const records = createRecords(new ManualClock());
  const one = record();
  records.ledger.add(one);
  records.chartPoints.add(one);
  for (const [kind, access] of [
    ['open', null],
    ['closed', createTokenAccess(() => Promise.resolve('right'))],
  ] as const) {
    const app = createApp(partsOf(records, { access }));
    servers.set(kind, await startServer({ app, host: '127.0.0.1', port: 0, clock: SYSTEM_CLOCK }));
  }
});

afterAll(async () => {
  await Promise.all([...servers.values()].map((server) => server.close()));
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** `node:http`, because `fetch` corrects paths and rejects headers. */
async function get(
  kind: 'open' | 'closed',
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const url = new URL(servers.get(kind)?.url ?? '');
    const options = { host: url.hostname, port: url.port, path, headers, agent: false };
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('end', () => {
        const isJson = (response.headers['content-type'] ?? '').startsWith('application/json');
        resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : text });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

const word = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e3',
    '0x10',
    '1000',
    '86400',
    '86401',
    '99999999999',
    'NaN',
    'null',
    '__proto__',
    'constructor',
    'memory',
    'prometheus',
    'PROMETHEUS',
    '2026-01-01T00:00:00Z',
    '2025-12-31T23:00:00Z',
    '2025-12-31T23:59:60Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999999+14:00',
    '2026-02-30T00:00:00Z',
    '"} or vector(1) #',
  ),
  fc.string({ maxLength: 40, unit: 'binary' }),
  fc.nat().map(String),
);

/** Queries with parameters of this API, each perhaps several times, perhaps badly encoded. */
function queryOf(...names: readonly string[]): fc.Arbitrary<string> {
  const encoded = word.map((text) => encodeURIComponent(text));
  const value = fc.oneof(
    { weight: 9, arbitrary: encoded },
    { weight: 1, arbitrary: fc.constantFrom('%', '%zz', '%ff%fe', '+', '%00') },
  );
  const parameter = fc.tuple(fc.constantFrom(...names), value).map(([name, text]) => `${name}=${text}`);
  return fc.array(parameter, { maxLength: 4 }).map((all) => all.join('&'));
}

function checkAnswer({ status, body }: Answer): void {
  expect([200, 400, 404, 414, 503]).toContain(status);
  if (status !== 200) expect(body).toEqual({ error: expect.any(String) });
}

describe('whatever a client sends', () => {
  it('the parameters of a history have an answer, or the message says what is wrong', async () => {
    const property = fc.asyncProperty(
      queryOf('source', 'since', 'step', 'limit', 'source[]', '__proto__'),
      async (query) => {
        const answer = await get('open', `${HISTORY}?${query}`);
        checkAnswer(answer);
        if (answer.status === 503)
          expect(answer.body).toEqual({ error: 'Prometheus is not asked in this test' });
      },
    );
    await fc.assert(property, randomRuns(SEED, 600));
  });

  it('a history from Prometheus is asked only for a valid range', async () => {
    const property = fc.asyncProperty(queryOf('since', 'step', 'limit'), async (query) => {
      const { status } = await get('open', `${HISTORY}?source=prometheus&${query}`);
      expect([400, 503]).toContain(status);
    });
    await fc.assert(property, randomRuns(SEED, 300));
  });

  it('a revision of the overview that is none returns all rows', async () => {
    const token = fc.oneof(
      word,
      fc.tuple(fc.nat(), fc.nat()).map(([one, other]) => `${one}-${other}`),
      fc.base64String({ maxLength: 60 }),
    );
    const property = fc.asyncProperty(token, async (since) => {
      const path = `/api/v1/overview?since=${encodeURIComponent(since)}`;
      const { status, body } = await get('open', path);
      expect([200, 400]).toContain(status);
      if (status === 200) expect(body).toMatchObject({ isComplete: true, rows: [{ name: 'web' }] });
    });
    await fc.assert(property, randomRuns(SEED, 300));
  });

  it('a changed revision returns all rows, and the last one none', async () => {
    const { body } = await get('open', '/api/v1/overview');
    const { revision } = body as { readonly revision: string };
    const unchanged = await get('open', `/api/v1/overview?since=${encodeURIComponent(revision)}`);
    expect(unchanged.body).toMatchObject({ isComplete: false, rows: [] });

    const changed = fc
      .tuple(fc.nat(revision.length), fc.nat(2), fc.string({ maxLength: 3 }))
      .map(([at, gone, by]) => `${revision.slice(0, at)}${by}${revision.slice(at + gone)}`)
      .filter((text) => text !== revision);
    const property = fc.asyncProperty(changed, async (since) => {
      const answer = await get('open', `/api/v1/overview?since=${encodeURIComponent(since)}`);
      expect([200, 400]).toContain(answer.status);
      if (answer.status === 200) expect(answer.body).toHaveProperty('rows');
    });
    await fc.assert(property, randomRuns(SEED, 300));
  });

  it.each(['Authorization', 'X-Promscaler-Authorization'])(
    'a header %s with another token than the right one is 401',
    async (header) => {
      const characters = fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f);
      const text = fc.array(characters, { maxLength: 60 }).map((codes) => String.fromCharCode(...codes));
      const value = fc
        .tuple(fc.constantFrom('', 'Bearer ', 'bearer  ', 'Basic ', 'Bearer right', 'Bearer\t'), text)
        .map((parts) => parts.join(''))
        .filter((one) => !/^Bearer +right *$/i.test(one.trim()));
      const property = fc.asyncProperty(value, async (one) => {
        const { status, body } = await get('closed', HISTORY, { [header]: one });
        expect([status, body]).toEqual([401, { error: expect.any(String) }]);
      });
      await fc.assert(property, randomRuns(SEED, 300));
      expect((await get('closed', HISTORY, { [header]: 'Bearer right' })).status).toBe(200);
    },
  );

  it('a repeated token header is 401', async () => {
    const headers = { 'X-Promscaler-Authorization': 'Bearer right, Bearer right' };

    expect((await get('closed', HISTORY, headers)).status).toBe(401);
  });
});
