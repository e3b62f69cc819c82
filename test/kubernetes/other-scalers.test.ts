import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { ClusterRig, failureOf } from './cluster-rig.js';
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

  it('throws where nothing is known, and keeps what was known after a failure', async () => {
    rig.fake.on('LIST', HPAS, status(500, 'oops'), list('5', [hpa('web')]), status(500, 'oops'));

    const error = await failureOf(look);
    const known = await look();
    rig.clock.advance(60_000);

    expect(error.message).toBe(
      'listing horizontalpodautoscalers of namespace shop: 500 Internal Server Error: oops',
    );
    expect(await look()).toEqual(known);
  });
});
