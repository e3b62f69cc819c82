import { describe, expect, it } from '@jest/globals';
import { shiftMemory } from '../../../src/control/memory/clock-jump.js';
import { forNewTerm } from '../../../src/control/memory/memory.js';
import { readEntry, writeEntry } from '../../../src/kubernetes/state/state-entry.js';
import type { StoredState } from '../../../src/kubernetes/state/state-entry.js';
import { stateOf } from '../../kubernetes/state/state-fixture.js';
import { failure } from '../fake-cluster.js';
import type { FakeStateMaps } from '../fake-state-maps.js';
import { at, Fixture } from '../fixture.js';

const MAP = 'promscaler-state-04';
const KEY = 'shop.web';

/** A fixture with stored state, before the first cycle of its scaler. */
function storedFixture(spec: Readonly<Record<string, unknown>> = {}): {
  fixture: Fixture;
  maps: FakeStateMaps;
} {
  const fixture = new Fixture(spec);
  fixture.restart();
  return { fixture, maps: fixture.maps };
}

function entryOf(over: Partial<StoredState> = {}, epoch = '1/other'): string {
  return writeEntry(epoch, stateOf(over));
}

function stored(maps: FakeStateMaps): StoredState {
  const entry = readEntry(maps.entries[KEY] ?? '');
  if ('problem' in entry) throw new Error(entry.problem);
  return entry;
}

describe('the first cycle of a process', () => {
  it('continues with the stored windows: no scale-up 299 s after the last one, one at 301 s', async () => {
    const { fixture, maps } = storedFixture({ upscaleForbiddenWindowSeconds: 300 });
    maps.edit(MAP, KEY, entryOf({ lastScaleUp: at(-299) }));
    fixture.load = 80;

    expect((await fixture.cycle()).record.outcome.kind).toBe('none');
    fixture.clock.advance(2000);
    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it('knows when the previous process scaled, as the window that holds does', async () => {
    const { fixture, maps } = storedFixture({ upscaleForbiddenWindowSeconds: 300 });
    maps.edit(MAP, KEY, entryOf({ lastScaleUp: at(-299) }));
    fixture.load = 80;

    const held = await fixture.cycle();
    fixture.clock.advance(2000);
    const scaled = await fixture.cycle();
    fixture.cluster.targetFailure = failure('timeout');
    const blind = await fixture.cycle();

    expect(held.record.lastScales).toEqual({ up: at(-299), down: null });
    expect(scaled.record.lastScales).toEqual({ up: at(2), down: null });
    expect(blind.record.lastScales).toEqual({ up: at(2), down: null });
  });

  it('scales up at once if nothing was ever stored, because the ConfigMap is old', async () => {
    const { fixture } = storedFixture({ upscaleForbiddenWindowSeconds: 300 });
    fixture.load = 80;

    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it('treats a scaler without an entry as scaled when its ConfigMap was created', async () => {
    const { fixture, maps } = storedFixture({ upscaleForbiddenWindowSeconds: 300 });
    maps.createdAt = '2025-12-31T23:59:00Z';
    fixture.load = 80;

    expect((await fixture.cycle()).memory.state).toMatchObject({
      lastScaleUp: at(-60),
      lastScaleDown: at(-60),
    });
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it('does not scale down in the first decision, whatever is stored', async () => {
    const { fixture, maps } = storedFixture();
    maps.edit(MAP, KEY, entryOf());
    fixture.load = 10;

    expect((await fixture.cycle()).record.decision).toMatchObject({
      recommendedReplicas: 1,
      desiredReplicas: 5,
    });
  });

  it('restarts for another uid, and stores that', async () => {
    const { fixture, maps } = storedFixture();
    maps.edit(MAP, KEY, entryOf({ uid: 'uid-0', zeroedBySelf: true, lastScaleUp: at(-5000) }));

    await fixture.cycle();
    await fixture.clock.advanceAndSettle(5000);

    expect(stored(maps)).toMatchObject({ uid: 'uid-1', lastScaleUp: at(0), zeroedBySelf: false });
  });
});

describe('stored state', () => {
  it('is not written in a steady state: 3 GETs at most and no PATCH in 100 cycles', async () => {
    const { fixture, maps } = storedFixture();
    for (let count = 0; count < 100; count += 1) await fixture.nextCycle();
    await fixture.clock.advanceAndSettle(60_000);

    expect([maps.count('GET'), maps.count('PATCH')]).toEqual([1, 0]);
  });

  it('is written as the intent before a change and its outcome within 5 s after it: 2 writes', async () => {
    const { fixture, maps } = storedFixture();
    fixture.load = 80;
    let announced: StoredState | null = null;
    fixture.cluster.onAccepted = () => (announced = stored(maps));

    await fixture.cycle();
    await fixture.clock.advanceAndSettle(5000);

    expect(announced).toMatchObject({ lastScaleUp: at(-31_536_000), intent: { from: 5, to: 8 } });
    expect(stored(maps)).toMatchObject({
      lastScaleUp: at(0),
      scaleEvents: [{ at: at(0), change: 3 }],
      intent: null,
    });
    expect(maps.count('PATCH')).toBe(2);
    for (let count = 0; count < 10; count += 1) await fixture.nextCycle();
    expect(maps.count('PATCH')).toBe(2);
  });

  it('is not written in a dry run', async () => {
    const { fixture, maps } = storedFixture();
    maps.edit(MAP, KEY, entryOf({ uid: 'uid-0' }));
    fixture.dryRun = true;
    fixture.load = 80;

    for (let count = 0; count < 3; count += 1) await fixture.nextCycle();
    await fixture.clock.advanceAndSettle(10_000);

    expect(maps.count('PATCH')).toBe(0);
  });

  it('is written by a later cycle if the first could not', async () => {
    const { fixture, maps } = storedFixture();
    fixture.load = 80;
    maps.failures.set('GET', 'forbidden');
    await fixture.cycle();
    maps.failures.clear();

    await fixture.nextCycle();
    await fixture.clock.advanceAndSettle(5000);

    expect(stored(maps)).toMatchObject({ lastScaleUp: at(0), scaleEvents: [{ at: at(0), change: 3 }] });
  });
});

describe('an intent that another process has stored', () => {
  const intent = { epoch: '1/other', from: 5, to: 8, earlier: [], resourceVersion: '100', generation: 1 };

  it.each([
    [4.999, 'conflict'],
    [5, 'conflict'],
    [5.001, 'patched'],
  ])('is waited for: %d s old, the change is %s', async (seconds, kind) => {
    const { fixture, maps } = storedFixture();
    maps.edit(MAP, KEY, entryOf({ intent: { ...intent, at: at(-seconds) } }));
    fixture.load = 80;

    expect((await fixture.cycle()).record.outcome.kind).toBe(kind);
  });

  it('did not take effect if the generation is unchanged, although the status has changed', async () => {
    const { fixture, maps } = storedFixture({ upscaleForbiddenWindowSeconds: 300 });
    maps.edit(MAP, KEY, entryOf({ intent: { ...intent, at: at(-30) } }));
    fixture.cluster.touch();
    fixture.load = 80;

    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it.each([
    ['the count is the one of the intent', 8],
    ['the count is another one', 7],
    ['the count is the old one in a new generation', 5],
  ])('counts for windows and policies if %s', async (_, replicas) => {
    const { fixture, maps } = storedFixture({ upscaleForbiddenWindowSeconds: 300 });
    maps.edit(MAP, KEY, entryOf({ intent: { ...intent, at: at(-30) } }));
    fixture.cluster.setReplicas(replicas);
    fixture.load = 200;

    const { record, memory } = await fixture.cycle();

    expect(record.outcome.kind).toBe('none');
    expect(memory.state.lastScaleUp).toBe(at(0));
    expect(memory.state.scaleEvents).toMatchObject([{ at: at(0), change: 3 }]);
  });

  it('that is an hour old is dated at most 60 s after it was announced', async () => {
    const { fixture, maps } = storedFixture();
    maps.edit(MAP, KEY, entryOf({ intent: { ...intent, at: at(-3600) } }));
    fixture.cluster.setReplicas(8);

    expect((await fixture.cycle()).memory.state.lastScaleUp).toBe(at(-3540));
  });
});

describe('a degraded state store', () => {
  const causes: readonly [string, (maps: FakeStateMaps) => void][] = [
    ['is missing', (maps) => maps.maps.delete(MAP)],
    ['is forbidden', (maps) => maps.failures.set('GET', 'forbidden')],
    ['cannot be written', (maps) => maps.failures.set('PATCH', 'forbidden')],
    ['holds a damaged entry', (maps) => maps.edit(MAP, KEY, '{"v":1')],
    ['holds an entry of version 2', (maps) => maps.edit(MAP, KEY, '{"v":2}')],
  ];

  it.each(causes)('that %s prevents every scale-down', async (_, spoil) => {
    const { fixture, maps } = storedFixture();
    spoil(maps);
    await fixture.cycle();
    fixture.load = 10;

    await fixture.nextCycle();
    const { record } = await fixture.nextCycle();

    expect(record.outcome).toMatchObject({ kind: 'held', from: 5, to: 1 });
    expect(record.conditions).toContainEqual(
      expect.objectContaining({ type: 'Held', status: 'True', reason: 'StateDegraded' }),
    );
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it.each(causes)('that %s delays each scale-up by a window of 60 s', async (_, spoil) => {
    const { fixture, maps } = storedFixture({ upscaleForbiddenWindowSeconds: 60, maxReplicas: 100 });
    maps.createdAt = '2026-01-01T00:00:00Z';
    spoil(maps);
    fixture.load = 1000;
    const raised: number[] = [];
    fixture.cluster.onAccepted = () => raised.push(fixture.clock.monotonicMs() / 1000);

    for (let count = 0; count < 12; count += 1) await fixture.nextCycle();

    // The window begins with the first cycle, at 15 s, or when the ConfigMap was created.
    expect(raised.length).toBeGreaterThanOrEqual(2);
    for (const [index, seconds] of raised.entries())
      expect(seconds - (raised[index - 1] ?? 0)).toBeGreaterThan(60);
  });

  it('whose only failure was the first read of a process is tried again before its first scale-up', async () => {
    const { fixture, maps } = storedFixture({ upscaleForbiddenWindowSeconds: 8 });
    fixture.load = 80;
    maps.failures.set('GET', 'timeout');
    await fixture.cycle();
    maps.failures.clear();
    const announced: StoredState[] = [];
    fixture.cluster.onAccepted = () => announced.push(stored(maps));

    fixture.clock.advance(8500);
    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });

    expect(announced).toMatchObject([{ intent: { from: 5, to: 8 } }]);
  });

  it('that had failed for a new process shows it the last scale-up of the old one before it scales up', async () => {
    const { fixture, maps } = storedFixture({ upscaleForbiddenWindowSeconds: 8 });
    maps.edit(MAP, KEY, entryOf({ lastScaleUp: at(7) }));
    fixture.load = 80;
    maps.failures.set('GET', 'timeout');
    await fixture.cycle();
    maps.failures.clear();

    fixture.clock.advance(8500);

    expect((await fixture.cycle()).record.outcome.kind).toBe('none');
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it('is forgotten once the store is usable again: later scale-downs are stored', async () => {
    const { fixture, maps } = storedFixture();
    maps.failures.set('GET', 'forbidden');
    await fixture.cycle();
    fixture.load = 10;
    await fixture.nextCycle();
    maps.failures.clear();

    const { record } = await fixture.nextCycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', to: 1 });
    expect(record.conditions).toContainEqual(expect.objectContaining({ type: 'Held', reason: 'NotHeld' }));
  });
});

describe('another client that changes the count during a change', () => {
  it('begins the window of the direction, because that may have been its own late PATCH', async () => {
    const { fixture } = storedFixture({ upscaleForbiddenWindowSeconds: 300 });
    fixture.load = 80;
    fixture.cluster.patchScripts.push((apply) => {
      fixture.cluster.setReplicas(7);
      return apply();
    });

    const { record, memory } = await fixture.cycle();

    expect(memory.state).toMatchObject({ lastScaleUp: at(0), scaleEvents: [] });
    expect(record.decision).toMatchObject({ currentReplicas: 7, desiredReplicas: 7 });
    expect(fixture.cluster.specReplicas).toBe(7);
  });
});

describe('a policy of 10 pods per 600 s after +4 from 20', () => {
  const policies = [{ type: 'Pods', value: 10, periodSeconds: 600 }];
  const rule = { stabilizationWindowSeconds: 0, policies };

  it.each([
    [0, 'nothing'],
    [60, 'the suspension of its machine'],
    [585, 'a suspension after which the +4 may be 600 s old'],
    [-3600, 'a step back of its clock'],
    [5.0004, 'a step of its clock by a fraction of a millisecond'],
  ])('lets 10 go, not 14, in the term after %d s: %s', async (seconds) => {
    const behavior = { scaleUp: rule, scaleDown: rule };
    const { fixture, maps } = storedFixture({ maxReplicas: 40, behavior });
    maps.edit(MAP, KEY, entryOf());
    fixture.cluster.setReplicas(20);
    fixture.load = 240;
    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 20, to: 24 });
    await fixture.state.flush();
    fixture.clock.advance(1);
    fixture.clock.jump(seconds);
    const now = fixture.clock.now();
    fixture.memory = forNewTerm(shiftMemory(fixture.memory, seconds, now), now);
    await fixture.state.reload();
    fixture.load = 10;

    const [from, to] = seconds < 580 ? [24, 10] : [24, 14];
    expect((await fixture.nextCycle()).record.outcome).toMatchObject({ kind: 'patched', from, to });
  });
});
