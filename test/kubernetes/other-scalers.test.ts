import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { eventually, settle } from '../support/manual-clock.js';
import { ClusterRig, WEB } from './cluster-rig.js';
import { event, list, openWatch, status } from './fake-api-server.js';

const HPAS = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers';
const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

let rig: ClusterRig;

beforeEach(async () => {
  rig = await ClusterRig.create();
});

afterEach(() => rig.stop());

function hpa(name: string, ownerReferences: readonly unknown[] = []) {
  return { metadata: { name, namespace: 'shop', ownerReferences }, spec: { scaleTargetRef: TARGET } };
}

const active = (value: string) => ({ type: 'ScalingActive', status: value });

/** The errors logged with a message. */
const errorsOf = (wanted: string) =>
  rig.logged.filter(({ message }) => message === wanted).map(({ facts }) => facts['error']);

const look = () => rig.cluster.listOtherScalers('shop', rig.signal);

describe('listOtherScalers', () => {
  it('returns HPAs, and the ScaledObject that owns one', async () => {
    const owner = { kind: 'ScaledObject', name: 'queue', controller: true };
    rig.fake.on('LIST', HPAS, list('5', [hpa('web'), hpa('keda-hpa-queue', [owner]), { metadata: {} }]));

    expect(await look()).toEqual([
      { kind: 'HorizontalPodAutoscaler', namespace: 'shop', name: 'web', target: TARGET },
      { kind: 'ScaledObject', namespace: 'shop', name: 'queue', target: TARGET },
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
    ['text', { desiredReplicas: '7' }, undefined],
  ])('reads the desired replicas of an HPA from its status: %s', async (_what, said, wanted) => {
    rig.fake.on('LIST', HPAS, list('5', [{ ...hpa('web'), status: said }]));

    expect((await look()).map(({ desiredReplicas }) => desiredReplicas)).toEqual([wanted]);
  });

  it('sends one list for concurrent calls, and another after 60 s, not after 59', async () => {
    rig.fake.on('LIST', HPAS, list('5', [hpa('web')]), list('6', []));

    await Promise.all([look(), look()]);
    rig.clock.advance(59_999);
    const at59 = await look();
    rig.clock.advance(1);
    const at60 = await look();

    expect([at59.length, at60.length]).toEqual([1, 0]);
    expect(rig.fake.requests).toHaveLength(2);
  });

  it.each([403, 404])(
    'is empty after repeated answers of %i, and does not retry for ten minutes',
    async (code) => {
      rig.fake.on('LIST', HPAS, status(code, 'no'));

      const counts: number[] = [];
      for (let seconds = 0; seconds <= 15; seconds += 3) {
        expect(await look()).toEqual([]);
        counts.push(rig.fake.requests.length);
        rig.clock.advance(3000);
      }
      rig.clock.advance(596_999);
      await look();
      const before = rig.fake.requests.length;
      rig.clock.advance(1);
      await look();

      expect(counts).toEqual([1, 2, 3, 4, 5, 6]);
      expect([before, rig.fake.requests.length]).toEqual([6, 7]);
      expect(errorsOf('failed to list HPAs')).toHaveLength(1);
    },
  );

  it('finds an HPA within 6 s if a server that has just started answers 403 for a second', async () => {
    rig.clock.chance = 0.999;
    rig.fake.on('LIST', HPAS, status(403, 'no'), list('5', [hpa('web')]));

    const refused = await look();
    rig.clock.advance(6000);

    expect(refused).toEqual([]);
    expect(await look()).toHaveLength(1);
    expect(rig.logged).toEqual([]);
  });

  it('is empty before the first list, retries after 10 s, not after 9.999, and logs the failure once', async () => {
    rig.fake.on('LIST', HPAS, status(500, 'oops'), status(500, 'oops'), list('5', [hpa('web')]));

    const counts = [(await look()).length];
    rig.clock.advance(9999);
    counts.push((await look()).length, rig.fake.requests.length);
    rig.clock.advance(1);
    counts.push((await look()).length, rig.fake.requests.length);
    rig.clock.advance(10_000);
    counts.push((await look()).length);

    expect(counts).toEqual([0, 0, 1, 0, 2, 1]);
    expect(errorsOf('failed to list HPAs')).toEqual([
      'listing horizontalpodautoscalers in namespace shop: 500 Internal Server Error: oops',
    ]);
    expect(errorsOf('HPAs are listed again')).toHaveLength(1);
  });

  it('keeps the last result after a failure, and retries after 60 s', async () => {
    rig.fake.on('LIST', HPAS, list('5', [hpa('web')]), status(500, 'oops'), list('6', []));

    const known = await look();
    rig.clock.advance(60_000);
    const failed = await look();
    rig.clock.advance(60_000);

    expect(known).toHaveLength(1);
    expect(failed).toEqual(known);
    expect(await look()).toEqual([]);
  });
});

describe('an HPA next to a dry run', () => {
  const wanting = (desiredReplicas: number, resourceVersion: string, target = TARGET) => ({
    ...hpa('web'),
    metadata: { name: 'web', namespace: 'shop', resourceVersion },
    spec: { scaleTargetRef: target },
    status: { desiredReplicas, lastScaleTime: '2026-01-01T00:00:00Z' },
  });
  const watches = () => rig.fake.seen('WATCH', HPAS).length;
  const follow = (isDryRun: boolean) => rig.cluster.follow([{ namespace: 'shop', ref: WEB, isDryRun }]);
  const wanted = async () => (await look()).map(({ desiredReplicas }) => desiredReplicas);

  it('is watched, so that its desired replicas are known at once', async () => {
    rig.fake.on('LIST', HPAS, list('5', [wanting(3, '4')]));
    let push = (): void => undefined;
    rig.fake.on('WATCH', HPAS, (response, request) => {
      openWatch()(response, request);
      push = () => void response.write(`${JSON.stringify(event('MODIFIED', wanting(8, '9')))}\n`);
    });
    rig.start([{ namespace: 'shop', ref: { ...WEB, apiVersion: 'apps/v1beta2' }, isDryRun: true }]);

    const first = await wanted();
    await eventually(() => watches() === 1, 'the watch');
    push();
    let second: readonly unknown[] = [];
    for (let tries = 0; tries < 100 && second[0] !== 8; tries += 1) {
      await settle(5);
      second = await wanted();
    }

    expect([first, second]).toEqual([[3], [8]]);
    expect(rig.clock.monotonicMs()).toBe(0);
  });

  it.each([
    ['a scaler that patches', { isDryRun: false }, TARGET],
    ['an HPA of another workload', { isDryRun: true }, { ...TARGET, name: 'api' }],
    ['an HPA of another kind', { isDryRun: true }, { ...TARGET, kind: 'StatefulSet' }],
  ])('is watched only then: there is no watch for %s', async (_what, mode, target) => {
    rig.fake.on('LIST', HPAS, list('5', [wanting(3, '4', target)]));
    rig.start([{ namespace: 'shop', ref: WEB, ...mode }]);

    await look();
    await settle(20);

    expect(watches()).toBe(0);
  });

  it('is still watched after the documents are loaded again', async () => {
    rig.fake.on('LIST', HPAS, list('5', [wanting(3, '4')])).on('WATCH', HPAS, openWatch());
    rig.start([{ namespace: 'shop', ref: WEB, isDryRun: true }]);
    await look();
    await eventually(() => watches() === 1, 'the watch');
    const open = rig.fake.connections;

    follow(true);
    await settle(20);

    expect([watches(), rig.fake.connections]).toEqual([1, open]);
    expect(await wanted()).toEqual([3]);
  });

  it('is listed, not watched, after the dry run ends', async () => {
    rig.fake.on('LIST', HPAS, list('5', [wanting(3, '4')])).on('WATCH', HPAS, openWatch());
    rig.start([{ namespace: 'shop', ref: WEB, isDryRun: true }]);
    await look();
    await eventually(() => watches() === 1, 'the watch');
    const open = rig.fake.connections;

    follow(false);
    await eventually(() => rig.fake.connections < open, 'the end of the watch');
    rig.fake.on('LIST', HPAS, list('6', []));
    rig.clock.advance(60_000);

    expect(await look()).toEqual([]);
    expect(watches()).toBe(1);
  });

  it('is no longer watched after it is deleted', async () => {
    rig.fake.on('LIST', HPAS, list('5', [wanting(3, '4')]));
    rig.fake.on('WATCH', HPAS, openWatch(event('DELETED', wanting(3, '9'))));
    rig.start([{ namespace: 'shop', ref: WEB, isDryRun: true }]);
    await look();
    await eventually(() => watches() === 1, 'the watch');
    await settle(20);
    rig.fake.on('LIST', HPAS, list('10', []));

    expect(await look()).toEqual([]);
    expect(await look()).toEqual([]);
    await settle(20);
    expect(watches()).toBe(1);
  });

  it('is listed once a minute if the account can list but not watch', async () => {
    rig.fake.on('LIST', HPAS, list('5', [wanting(3, '4')])).on('WATCH', HPAS, status(403, 'no'));
    rig.start([{ namespace: 'shop', ref: WEB, isDryRun: true }]);
    await look();
    const refusal = () =>
      rig.logged.find(({ facts }) => String(facts['resource']).startsWith('horizontalpodautoscalers'));
    await eventually(() => {
      rig.clock.advance(100);
      return refusal() !== undefined;
    }, 'the warning');
    rig.fake.on('LIST', HPAS, list('6', [wanting(8, '6')]));
    rig.clock.advance(60_000);

    expect(await wanted()).toEqual([8]);
    expect(refusal()?.facts['fix']).toContain('list and watch on horizontalpodautoscalers');
  });
});
