import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { ClusterRig } from './cluster-rig.js';
import { list, status } from './fake-api-server.js';

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

/** The problems told under a message, one for each time. */
const toldOf = (wanted: string) =>
  rig.logged.filter(({ message }) => message === wanted).map(({ facts }) => facts['problem']);

const look = () => rig.cluster.listOtherScalers('shop', rig.signal);

describe('listOtherScalers', () => {
  it('names HPAs, and the ScaledObject that owns one', async () => {
    const owner = { kind: 'ScaledObject', name: 'queue', controller: true };
    rig.fake.on('LIST', HPAS, list('5', [hpa('web'), hpa('keda-hpa-queue', [owner]), { metadata: {} }]));

    expect(await look()).toEqual([
      { kind: 'HorizontalPodAutoscaler', namespace: 'shop', name: 'web', target: TARGET },
      { kind: 'ScaledObject', namespace: 'shop', name: 'queue', target: TARGET },
    ]);
  });

  it('knows what an HPA wants, 0 included, where it has said so', async () => {
    const saying = [7, 0, undefined].map((desiredReplicas, index) => ({
      ...hpa(`web-${index}`),
      status: { desiredReplicas },
    }));
    rig.fake.on('LIST', HPAS, list('5', saying));

    expect((await look()).map(({ desiredReplicas }) => desiredReplicas)).toEqual([7, 0, undefined]);
  });

  it('asks once for all at the same time, and again after 60 s, not after 59', async () => {
    rig.fake.on('LIST', HPAS, list('5', [hpa('web')]), list('6', []));

    await Promise.all([look(), look()]);
    rig.clock.advance(59_999);
    const at59 = await look();
    rig.clock.advance(1);
    const at60 = await look();

    expect([at59.length, at60.length]).toEqual([1, 0]);
    expect(rig.fake.requests).toHaveLength(2);
  });

  it.each([403, 404])('is empty on a %i, and does not ask again for ten minutes', async (code) => {
    rig.fake.on('LIST', HPAS, status(code, 'no'));

    expect(await look()).toEqual([]);
    rig.clock.advance(599_999);
    await look();
    const before = rig.fake.requests.length;
    rig.clock.advance(1);
    await look();

    expect([before, rig.fake.requests.length]).toEqual([1, 2]);
  });

  it('is empty while no answer ever came, asks again after 10 s, not after 9.999, and tells of it once', async () => {
    rig.fake.on('LIST', HPAS, status(500, 'oops'), status(500, 'oops'), list('5', [hpa('web')]));

    const counts = [(await look()).length];
    rig.clock.advance(9999);
    counts.push((await look()).length, rig.fake.requests.length);
    rig.clock.advance(1);
    counts.push((await look()).length, rig.fake.requests.length);
    rig.clock.advance(10_000);
    counts.push((await look()).length);

    expect(counts).toEqual([0, 0, 1, 0, 2, 1]);
    expect(toldOf('other autoscalers cannot be looked for')).toEqual([
      'listing horizontalpodautoscalers of namespace shop: 500 Internal Server Error: oops',
    ]);
    expect(toldOf('other autoscalers are looked for again')).toHaveLength(1);
  });

  it('keeps what was known after a failure, and asks again after 60 s', async () => {
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
