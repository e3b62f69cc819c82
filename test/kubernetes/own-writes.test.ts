import { describe, expect, it } from '@jest/globals';

import { createOwnWrites } from '../../src/kubernetes/scale.js';
import { compareResourceVersions, isOlder } from '../../src/kubernetes/watch/object-store.js';
import { ManualClock } from '../support/manual-clock.js';
import { WEB } from './cluster-fixture.js';

describe('compareResourceVersions', () => {
  it.each([
    ['9', '10', -1],
    ['10', '9', 1],
    ['10', '10', 0],
    ['99999999999999999999', '100000000000000000000', -1],
    ['19', '20', -1],
  ])('orders %s and %s', (a, b, sign) => {
    expect(Math.sign(compareResourceVersions(a, b) ?? Number.NaN)).toBe(sign);
  });

  it.each([
    ['a1', '2'],
    ['', '2'],
    ['0', '2'],
    ['01', '2'],
  ])('cannot compare %j and %s, and considers neither older', (a, b) => {
    expect(compareResourceVersions(a, b)).toBeNull();
    expect([isOlder(a, b), isOlder(b, a)]).toEqual([false, false]);
  });
});

describe('createOwnWrites', () => {
  it('forgets a write to a target of a removed scaler after an hour, not before', () => {
    const clock = new ManualClock();
    const writes = createOwnWrites(clock);
    writes.remember('shop', WEB, '11');

    clock.advance(3_599_999);
    writes.remember('other', WEB, '12');
    expect(writes.isAheadOf('shop', WEB, '10')).toBe(true);
    clock.advance(3_600_000);
    writes.remember('other', WEB, '13');

    expect(writes.isAheadOf('shop', WEB, '10')).toBe(false);
    expect(writes.isAheadOf('other', WEB, '10')).toBe(true);
  });

  it('is ahead of the watch until the watch has the written version', () => {
    const writes = createOwnWrites(new ManualClock());
    writes.remember('shop', WEB, '11');

    expect(writes.isAheadOf('shop', WEB, '10')).toBe(true);
    expect(writes.isAheadOf('shop', { ...WEB, name: 'api' }, '10')).toBe(false);
    expect(writes.isAheadOf('other', WEB, '10')).toBe(false);
    expect(writes.isAheadOf('shop', WEB, '11')).toBe(false);
    expect(writes.isAheadOf('shop', WEB, '10')).toBe(false);
  });

  it('waits 60 s for a version that cannot be compared', () => {
    const clock = new ManualClock();
    const writes = createOwnWrites(clock);
    writes.remember('shop', WEB, 'opaque');

    clock.advance(59_999);
    const before = writes.isAheadOf('shop', WEB, 'other');
    clock.advance(1);

    expect([before, writes.isAheadOf('shop', WEB, 'other')]).toEqual([true, false]);
  });

  it('identifies a target by group and kind, not by version', () => {
    const writes = createOwnWrites(new ManualClock());
    writes.remember('shop', { ...WEB, apiVersion: 'apps/v1beta2' }, '11');

    expect(writes.isAheadOf('shop', WEB, '10')).toBe(true);
  });

  it('keeps the writes to targets of another kind or group with the same name', () => {
    const writes = createOwnWrites(new ManualClock());
    const set = { ...WEB, kind: 'StatefulSet' };
    const rollout = { ...WEB, apiVersion: 'argoproj.io/v1alpha1' };
    writes.remember('shop', WEB, '11');
    writes.remember('shop', set, '21');
    writes.remember('shop', rollout, '31');
    writes.remember('shop', WEB, '12');

    expect(writes.isAheadOf('shop', WEB, '12')).toBe(false);
    expect([writes.isAheadOf('shop', set, '20'), writes.isAheadOf('shop', rollout, '30')]).toEqual([
      true,
      true,
    ]);
    expect(writes.isAheadOf('shop', rollout, '31')).toBe(false);
    expect([writes.isAheadOf('shop', set, '20'), writes.isAheadOf('shop', rollout, '30')]).toEqual([
      true,
      false,
    ]);
  });
});
