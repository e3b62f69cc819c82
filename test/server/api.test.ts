import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { createApp } from '../../src/server/app.js';
import { startServer } from '../../src/server/server.js';
import type { RunningServer } from '../../src/server/server.js';
import { createLedger } from '../../src/telemetry/ledger.js';
import type { Ledger } from '../../src/telemetry/ledger.js';
import { rejectionsOf } from '../../src/telemetry/rejections.js';
import { problem } from '../control/status/status-builder.js';
import { failed } from '../../src/units/failure.js';
import { at } from '../support/builders.js';
import { aRecommendation } from '../telemetry/a-recommendation.js';
import {
  CPU,
  condition,
  decision,
  limitStep,
  metricResult,
  record,
  scaler,
  scalerIn,
} from '../telemetry/record-builder.js';
import { partsOf } from './app-parts.js';

const PATCHED = { kind: 'patched', from: 3, to: 5, message: '' } as const;

let ledger: Ledger = createLedger();
let server: RunningServer | null = null;

beforeEach(async () => {
  ledger = createLedger();
  const app = createApp(partsOf({ ledger }));
  server = await startServer({ app, port: 0, host: '127.0.0.1', clock: SYSTEM_CLOCK });
});

afterEach(() => server?.close());

describe('/api/v1/scalers', () => {
  it('returns all fields of a scaler', async () => {
    ledger.add(
      record({
        at: at(15),
        decision: decision({ desiredReplicas: 5, limits: [limitStep({ until: at(300) })] }),
        conditions: [condition()],
        outcome: PATCHED,
        state: { lastScaleDown: at(-60) },
      }),
    );

    expect(await get('/api/v1/scalers')).toEqual({
      status: 200,
      body: {
        version: '0.1.0',
        leader: true,
        problems: [],
        items: [
          {
            namespace: 'shop',
            name: 'web',
            target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
            at: '2026-01-01T00:00:15Z',
            state: {
              name: 'Pending',
              severity: 'waiting',
              cause: 'no metric has been evaluated yet',
              since: '2026-01-01T00:00:15Z',
              until: null,
            },
            currentReplicas: 3,
            desiredReplicas: 5,
            recommendedReplicas: 3,
            minReplicas: 1,
            maxReplicas: 10,
            reason: 'cpu is within the tolerance',
            metrics: [
              {
                type: 'Resource',
                metric: 'cpu',
                unit: 'percent',
                value: 55,
                target: 60,
                proposal: 3,
                error: null,
                partial: null,
              },
            ],
            limits: [
              { limit: 'stabilization', reason: 'a recommendation of 3', until: '2026-01-01T00:05:00Z' },
            ],
            conditions: [{ ...condition(), lastTransitionTime: '2026-01-01T00:00:15Z' }],
            outcome: PATCHED,
            conflictingWriter: null,
            otherScaler: null,
            shadow: null,
            agreement: null,
            lastScaleUp: '2026-01-01T00:00:15Z',
            lastScaleDown: null,
            paused: false,
            pause: null,
            dryRun: false,
            generation: null,
            newestGeneration: null,
          },
        ],
        continue: null,
      },
    });
  });

  it('has no control or bidi characters of a message, in the list and of one scaler', async () => {
    const message = 'by \u202eeve\u009b31m';
    ledger.add(record({ conditions: [condition({ type: 'Held', reason: 'ConflictingScaler', message })] }));

    for (const path of ['/api/v1/scalers', '/api/v1/scalers/shop/web', '/api/v1/overview']) {
      const text = JSON.stringify(await get(path));
      expect(text).not.toMatch(/[\u0080-\u009f\u202e]/);
      expect(text).toContain('by \ufffdeve\ufffd31m');
    }
  });

  it('returns null, not 0, for unknown values while the target cannot be read', async () => {
    ledger.add(record({ snapshot: null, decision: null }));

    expect(await get('/api/v1/scalers')).toMatchObject({
      body: {
        items: [{ currentReplicas: null, desiredReplicas: null, metrics: [{ value: null, target: 60 }] }],
      },
    });
  });

  it('names the reason of a metric without a value, and none of a metric with a value', async () => {
    const failure = { ...failed('timeout', 'no answer within 10 s'), source: 'default' };
    const metrics = [metricResult({ proposal: null, error: failure }), metricResult()];
    ledger.add(record({ decision: decision({ metrics }), scaler: scaler('web', [CPU, CPU]) }));

    const [shown] = (await get('/api/v1/scalers')).body.items ?? [];

    expect(shown).toMatchObject({
      metrics: [{ error: 'Prometheus: no answer within 10 s', errorReason: 'timeout' }, { error: null }],
    });
    expect(shown).not.toHaveProperty('metrics.1.errorReason');
  });

  it('has the recommendation of a document that was back-tested, in the list and of one scaler', async () => {
    const [web, other] = [scaler(), scaler('other')];
    ledger.add(record({ scaler: web }));
    ledger.add(record({ scaler: other }));
    ledger.keepRecommendation(web, aRecommendation());

    const { items } = (await get('/api/v1/scalers')).body;
    const one = (await get('/api/v1/scalers/shop/web')).body;

    expect(items?.[0]).not.toHaveProperty('recommendation');
    expect(items?.[1]).toHaveProperty('recommendation', {
      ...aRecommendation(),
      at: '2026-01-01T00:00:00Z',
      from: '2025-12-25T00:00:00Z',
      to: '2026-01-01T00:00:00Z',
      isObject: false,
    });
    expect(one).toHaveProperty('recommendation.saving.percent', 12.5);
  });

  it('lists 3 scalers by name in pages of 2', async () => {
    for (const name of ['c', 'a', 'b']) ledger.add(record({ scaler: scaler(name) }));

    const first = await get('/api/v1/scalers?limit=2');
    const second = await get(`/api/v1/scalers?limit=2&continue=${first.body.continue ?? ''}`);

    expect(names(first)).toEqual(['a', 'b']);
    expect([names(second), second.body.continue]).toEqual([['c'], null]);
  });

  it('returns only the requested namespace', async () => {
    ledger.add(record());
    ledger.add(record({ scaler: scalerIn('other') }));

    expect((await get('/api/v1/scalers?namespace=other')).body.items).toHaveLength(1);
    expect((await get('/api/v1/scalers?namespace=none')).body.items).toEqual([]);
  });

  it.each([
    ['1', 200],
    ['500', 200],
    ['0', 400],
    ['501', 400],
    ['-1', 400],
    ['x', 400],
    ['1&limit=2', 400],
  ])('answers limit=%s with %i', async (limit, status) => {
    expect((await get(`/api/v1/scalers?limit=${limit}`)).status).toBe(status);
  });
});

describe('/api/v1/scalers/NAMESPACE/NAME', () => {
  it('adds the document and the decision in its JSON form', async () => {
    const one = record({ state: { lastScaleUp: at(-60) } });
    ledger.add(one);

    const { body } = await get('/api/v1/scalers/shop/web');

    expect(body).toMatchObject({
      name: 'web',
      document: JSON.parse(JSON.stringify(one.scaler.document)) as object,
      decision: { desiredReplicas: 3, state: { scaleEvents: [] } },
      seconds: { observe: 0.01 },
    });
  });

  it.each(['', '/decisions', '/snapshot'])('is 404 for a scaler that does not exist, %s', async (page) => {
    expect(await get(`/api/v1/scalers/shop/web${page}`)).toEqual({
      status: 404,
      body: {
        error: 'scaler shop/web does not exist, or its first cycle has not ended yet',
      },
    });
  });

  it('is 404 with the cause for a document that is rejected, and since when the list has it', async () => {
    const rejected = problem({ scaler: 'shop/web', message: 'unknown field', path: '' });
    ledger.setRejections(rejectionsOf([rejected]), at(9));
    await server?.close();
    const app = createApp(partsOf({ ledger }, { api: { problems: () => [rejected] } }));
    server = await startServer({ app, port: 0, host: '127.0.0.1', clock: SYSTEM_CLOCK });

    expect(await get('/api/v1/scalers/shop/web')).toEqual({
      status: 404,
      body: {
        error:
          'the document of scaler shop/web is rejected, and no valid version is in effect: unknown field',
      },
    });
    expect((await get('/api/v1/scalers')).body).toMatchObject({
      problems: [{ scaler: 'shop/web', since: '2026-01-01T00:00:09Z' }],
    });
  });

  it('/decisions returns the newest first, up to the limit, without state', async () => {
    for (const seconds of [0, 15, 30]) ledger.add(record({ at: at(seconds), outcome: PATCHED }));

    const { body } = await get('/api/v1/scalers/shop/web/decisions?limit=2');

    expect(body.items?.map(({ lastAt, count }) => [lastAt, count])).toEqual([
      ['2026-01-01T00:00:30Z', 1],
      ['2026-01-01T00:00:15Z', 1],
    ]);
    expect(body.items?.[0]?.['decision']).not.toHaveProperty('state');
  });

  it('/decisions?changes=true omits decisions without a change', async () => {
    ledger.add(record({ decision: decision({ action: 'scale-up', desiredReplicas: 5 }), outcome: PATCHED }));
    ledger.add(record());
    ledger.add(record({ decision: null }));

    expect((await get('/api/v1/scalers/shop/web/decisions')).body.items).toHaveLength(3);
    expect((await get('/api/v1/scalers/shop/web/decisions?changes=true')).body.items).toHaveLength(1);
  });

  it('/snapshot is the snapshot of the last decision', async () => {
    const one = record({ decision: decision({ metrics: [metricResult()] }), scaler: scaler('web', [CPU]) });
    ledger.add(one);

    const { body } = await get('/api/v1/scalers/shop/web/snapshot');

    expect(one.snapshot).not.toBeNull();
    expect(body).toMatchObject({
      now: '2026-01-01T00:00:00Z',
      target: { specReplicas: 3, statusReplicas: 3 },
    });
  });

  it('/snapshot is 404 while the target cannot be read', async () => {
    ledger.add(record({ snapshot: null, decision: null }));

    expect((await get('/api/v1/scalers/shop/web/snapshot')).status).toBe(404);
  });
});

interface Reply {
  readonly status: number;
  readonly body: {
    readonly items?: readonly Readonly<Record<string, unknown>>[];
    readonly continue?: string | null;
  };
}

async function get(path: string): Promise<Reply> {
  const response = await fetch(`${server?.url ?? ''}${path}`, { headers: { Connection: 'close' } });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
}

function names({ body }: Reply): readonly unknown[] {
  return (body.items ?? []).map(({ name }) => name);
}
