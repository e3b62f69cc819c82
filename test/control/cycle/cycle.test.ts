import { describe, expect, it } from '@jest/globals';
import { freshMemory } from '../../../src/control/memory/memory.js';
import { UNKNOWN_AGE } from '../../../src/prometheus/source/age.js';
import { answersFrom, at, buildScaler, settledMemory, World } from '../world.js';

describe('a cycle that changes nothing', () => {
  it('sends no request for a change and takes no turn: 5 wanted, 5 running', async () => {
    const world = new World();

    const { record } = await world.cycle();

    expect(record.outcome).toEqual({ kind: 'none', from: 5, to: 5, message: '' });
    expect(world.cluster.scaleReads).toBe(0);
    expect(world.cluster.arrived).toEqual([]);
    expect(world.slotsTaken).toBe(0);
  });

  it('sends no PATCH in 20 cycles of the same load', async () => {
    const world = new World();

    for (let count = 0; count < 20; count += 1) await world.nextCycle();

    expect(world.cluster.arrived).toEqual([]);
    expect(world.memory.state).toMatchObject({ lastScaleUp: null, lastScaleDown: null, scaleEvents: [] });
  });

  it('leaves spec.replicas unchanged while a rolling update has 7 in status.replicas', async () => {
    const world = new World();
    world.cluster.statusReplicas = 7;
    world.load = 70;

    const { record } = await world.cycle();

    expect(record.decision).toMatchObject({ desiredReplicas: 5, action: 'none' });
    expect(world.cluster.arrived).toEqual([]);
  });
});

describe('a cycle that changes the count', () => {
  it('goes from 5 to 8 with one PATCH and remembers the change', async () => {
    const world = new World();
    world.load = 80;

    const { record, memory } = await world.cycle();

    expect(world.cluster.arrived).toEqual([{ uid: 'uid-1', resourceVersion: '100', replicas: 8 }]);
    expect(record.outcome).toEqual({ kind: 'patched', from: 5, to: 8, message: '' });
    expect(record.conditions).toContainEqual({
      type: 'AbleToScale',
      status: 'True',
      reason: 'SucceededRescale',
      message: 'the target was set to 8 replicas',
    });
    expect(record.conditions).toContainEqual(
      expect.objectContaining({ type: 'Held', status: 'False', reason: 'NotHeld' }),
    );
    expect(memory.state).toMatchObject({
      lastScaleUp: at(0),
      lastScaleDown: null,
      scaleEvents: [{ at: at(0), change: 3 }],
      recommendations: [{ at: at(0), replicas: 8 }],
    });
    expect([world.slotsTaken, world.slotsFreed]).toEqual([1, 1]);
  });

  it('goes from 5 to 3 and remembers a scale-down', async () => {
    const world = new World();
    world.load = 30;

    const { record, memory } = await world.cycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 3 });
    expect(memory.state).toMatchObject({
      lastScaleUp: null,
      lastScaleDown: at(0),
      scaleEvents: [{ at: at(0), change: -2 }],
    });
  });

  it('sends no second PATCH for the same load 15 s later', async () => {
    const world = new World();
    world.load = 80;
    await world.cycle();
    world.cluster.statusReplicas = 8;

    const { record } = await world.nextCycle();

    expect(record.outcome.kind).toBe('none');
    expect(world.cluster.arrived).toHaveLength(1);
  });

  it('scales 25 replicas down to the maximum of 20 although the metric fails', async () => {
    const world = new World();
    world.cluster.setReplicas(25);
    world.answers = answersFrom([{ class: 'failed', reason: 'timeout', message: 'timeout after 7500 ms' }]);

    const { record } = await world.cycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 25, to: 20 });
  });

  it('never leaves 1 to 20, whatever the value of the metric', async () => {
    const world = new World();

    for (const load of [1e9, 0, 1e300, 0.001, 1e9]) {
      world.load = load;
      await world.nextCycle();
      world.cluster.statusReplicas = world.cluster.specReplicas;
    }

    const counts = world.cluster.arrived.map(({ replicas }) => replicas);
    expect(counts).toEqual([10, 1, 4, 1, 4]);
  });

  it('does not scale down while the metric has no series', async () => {
    const world = new World();
    world.answers = answersFrom([{ class: 'missing', message: 'no series' }]);

    const { record } = await world.cycle();

    expect(record.decision?.action).toBe('none');
    expect(record.conditions).toContainEqual(
      expect.objectContaining({ type: 'ScalingActive', reason: 'FailedGetExternalMetric' }),
    );
    expect(world.cluster.arrived).toEqual([]);
  });
});

describe('a cycle while another client changes the count', () => {
  it('decides again at once from 6 if 5 became 6 between decision and change', async () => {
    const world = new World();
    world.load = 80;
    world.cluster.beforeReads.push(() => world.cluster.setReplicas(6));

    const { record, memory } = await world.cycle();

    expect(record.snapshot?.target.specReplicas).toBe(6);
    expect(record.outcome).toMatchObject({ kind: 'patched', from: 6, to: 8 });
    expect(world.cluster.arrived).toEqual([{ uid: 'uid-1', resourceVersion: '101', replicas: 8 }]);
    // The foreign step from 5 to 6 is not an event of promscaler.
    expect(memory.state.scaleEvents).toEqual([{ at: at(0), change: 2 }]);
  });

  it('patches nothing if the count is by then 8, as wanted', async () => {
    const world = new World();
    world.load = 80;
    world.cluster.beforeReads.push(() => world.cluster.setReplicas(8));

    const { record, memory } = await world.cycle();

    expect(record.outcome).toEqual({ kind: 'none', from: 8, to: 8, message: '' });
    expect(world.cluster.arrived).toEqual([]);
    expect(memory.state).toMatchObject({ lastScaleUp: null, scaleEvents: [] });
  });

  it('decides again if the count changes between the live read and the PATCH: 5, then 7', async () => {
    const world = new World();
    world.load = 90;
    world.cluster.patchScripts.push((apply) => {
      world.cluster.setReplicas(7);
      return apply();
    });

    const { record, memory } = await world.cycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 7, to: 9 });
    expect(world.cluster.arrived.map(({ replicas }) => replicas)).toEqual([9, 9]);
    expect(memory.state.scaleEvents).toEqual([{ at: at(0), change: 2 }]);
  });

  it('leaves the change to the next cycle after three outdated decisions', async () => {
    const world = new World();
    world.load = 100;
    for (const replicas of [6, 7, 8])
      world.cluster.beforeReads.push(() => world.cluster.setReplicas(replicas));

    const { record, memory } = await world.cycle();

    expect(record.outcome).toMatchObject({ kind: 'conflict', from: 7, to: 10 });
    expect(world.cluster.arrived).toEqual([]);
    expect(memory.state).toMatchObject({ lastScaleUp: null, scaleEvents: [] });
    expect(memory.state.recommendations).toEqual([{ at: at(0), replicas: 10 }]);
    expect((await world.nextCycle()).record.outcome).toMatchObject({ kind: 'patched', from: 8, to: 10 });
  });

  it('treats a manual change between two cycles as a new base, not as its own event', async () => {
    const world = new World();
    await world.cycle();
    world.cluster.setReplicas(12);
    world.cluster.statusReplicas = 12;

    const { record, memory } = await world.nextCycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 12, to: 5 });
    expect(memory.state.scaleEvents).toEqual([{ at: at(15), change: -7 }]);
  });
});

describe('a cycle whose target was recreated', () => {
  it('patches nothing with the old uid, and restarts in the next cycle', async () => {
    const world = new World();
    world.load = 30;
    world.memory = settledMemory({ scaleEvents: [{ at: at(-5), change: 1 }] });
    world.cluster.beforeReads.push(() => world.cluster.recreate('uid-2'));

    const { record, memory } = await world.cycle();

    expect(record.outcome.kind).toBe('conflict');
    const { conditions } = record;
    const fresh = { ...freshMemory(at(0), null), isRestored: true, isUnsaved: true };
    expect(memory).toEqual({ ...fresh, conditions, wasPaused: false, wasDryRun: false });
    const next = await world.nextCycle();
    expect(next.record.decision).toMatchObject({ action: 'none', recommendedReplicas: 3 });
    expect(next.memory.uid).toBe('uid-2');
    expect(world.cluster.arrived).toEqual([]);
  });

  it('forgets the state of the old object if the uid has changed between two cycles', async () => {
    const world = new World();
    world.load = 30;
    world.memory = {
      ...settledMemory({ scaleEvents: [{ at: at(-5), change: 1 }], lastScaleUp: at(-5) }),
      unresolved: {
        epoch: '0/test',
        from: 3,
        to: 5,
        earlier: [],
        at: at(-5),
        resourceVersion: '99',
        generation: 1,
      },
      override: { wanted: 8, got: 5 },
    };
    world.cluster.recreate('uid-2');

    const { record, memory } = await world.cycle();

    expect(record.decision?.action).toBe('none');
    expect(memory).toMatchObject({ uid: 'uid-2', unresolved: null, override: null });
    expect(memory.state).toMatchObject({ lastScaleUp: at(0), lastScaleDown: at(0), scaleEvents: [] });
    expect(world.cluster.arrived).toEqual([]);
  });
});

describe('a cycle of a scaler that is removed or stopped', () => {
  it('does not read the scale if it is removed while its queries are in flight', async () => {
    const world = new World();
    world.load = 80;

    const { record, memory } = await world.cycle({ isCurrent: () => false });

    expect(record.outcome).toMatchObject({ kind: 'conflict', from: 5, to: 8 });
    expect(world.cluster.scaleReads).toBe(0);
    expect(memory.state.scaleEvents).toEqual([]);
    expect([world.slotsTaken, world.slotsFreed]).toEqual([1, 1]);
  });

  it('starts no change after the service began to stop', async () => {
    const world = new World();
    world.load = 80;

    const { record } = await world.cycle({ signal: AbortSignal.abort() });

    expect(record.outcome.kind).toBe('conflict');
    expect(world.cluster.arrived).toEqual([]);
  });

  it('completes a change that had started when the service began to stop', async () => {
    const world = new World();
    world.load = 80;
    const stop = new AbortController();
    world.cluster.beforeReads.push(() => stop.abort());

    const { record } = await world.cycle({ signal: stop.signal });

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });
});

describe('a cycle that throws', () => {
  it('returns its turn', async () => {
    const world = new World();
    world.load = 80;
    world.cluster.patchScripts.push(() => Promise.reject(new TypeError('our own fault')));

    await expect(world.cycle()).rejects.toThrow('our own fault');
    expect([world.slotsTaken, world.slotsFreed]).toEqual([1, 1]);
  });
});

describe('the record of a cycle', () => {
  it('reports the seconds of observing separately from those of deciding', async () => {
    const world = new World();
    world.answers = {
      of: () => {
        world.clock.advance(4000);
        return Promise.resolve([{ class: 'missing', message: 'no series' }]);
      },
      ageOf: () => Promise.resolve(UNKNOWN_AGE),
    };

    const { record } = await world.cycle();

    expect(record.seconds).toEqual({ observe: 4, decide: 0, act: 0 });
    expect(record.at).toBe(at(0));
  });

  it('counts the wait for a PATCH of 3 s as acting', async () => {
    const world = new World();
    world.load = 80;
    world.cluster.patchScripts.push((apply) => {
      world.clock.advance(3000);
      return apply();
    });

    expect((await world.cycle()).record.seconds).toEqual({ observe: 0, decide: 0, act: 3 });
  });

  it('has the scaler that it ran with, and the target', async () => {
    const world = new World();
    const other = buildScaler({ maxReplicas: 4 });

    const { record, target } = await world.cycle({ scaler: other });

    expect(record.scaler).toBe(other);
    expect(record.decision?.maxReplicas).toBe(4);
    expect(target).toMatchObject({ uid: 'uid-1', namespace: 'shop' });
  });
});
