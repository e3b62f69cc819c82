import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { eventually, settle } from '../support/manual-clock.js';
import { ClusterFixture } from './cluster-fixture.js';
import { event, list, openWatch, status } from './fake-api-server.js';

const HPAS = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers';
const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

let fixture: ClusterFixture;

beforeEach(async () => {
  fixture = await ClusterFixture.create();
});

afterEach(() => fixture.stop());

function hpa(name: string, ownerReferences: readonly unknown[] = []) {
  return { metadata: { name, namespace: 'shop', ownerReferences }, spec: { scaleTargetRef: TARGET } };
}

const active = (value: string) => ({ type: 'ScalingActive', status: value });

function wanting(desiredReplicas: number, resourceVersion: string) {
  return {
    ...hpa('web'),
    metadata: { name: 'web', namespace: 'shop', resourceVersion },
    status: { desiredReplicas, lastScaleTime: '2026-01-01T00:00:00Z' },
  };
}

const warnings = () =>
  fixture.logged.filter(({ facts }) => String(facts['resource']).startsWith('horizontalpod'));
const look = async () => fixture.cluster.listOtherScalers('shop', fixture.signal);
const counts = () => [fixture.fake.seen('LIST', HPAS).length, fixture.fake.seen('WATCH', HPAS).length];

/** Looks until there are `wanted` HPAs, while time passes. */
async function eventuallySees(wanted: number): Promise<void> {
  let seen = NaN;
  for (let tries = 0; tries < 200 && seen !== wanted; tries += 1) {
    fixture.clock.advance(100);
    await settle(2);
    seen = (await look().catch(() => [])).length;
  }
  expect(seen).toBe(wanted);
}

describe('listOtherScalers', () => {
  it('returns HPAs, and the ScaledObject that owns one', async () => {
    const owner = { kind: 'ScaledObject', name: 'queue', controller: true };
    const unnamed = { metadata: {} };
    fixture.fake.on('LIST', HPAS, list('5', [hpa('web'), hpa('keda-hpa-queue', [owner]), unnamed]));
    fixture.start();

    const whyNoCount = 'the HPA controller has not set them yet';
    expect(await look()).toEqual([
      { kind: 'HorizontalPodAutoscaler', namespace: 'shop', name: 'web', target: TARGET, whyNoCount },
      { kind: 'ScaledObject', namespace: 'shop', name: 'queue', target: TARGET, whyNoCount },
    ]);
  });

  it.each([
    ['7', { desiredReplicas: 7 }, 7],
    ['7 without a change so far', { desiredReplicas: 7, conditions: [active('True')] }, 7],
    ['0 after a change', { desiredReplicas: 0, lastScaleTime: '2026-01-01T00:00:00Z' }, 0],
    ['nothing', {}, undefined],
    ['0 that was never computed', { desiredReplicas: 0, currentReplicas: 3 }, undefined],
    [
      '0 that was never computed, with metrics to come',
      { desiredReplicas: 0, currentMetrics: null },
      undefined,
    ],
    [
      '7 from before its metrics failed',
      { desiredReplicas: 7, lastScaleTime: '2026-01-01T00:00:00Z', conditions: [active('False')] },
      undefined,
    ],
    [
      '7 while it is not known whether it is active',
      { desiredReplicas: 7, conditions: [active('Unknown')] },
      undefined,
    ],
    ['7 without metrics', { desiredReplicas: 7, currentMetrics: null }, undefined],
    [
      '7 with other conditions that are False',
      { desiredReplicas: 7, conditions: [{ type: 'ScalingLimited', status: 'False' }] },
      7,
    ],
    [
      '7 from before its target could not be read',
      { desiredReplicas: 7, conditions: [{ type: 'AbleToScale', status: 'False' }] },
      undefined,
    ],
    ['text', { desiredReplicas: '7' }, undefined],
  ])('reads the desired replicas of an HPA from its status: %s', async (_what, said, wanted) => {
    fixture.fake.on('LIST', HPAS, list('5', [{ ...hpa('web'), status: said }]));
    fixture.start();

    expect((await look()).map(({ desiredReplicas }) => desiredReplicas)).toEqual([wanted]);
  });

  it.each([
    [{ desiredReplicas: 0, currentMetrics: null }, 'the HPA controller has not set them yet'],
    [{ desiredReplicas: 7, currentMetrics: null }, 'its status has no current metrics'],
  ])('says why an HPA without current metrics has no count: %j', async (status, why) => {
    fixture.fake.on('LIST', HPAS, list('5', [{ ...hpa('web'), status }]));
    fixture.start();

    expect((await look()).map(({ whyNoCount }) => whyNoCount)).toEqual([why]);
  });

  it('reads from its conditions why an HPA has no desired replicas, in at most 300 characters', async () => {
    const conditions = [
      { type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale', message: 'scaled' },
      {
        ...active('False'),
        reason: 'FailedGetResourceMetric',
        message: `no metrics\u0007 ${'x'.repeat(400)}`,
      },
    ];
    fixture.fake.on('LIST', HPAS, list('5', [{ ...hpa('web'), status: { desiredReplicas: 7, conditions } }]));
    fixture.start();

    const [{ whyNoCount } = {}] = await look();
    expect(whyNoCount).toMatch(/^FailedGetResourceMetric: no metrics\ufffd x+$/);
    expect(whyNoCount).toHaveLength(300);
  });

  it('sends one list and one watch for any number of calls', async () => {
    fixture.fake.on('LIST', HPAS, list('5', [hpa('web')])).on('WATCH', HPAS, openWatch());
    fixture.start();

    const seen = await Promise.all([look(), look()]);
    await eventually(() => counts()[1] === 1, 'the watch');
    fixture.clock.advance(100_000);
    seen.push(await look());

    expect(seen.map(({ length }) => length)).toEqual([1, 1, 1]);
    expect(counts()).toEqual([1, 1]);
  });

  it('knows the desired replicas of an HPA at once, without another list', async () => {
    fixture.fake.on('LIST', HPAS, list('5', [wanting(3, '4')]));
    fixture.fake.on('WATCH', HPAS, openWatch(event('MODIFIED', wanting(8, '9'))));
    fixture.start();

    const desired = async () => (await look()).map(({ desiredReplicas }) => desiredReplicas);
    const first = await desired();
    let second: readonly unknown[] = [];
    for (let tries = 0; tries < 100 && second[0] !== 8; tries += 1) {
      await settle(5);
      second = await desired();
    }

    expect([first, second]).toEqual([[3], [8]]);
    expect(fixture.clock.monotonicMs()).toBe(0);
  });

  it('sees a new HPA and a deleted one at once, and reports the deletion', async () => {
    let send: (type: string, object: unknown) => void = () => undefined;
    fixture.fake.on('LIST', HPAS, list('5', []));
    fixture.fake.on('WATCH', HPAS, (response, request) => {
      openWatch()(response, request);
      send = (type, object) => void response.write(`${JSON.stringify(event(type, object))}\n`);
    });
    fixture.start();
    expect(await look()).toEqual([]);
    await eventually(() => counts()[1] === 1, 'the watch');

    send('ADDED', wanting(3, '6'));
    await eventuallySees(1);
    expect(fixture.removedHpas).toEqual([]);
    send('DELETED', wanting(3, '7'));
    await eventuallySees(0);

    expect(fixture.removedHpas).toEqual(['web']);
    expect(counts()).toEqual([1, 1]);
  });

  it.each([403, 404])('is empty after repeated answers of %i, and logs one warning', async (code) => {
    fixture.fake.on('LIST', HPAS, status(code, 'no'));
    fixture.start();

    const first = look().catch(String);
    for (let seconds = 0; seconds < 60; seconds += 1) {
      fixture.clock.advance(1000);
      await settle(2);
    }

    expect(await first).toEqual(
      code === 403 ? expect.stringContaining('the first list has not finished yet') : [],
    );
    expect(await look()).toEqual([]);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]?.facts['fix']).toEqual(
      code === 403 ? expect.stringContaining('list and watch on horizontalpodautoscalers') : undefined,
    );
  });

  it('waits for a server that has just started and answers 403 for a second', async () => {
    fixture.fake.on('LIST', HPAS, status(403, 'no'), list('5', [hpa('web')]));
    fixture.start();

    const seen = look();
    await eventually(() => {
      fixture.clock.advance(100);
      return counts()[0] === 2;
    }, 'the second list');

    expect(await seen).toHaveLength(1);
    expect(warnings()).toEqual([]);
  });

  it('rejects if the first list takes longer than 10 s, and not before', async () => {
    fixture.fake.on('LIST', HPAS, () => undefined);
    fixture.start();
    let failure: unknown = null;
    const waiting = look().catch((error: unknown) => (failure = error));
    await eventually(() => counts()[0] === 1, 'the list');

    fixture.clock.advance(9999);
    await settle(5);
    expect(failure).toBeNull();
    fixture.clock.advance(1);
    await waiting;

    expect(String(failure)).toContain('reading HPAs in namespace shop: the first list has not finished yet');
  });

  it.each([
    [400, 'oops'],
    [401, 'oops'],
    [429, 'oops'],
    [500, 'oops'],
    [503, 'oops'],
  ])('rejects while the first list fails with %i, until a list succeeds', async (code, message) => {
    let isFailing = true;
    fixture.fake.on('LIST', HPAS, (response, request) =>
      (isFailing ? status(code, message) : list('5', [hpa('web')]))(response, request),
    );
    fixture.start();

    const first = look().catch(String);
    await eventually(() => {
      fixture.clock.advance(100);
      return warnings().length === 1;
    }, 'the failure');
    expect(await first).toContain(String(code));
    fixture.clock.advance(3_600_000);
    await expect(look()).rejects.toThrow(String(code));

    isFailing = false;
    await eventuallySees(1);
  });

  it('keeps the HPAs of its last list if later lists fail with 500', async () => {
    let isFailing = false;
    const failing = status(500, 'oops');
    fixture.fake
      .on('LIST', HPAS, (response, request) =>
        (isFailing ? failing : list('5', [hpa('web')]))(response, request),
      )
      .on('WATCH', HPAS, failing);
    fixture.start();
    expect(await look()).toHaveLength(1);

    isFailing = true;
    await pass(600);

    expect(counts()[0]).toBeGreaterThan(1);
    expect(await look()).toHaveLength(1);
  });

  /** Lets `seconds` pass in steps of a second. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      fixture.clock.advance(1000);
      await settle(1);
    }
  };

  it('keeps the last HPAs while they are forbidden, as outdated after 150 s, and lists them again within 60 s', async () => {
    let isForbidden = true;
    fixture.fake
      .on('LIST', HPAS, list('5', [hpa('web')]), (response, request) =>
        (isForbidden ? status(403, 'no') : list('6', []))(response, request),
      )
      .on('WATCH', HPAS, (response, request) =>
        (isForbidden ? status(403, 'no') : openWatch())(response, request),
      );
    fixture.start();
    expect(await look()).toHaveLength(1);

    await pass(145);
    expect(fixture.cluster.areOtherScalersOutdated('shop')).toBe(false);
    await pass(755);
    expect(await look()).toHaveLength(1);
    expect(fixture.cluster.areOtherScalersOutdated('shop')).toBe(true);
    const lists = counts()[0] ?? NaN;
    expect(lists).toBeGreaterThan(900 / 60);
    expect(lists).toBeLessThan(900 / 30 + 10);
    expect(warnings()).toHaveLength(1);

    isForbidden = false;
    await pass(61);
    expect(await look()).toEqual([]);
    expect(fixture.cluster.areOtherScalersOutdated('shop')).toBe(false);
  });

  it('lists every 30 to 60 s if the account can list but not watch, and logs one warning', async () => {
    let hpas = [hpa('web')];
    let isWatched = false;
    fixture.fake
      .on('LIST', HPAS, (response, request) => list('5', hpas)(response, request))
      .on('WATCH', HPAS, (response, request) =>
        (isWatched ? openWatch() : status(403, 'no'))(response, request),
      );
    fixture.start();
    expect(await look()).toHaveLength(1);
    await pass(300);
    const before = counts()[0] ?? NaN;

    hpas = [];
    await pass(61);
    expect(await look()).toEqual([]);
    await pass(539);

    const lists = (counts()[0] ?? NaN) - before;
    expect(lists).toBeGreaterThanOrEqual(600 / 60 - 1);
    expect(lists).toBeLessThanOrEqual(600 / 30);
    expect(fixture.cluster.areOtherScalersOutdated('shop')).toBe(false);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]?.facts['fix']).toContain('list and watch on horizontalpodautoscalers');

    isWatched = true;
    await pass(61);
    const watched = counts();
    await pass(90);
    expect(counts()).toEqual(watched);
  });

  it('rejects for a namespace that is not followed', async () => {
    fixture.start();

    await expect(look()).resolves.toEqual([]);
    await expect(async () => fixture.cluster.listOtherScalers('other', fixture.signal)).rejects.toThrow(
      'reading HPAs in namespace other: the first list has not finished yet',
    );
  });
});
