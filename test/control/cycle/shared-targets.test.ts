import { describe, expect, it } from '@jest/globals';
import { findOtherScaler, findSharedTargets } from '../../../src/control/cycle/shared-targets.js';
import { nameOtherScaler } from '../../../src/decision/pause.js';
import { targetKey } from '../../../src/kubernetes/targets.js';
import { buildScaler } from '../fixture.js';

const ref = (apiVersion: string, kind = 'Deployment', name = 'web') => ({ apiVersion, kind, name });

describe('targetKey', () => {
  it('is the same for two versions of one group', () => {
    expect(targetKey('shop', ref('apps/v1'))).toBe(targetKey('shop', ref('apps/v1beta2')));
  });

  it.each([
    ['group', 'shop', ref('argoproj.io/v1')],
    ['kind', 'shop', ref('apps/v1', 'StatefulSet')],
    ['name', 'shop', ref('apps/v1', 'Deployment', 'api')],
    ['namespace', 'bank', ref('apps/v1')],
    ['group, the core one', 'shop', ref('v1')],
  ])('is different for another %s', (_, namespace, other) => {
    expect(targetKey(namespace, other)).not.toBe(targetKey('shop', ref('apps/v1')));
  });
});

const namesIn = (shared: ReturnType<typeof findSharedTargets>) =>
  [...shared].map(([key, other]) => [key, nameOtherScaler(other)]);

describe('findSharedTargets', () => {
  it('finds nothing among 2 scalers of 2 targets', () => {
    const api = buildScaler({ scaleTargetRef: { name: 'api' } }, 'api');

    expect(findSharedTargets([buildScaler(), api])).toEqual(new Map());
  });

  it('names one other for each of 3 with one target, never itself', () => {
    const shared = findSharedTargets(['a', 'b', 'c'].map((name) => buildScaler({}, name)));

    expect(namesIn(shared)).toEqual([
      ['shop/a', 'Scaler shop/b'],
      ['shop/b', 'Scaler shop/a'],
      ['shop/c', 'Scaler shop/a'],
    ]);
  });

  it('names no scaler in dry run, and names the first other one for it', () => {
    const scaler = (name: string, dryRun: boolean) => buildScaler({ dryRun }, name);

    expect(namesIn(findSharedTargets([scaler('trial', true), scaler('web', false)]))).toEqual([
      ['shop/trial', 'Scaler shop/web'],
    ]);
    expect(namesIn(findSharedTargets([scaler('trial', true), scaler('other', true)]))).toEqual([]);
    expect(
      namesIn(findSharedTargets([scaler('trial', true), scaler('a', false), scaler('b', false)])),
    ).toEqual([
      ['shop/trial', 'Scaler shop/a'],
      ['shop/a', 'Scaler shop/b'],
      ['shop/b', 'Scaler shop/a'],
    ]);
  });
});

describe('findOtherScaler', () => {
  it('names the first one with the target by kind, namespace and name', () => {
    const others = [
      {
        kind: 'HorizontalPodAutoscaler',
        namespace: 'shop',
        name: 'api',
        target: ref('apps/v1', 'Deployment', 'api'),
      },
      { kind: 'ScaledObject', namespace: 'shop', name: 'web-so', target: ref('apps/v1') },
    ];

    const found = findOtherScaler('shop', ref('apps/v1'), others);

    expect(found === null ? null : nameOtherScaler(found)).toBe('ScaledObject shop/web-so');
    expect(findOtherScaler('shop', ref('apps/v1'), others.slice(0, 1))).toBeNull();
  });

  it('adds a second one of the target, unless KEDA is replacing the HPA of the same ScaledObject', () => {
    const hpa = (name: string, kind = 'HorizontalPodAutoscaler') => ({
      kind,
      namespace: 'shop',
      name,
      target: ref('apps/v1'),
    });
    const found = (...others: readonly ReturnType<typeof hpa>[]) =>
      findOtherScaler('shop', ref('apps/v1'), others)?.second;

    expect(found(hpa('a'), hpa('b'))).toEqual({
      kind: 'HorizontalPodAutoscaler',
      namespace: 'shop',
      name: 'b',
    });
    expect(found(hpa('a'), { ...hpa('b'), namespace: 'lab' })).toBeUndefined();
    expect(found(hpa('a', 'ScaledObject'), hpa('a', 'ScaledObject'))).toBeUndefined();
  });
});
