import { afterEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { createTokenAccess } from '../../../src/server/access/access-control.js';
import { ANYBODY } from '../../../src/server/access/viewer.js';
import { createApp } from '../../../src/server/app.js';
import type { AppParts } from '../../../src/server/app.js';
import {
  type LongAnswer,
  asksPrometheus,
  readLongRange,
  type LongRange,
} from '../../../src/server/pages/long-history.js';
import { BadRequest } from '../../../src/server/pages/query.js';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import { formatInstant } from '../../../src/units/time.js';
import { at, T0 } from '../../support/builders.js';
import { scaler } from '../../telemetry/record-builder.js';
import { partsOf } from '../app-parts.js';

const servers: RunningServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const HISTORY = '/api/v1/scalers/shop/web/history?source=prometheus';

function shown({ start, end, stepSeconds }: LongRange): readonly unknown[] {
  return [formatInstant(start).slice(5, 19), formatInstant(end).slice(5, 19), stepSeconds];
}

describe('the range of a long history', () => {
  it.each([
    ['is a day at the smallest multiple of 15 s by default', {}, ['12-31T00:00:00', '01-01T00:00:00', 90]],
    [
      'has points at multiples of the step',
      { since: '2025-12-31T22:10:01Z', step: '900' },
      ['12-31T22:15:00', '01-01T00:00:00', 900],
    ],
    [
      'starts at since',
      { since: '2025-12-31T22:15:00Z', step: '900' },
      ['12-31T22:15:00', '01-01T00:00:00', 900],
    ],
    ['has the newest 3 points', { limit: '3', step: '10' }, ['12-31T23:59:40', '01-01T00:00:00', 10]],
    [
      'has 1,000 points at most',
      { since: '2025-12-31T23:43:21Z', step: '1' },
      ['12-31T23:43:21', '01-01T00:00:00', 1],
    ],
    [
      'reaches back 90 days',
      { since: '2025-10-03T00:00:00Z', step: '86400' },
      ['10-03T00:00:00', '01-01T00:00:00', 86_400],
    ],
  ])('%s', (_, query, range) => {
    expect(shown(readLongRange(query, T0))).toEqual(range);
  });

  it.each([
    [
      { since: '2025-12-31T23:43:20Z', step: '1' },
      'step must be at least 2 for this value of since: a response has at most 1000 points',
    ],
    [{ since: '2026-01-01T00:00:00.001Z' }, 'since must not be in the future'],
    [{ since: '2025-10-02T23:59:59Z' }, 'since must be within the last 90 days with source=prometheus'],
    [{ since: '2025-12-31T23:59:59Z', step: '86399' }, 'since must be at least one step (86399 s) ago'],
    [{ since: 'yesterday' }, 'since must be an RFC 3339 time, such as 2026-01-01T10:42:30Z'],
    [{ since: ['a', 'b'] }, 'since is given more than once'],
    [{ step: '0' }, 'step must be an integer from 1 to 86400'],
    [{ step: '86401' }, 'step must be an integer from 1 to 86400'],
    [{ limit: '1001' }, 'limit must be an integer from 1 to 1000'],
  ])('rejects %j', (query, message) => {
    expect(() => readLongRange(query, T0)).toThrow(new BadRequest(message));
  });

  it.each([
    [undefined, false],
    ['memory', false],
    ['prometheus', true],
  ])('source=%s: %s', (source, expected) => {
    expect(asksPrometheus(source === undefined ? {} : { source })).toBe(expected);
  });

  it.each(['', 'Prometheus', 'disk', '__proto__'])('source=%j is rejected', (source) => {
    expect(() => asksPrometheus({ source })).toThrow('source must be memory or prometheus');
  });
});

async function serve(
  answer: LongAnswer,
  parts: Partial<Pick<AppParts, 'access' | 'fleet'>> = {},
): Promise<{
  readonly get: (path: string, headers?: Record<string, string>) => Promise<[number, unknown]>;
  readonly asked: LongRange[];
}> {
  const asked: LongRange[] = [];
  const longHistory: AppParts['longHistory'] = {
    find: (key) => (key === 'shop/web' ? scaler('web') : null),
    read: (_, range) => {
      asked.push(range);
      return Promise.resolve(answer);
    },
  };
  const app = createApp(partsOf({}, { longHistory, ...parts }));
  const server = await startServer({ app, host: '127.0.0.1', port: 0, clock: SYSTEM_CLOCK });
  servers.push(server);
  return {
    asked,
    get: async (path, headers = {}) => {
      const response = await fetch(`${server.url}${path}`, { headers: { ...headers, Connection: 'close' } });
      return [response.status, await response.json()];
    },
  };
}

const POINTS: LongAnswer = {
  points: {
    scaler: scaler('web'),
    metrics: scaler('web').spec.metrics,
    points: [{ at: at(-60), counts: [3, null, 4, 1, 10, 2], values: [55, null] }],
    keptFrom: null,
  },
};

describe('/history?source=prometheus', () => {
  it('has the columns of a history, for a scaler that has not been decided here', async () => {
    const { get, asked } = await serve(POINTS);

    expect(await get(`${HISTORY}&step=60&since=2025-12-31T23:00:00Z`)).toEqual([
      200,
      {
        namespace: 'shop',
        name: 'web',
        stepSeconds: 60,
        keptFrom: null,
        at: ['2025-12-31T23:59:00Z'],
        currentReplicas: [3],
        desiredReplicas: [null],
        recommendedReplicas: [4],
        minReplicas: [1],
        maxReplicas: [10],
        readyPods: [2],
        metrics: [{ type: 'Resource', metric: 'cpu', unit: 'percent', value: [55], target: [null] }],
      },
    ]);
    expect(asked.map(shown)).toEqual([['12-31T23:00:00', '01-01T00:00:00', 60]]);
  });

  it('is answered by every replica, without asking another one', async () => {
    const fleet = {
      identity: 'promscaler-0',
      isOwn: () => false,
      ownerOf: () => null,
      peers: () => [],
      keys: () => Promise.resolve([]),
    };
    const { get } = await serve(POINTS, { fleet });

    expect((await get(HISTORY))[0]).toBe(200);
    expect((await get('/api/v1/scalers/shop/web/history'))[0]).toBe(503);
  });

  it('is 503 with the reason if Prometheus failed', async () => {
    const { get } = await serve({ why: 'the data source `default` failed: refused' });

    expect(await get(HISTORY)).toEqual([503, { error: 'the data source `default` failed: refused' }]);
  });

  it.each([
    [`${HISTORY}&step=0`, 400],
    [`${HISTORY}&source=memory`, 400],
    ['/api/v1/scalers/shop/other/history?source=prometheus', 404],
  ])('%s is %i, and Prometheus is not asked', async (path, status) => {
    const { get, asked } = await serve(POINTS);

    expect((await get(path))[0]).toBe(status);
    expect(asked).toEqual([]);
  });

  it('needs the token, and the permission to see the namespace', async () => {
    const { get } = await serve(POINTS, { access: createTokenAccess(() => Promise.resolve('right')) });
    const blind = await serve(POINTS, {
      access: {
        check: () =>
          Promise.resolve({
            kind: 'admitted',
            viewer: { sees: () => false, seesAll: false, scope: '' },
            identity: ANYBODY,
          }),
        checkIdentity: () => Promise.resolve({ kind: 'refused' }),
      },
    });

    expect([(await get(HISTORY))[0], (await get(HISTORY, { Authorization: 'Bearer right' }))[0]]).toEqual([
      401, 200,
    ]);
    expect(await blind.get(HISTORY, { Authorization: 'Bearer any' })).toEqual([
      404,
      { error: 'there is no scaler shop/web' },
    ]);
    expect(blind.asked).toEqual([]);
  });
});
