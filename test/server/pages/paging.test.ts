import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { buildCondition } from '../../../src/decision/result/condition.js';
import { createApp } from '../../../src/server/app.js';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import { createRecords } from '../../../src/telemetry/records.js';
import type { Records } from '../../../src/telemetry/records.js';
import { at } from '../../support/builders.js';
import { decision, record, scaler } from '../../telemetry/record-builder.js';
import { partsOf } from '../app-parts.js';

const PATCHED = { kind: 'patched', from: 3, to: 5, message: '' } as const;
const ACTIVE = [buildCondition('ScalingActive', 'ValidMetricFound', '')];
const DECISIONS = '/api/v1/scalers/shop/web/decisions';

let records: Records = createRecords(SYSTEM_CLOCK);
let server: RunningServer | null = null;

beforeEach(async () => {
  records = createRecords(SYSTEM_CLOCK);
  server = await startServer({
    app: createApp(partsOf(records)),
    port: 0,
    host: '127.0.0.1',
    clock: SYSTEM_CLOCK,
  });
});

afterEach(() => server?.close());

interface Page {
  readonly error?: string;
  readonly items: readonly {
    readonly name?: string;
    readonly firstAt?: string;
    readonly lastAt?: string;
    readonly state?: { readonly name: string; readonly since: string };
  }[];
  readonly continue: string | null;
  readonly keptFrom?: string;
}

async function get(
  path: string,
): Promise<{ readonly status: number; readonly bytes: number; readonly body: Page }> {
  const response = await fetch(`${server?.url ?? ''}${path}`, { headers: { Connection: 'close' } });
  const text = await response.text();
  return { status: response.status, bytes: text.length, body: JSON.parse(text) as Page };
}

/** Returns the names of every page, each of `limit` rows; `between` is called after each. */
async function walk(limit: number, between: () => void = () => undefined): Promise<readonly string[]> {
  const names: string[] = [];
  let next: string | null = '';
  while (next !== null) {
    const { body } = await get(`/api/v1/scalers?limit=${limit}${next === '' ? '' : `&continue=${next}`}`);
    names.push(...body.items.map(({ name }) => name ?? ''));
    next = body.continue;
    between();
  }
  return names;
}

describe('the pages of /api/v1/scalers', () => {
  it('contain each of 5 once while others are added and removed', async () => {
    const stays = ['b', 'd', 'f', 'h', 'j'];
    for (const name of [...stays, 'c']) records.ledger.add(record({ scaler: scaler(name) }));
    const changes = [
      () => records.ledger.remove('shop/c'),
      () => void records.ledger.add(record({ scaler: scaler('a') })),
      () => void records.ledger.add(record({ scaler: scaler('i') })),
    ];

    const names = await walk(2, () => changes.shift()?.());

    expect(names.filter((name) => stays.includes(name))).toEqual(stays);
    expect(new Set(names).size).toBe(names.length);
  });

  it('continue if the last row of the previous page was removed', async () => {
    for (const name of ['a', 'b', 'c']) records.ledger.add(record({ scaler: scaler(name) }));
    const first = await get('/api/v1/scalers?limit=2');

    records.ledger.remove('shop/b');

    const second = await get(`/api/v1/scalers?continue=${first.body.continue ?? ''}`);
    expect(second.body.items.map(({ name }) => name)).toEqual(['c']);
  });

  it('end at 1 MiB and continue: 30 rows of 100 kB', async () => {
    const reason = 'x'.repeat(100_000);
    for (let index = 10; index < 40; index += 1)
      records.ledger.add(record({ scaler: scaler(`s${index}`), decision: decision({ reason }) }));

    const first = await get('/api/v1/scalers');

    expect([first.body.items.length, first.bytes < 1.1 * 1024 * 1024]).toEqual([10, true]);
    expect(await walk(500)).toHaveLength(30);
  });

  it.each(['x', 'c2hvcC93ZWI', '', Buffer.from('decisions:0').toString('base64url'), 'a&continue=b'])(
    'reject continue=%s, which is not a token of the list',
    async (token) => {
      const { status, body } = await get(`/api/v1/scalers?continue=${token}`);

      expect(status).toBe(400);
      expect(body.error).toMatch(
        /^continue (must be the value of `continue` in the previous page|is given more than once)$/,
      );
    },
  );

  it('reject a namespace that is set twice', async () => {
    expect(await get('/api/v1/scalers?namespace=a&namespace=b')).toMatchObject({
      status: 400,
      body: { error: 'namespace is given more than once' },
    });
  });
});

describe('/decisions', () => {
  it('returns 5 changes in pages of 2, also while a sixth is added', async () => {
    for (let index = 0; index < 5; index += 1)
      records.ledger.add(record({ at: at(15 * index), outcome: PATCHED }));

    const first = await get(`${DECISIONS}?limit=2`);
    records.ledger.add(record({ at: at(75), outcome: PATCHED }));
    const second = await get(`${DECISIONS}?limit=2&continue=${first.body.continue ?? ''}`);
    const third = await get(`${DECISIONS}?limit=2&continue=${second.body.continue ?? ''}`);

    const seconds = [first, second, third].map(({ body }) =>
      body.items.map(({ firstAt }) => firstAt?.slice(14, 19)),
    );
    expect(seconds).toEqual([['01:00', '00:45'], ['00:30', '00:15'], ['00:00']]);
    expect([third.body.continue, first.body.keptFrom]).toEqual([null, '2026-01-01T00:00:00Z']);
  });

  it.each([
    ['2026-01-01T00:00:14.999Z', '2026-01-01T00:00:00Z'],
    ['2026-01-01T00:00:15Z', '2026-01-01T00:00:15Z'],
    ['2026-01-01T01:00:29%2B01:00', '2026-01-01T00:00:15Z'],
    ['2026-01-01T01:00:29+01:00', '2026-01-01T00:00:15Z'],
    ['2027-01-01T00:00:00Z', '2026-01-01T00:00:30Z'],
    ['2025-12-31T23:59:59Z', undefined],
  ])('?at=%s starts with the decision in effect, of %s', async (time, firstAt) => {
    for (const seconds of [0, 15, 30]) records.ledger.add(record({ at: at(seconds), outcome: PATCHED }));

    const { body } = await get(`${DECISIONS}?limit=1&at=${time}`);

    expect(body.items[0]?.firstAt).toBe(firstAt);
  });

  it('has the first cycle of a state of 30 s in each of its two entries, not that of the entry', async () => {
    const limited = (seconds: number, desiredReplicas: number): void => {
      const limits = [
        { limit: 'policy', from: 9, to: desiredReplicas, reason: 'at most 1 pod in 60 s', until: null },
      ] as const;
      const given = { currentReplicas: desiredReplicas, desiredReplicas, recommendedReplicas: 9, limits };
      records.ledger.add(record({ at: at(seconds), conditions: ACTIVE, decision: decision(given) }));
    };
    records.ledger.add(record({ at: at(0), conditions: ACTIVE }));
    limited(15, 4);
    limited(30, 5);
    records.ledger.add(record({ at: at(45), conditions: ACTIVE }));

    const { body } = await get(`${DECISIONS}?limit=10`);

    expect(body.items.map(({ firstAt, state }) => [firstAt, state?.name, state?.since])).toEqual([
      ['2026-01-01T00:00:45Z', 'OK', '2026-01-01T00:00:45Z'],
      ['2026-01-01T00:00:30Z', 'RateLimited', '2026-01-01T00:00:15Z'],
      ['2026-01-01T00:00:15Z', 'RateLimited', '2026-01-01T00:00:15Z'],
      ['2026-01-01T00:00:00Z', 'OK', '2026-01-01T00:00:00Z'],
    ]);
  });

  it.each(['changes=1', 'at=now', 'limit=101', 'continue=x'])(
    'rejects %s with an explanation',
    async (query) => {
      records.ledger.add(record());

      const { status, body } = await get(`${DECISIONS}?${query}`);

      expect([status, body.error?.includes(' must be ')]).toEqual([400, true]);
    },
  );
});

describe('/snapshot?at=', () => {
  it('is that of the last of consecutive cycles with the same result, from the archive', async () => {
    const first = record({ at: at(15) });
    for (const one of [record(), first]) records.ledger.add(one);
    records.ledger.add(record({ at: at(30), outcome: PATCHED }));
    if (first.snapshot !== null) records.archive.keep('shop/web', first.snapshot);

    const past = await get('/api/v1/scalers/shop/web/snapshot?at=2026-01-01T00:00:05Z');
    const present = await get('/api/v1/scalers/shop/web/snapshot?at=2026-01-01T00:00:30Z');
    const before = await get('/api/v1/scalers/shop/web/snapshot?at=2025-01-01T00:00:00Z');

    expect([past.body, present.body]).toMatchObject([
      { now: '2026-01-01T00:00:15Z' },
      { now: '2026-01-01T00:00:30Z' },
    ]);
    expect([before.status, before.body.error]).toEqual([
      404,
      'decisions of shop/web are retained since 2026-01-01T00:00:00Z',
    ]);
  });

  it('is 404 if it is no longer kept', async () => {
    records.ledger.add(record());
    records.ledger.add(record({ at: at(30), outcome: PATCHED }));

    expect(await get('/api/v1/scalers/shop/web/snapshot?at=2026-01-01T00:00:05Z')).toMatchObject({
      status: 404,
      body: {
        error: 'the snapshot of 2026-01-01T00:00:00Z is no longer kept; only the last snapshot is kept',
      },
    });
  });
});

describe('/history', () => {
  it('has a column for each count and metric, all with the length of the times', async () => {
    const one = record();
    records.ledger.add(one);
    records.chartPoints.add(one);
    records.chartPoints.add(record({ at: at(15), snapshot: null, decision: null }));

    expect((await get('/api/v1/scalers/shop/web/history')).body).toEqual({
      namespace: 'shop',
      name: 'web',
      stepSeconds: null,
      keptFrom: '2026-01-01T00:00:00Z',
      at: ['2026-01-01T00:00:00Z', '2026-01-01T00:00:15Z'],
      currentReplicas: [3, null],
      desiredReplicas: [3, null],
      recommendedReplicas: [3, null],
      minReplicas: [1, 1],
      maxReplicas: [10, 10],
      readyPods: [0, null],
      metrics: [{ type: 'Resource', metric: 'cpu', unit: 'percent', value: [55, null], target: [60, 60] }],
    });
  });
});
