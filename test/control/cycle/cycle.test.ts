import { describe, expect, it } from '@jest/globals';
import { freshMemory } from '../../../src/control/memory/memory.js';
import { UNKNOWN_AGE } from '../../../src/prometheus/source/age.js';
import { answersFrom, at, buildScaler, settledMemory, Fixture } from '../fixture.js';

describe('a cycle that changes nothing', () => {
  it('sends no request for a change and takes no turn: 5 wanted, 5 running', async () => {
    const fixture = new Fixture();

    const { record } = await fixture.cycle();

    expect(record.outcome).toEqual({ kind: 'none', from: 5, to: 5, message: '' });
    expect(fixture.cluster.scaleReads).toBe(0);
    expect(fixture.cluster.arrived).toEqual([]);
    expect(fixture.slotsTaken).toBe(0);
  });

  it('sends no PATCH in 20 cycles of the same load', async () => {
    const fixture = new Fixture();

    for (let count = 0; count < 20; count += 1) await fixture.nextCycle();

    expect(fixture.cluster.arrived).toEqual([]);
    expect(fixture.memory.state).toMatchObject({ lastScaleUp: null, lastScaleDown: null, scaleEvents: [] });
  });

  it('leaves spec.replicas unchanged while a rolling update has 7 in status.replicas', async () => {
    const fixture = new Fixture();
    fixture.cluster.statusReplicas = 7;
    fixture.load = 70;

    const { record } = await fixture.cycle();

    expect(record.decision).toMatchObject({ desiredReplicas: 5, action: 'none' });
    expect(fixture.cluster.arrived).toEqual([]);
  });
});

describe('a cycle that changes the count', () => {
  it('goes from 5 to 8 with one PATCH and remembers the change', async () => {
    const fixture = new Fixture();
    fixture.load = 80;

    const { record, memory } = await fixture.cycle();

    expect(fixture.cluster.arrived).toEqual([{ uid: 'uid-1', resourceVersion: '100', replicas: 8 }]);
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
    expect([fixture.slotsTaken, fixture.slotsFreed]).toEqual([1, 1]);
  });

  it('goes from 5 to 3 and remembers a scale-down', async () => {
    const fixture = new Fixture();
    fixture.load = 30;

    const { record, memory } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 3 });
    expect(memory.state).toMatchObject({
      lastScaleUp: null,
      lastScaleDown: at(0),
      scaleEvents: [{ at: at(0), change: -2 }],
    });
  });

  it('sends no second PATCH for the same load 15 s later', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    await fixture.cycle();
    fixture.cluster.statusReplicas = 8;

    const { record } = await fixture.nextCycle();

    expect(record.outcome.kind).toBe('none');
    expect(fixture.cluster.arrived).toHaveLength(1);
  });

  it('scales 25 replicas down to the maximum of 20 although the metric fails', async () => {
    const fixture = new Fixture();
    fixture.cluster.setReplicas(25);
    fixture.answers = answersFrom([{ class: 'failed', reason: 'timeout', message: 'timeout after 7500 ms' }]);

    const { record } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 25, to: 20 });
  });

  it('never leaves 1 to 20, whatever the value of the metric', async () => {
    const fixture = new Fixture();

    for (const load of [1e9, 0, 1e300, 0.001, 1e9]) {
      fixture.load = load;
      await fixture.nextCycle();
      fixture.cluster.statusReplicas = fixture.cluster.specReplicas;
    }

    const counts = fixture.cluster.arrived.map(({ replicas }) => replicas);
    expect(counts).toEqual([10, 1, 4, 1, 4]);
  });

  it('does not scale down while the metric has no series', async () => {
    const fixture = new Fixture();
    fixture.answers = answersFrom([{ class: 'missing', message: 'no series' }]);

    const { record } = await fixture.cycle();

    expect(record.decision?.action).toBe('none');
    expect(record.conditions).toContainEqual(
      expect.objectContaining({ type: 'ScalingActive', reason: 'FailedGetExternalMetric' }),
    );
    expect(fixture.cluster.arrived).toEqual([]);
  });
});

describe('a cycle while another client changes the count', () => {
  it('decides again at once from 6 if 5 became 6 between decision and change', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.beforeReads.push(() => fixture.cluster.setReplicas(6));

    const { record, memory } = await fixture.cycle();

    expect(record.snapshot?.target.specReplicas).toBe(6);
    expect(record.outcome).toMatchObject({ kind: 'patched', from: 6, to: 8 });
    expect(fixture.cluster.arrived).toEqual([{ uid: 'uid-1', resourceVersion: '101', replicas: 8 }]);
    // The foreign step from 5 to 6 is not an event of promscaler.
    expect(memory.state.scaleEvents).toEqual([{ at: at(0), change: 2 }]);
  });

  it('patches nothing if the count is by then 8, as wanted', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.beforeReads.push(() => fixture.cluster.setReplicas(8));

    const { record, memory } = await fixture.cycle();

    expect(record.outcome).toEqual({ kind: 'none', from: 8, to: 8, message: '' });
    expect(fixture.cluster.arrived).toEqual([]);
    expect(memory.state).toMatchObject({ lastScaleUp: null, scaleEvents: [] });
  });

  it('decides again if the count changes between the live read and the PATCH: 5, then 7', async () => {
    const fixture = new Fixture();
    fixture.load = 90;
    fixture.cluster.patchScripts.push((apply) => {
      fixture.cluster.setReplicas(7);
      return apply();
    });

    const { record, memory } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 7, to: 9 });
    expect(fixture.cluster.arrived.map(({ replicas }) => replicas)).toEqual([9, 9]);
    expect(memory.state.scaleEvents).toEqual([{ at: at(0), change: 2 }]);
  });

  it('leaves the change to the next cycle after three outdated decisions', async () => {
    const fixture = new Fixture();
    fixture.load = 100;
    for (const replicas of [6, 7, 8])
      fixture.cluster.beforeReads.push(() => fixture.cluster.setReplicas(replicas));

    const { record, memory } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'conflict', from: 7, to: 10 });
    expect(fixture.cluster.arrived).toEqual([]);
    expect(memory.state).toMatchObject({ lastScaleUp: null, scaleEvents: [] });
    expect(memory.state.recommendations).toEqual([{ at: at(0), replicas: 10 }]);
    expect((await fixture.nextCycle()).record.outcome).toMatchObject({ kind: 'patched', from: 8, to: 10 });
  });

  it('treats a manual change between two cycles as a new base, not as its own event', async () => {
    const fixture = new Fixture();
    await fixture.cycle();
    fixture.cluster.setReplicas(12);
    fixture.cluster.statusReplicas = 12;

    const { record, memory } = await fixture.nextCycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 12, to: 5 });
    expect(memory.state.scaleEvents).toEqual([{ at: at(15), change: -7 }]);
  });
});

describe('a cycle whose target was recreated', () => {
  it('patches nothing with the old uid, and restarts in the next cycle', async () => {
    const fixture = new Fixture();
    fixture.load = 30;
    fixture.memory = settledMemory({ scaleEvents: [{ at: at(-5), change: 1 }] });
    fixture.cluster.beforeReads.push(() => fixture.cluster.recreate('uid-2'));

    const { record, memory } = await fixture.cycle();

    expect(record.outcome.kind).toBe('conflict');
    const { conditions } = record;
    const fresh = { ...freshMemory(at(0), null), isRestored: true, isUnsaved: true };
    expect(memory).toEqual({ ...fresh, conditions, wasPaused: false, wasDryRun: false });
    const next = await fixture.nextCycle();
    expect(next.record.decision).toMatchObject({ action: 'none', recommendedReplicas: 3 });
    expect(next.memory.uid).toBe('uid-2');
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it('forgets the state of the old object if the uid has changed between two cycles', async () => {
    const fixture = new Fixture();
    fixture.load = 30;
    fixture.memory = {
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
    fixture.cluster.recreate('uid-2');

    const { record, memory } = await fixture.cycle();

    expect(record.decision?.action).toBe('none');
    expect(memory).toMatchObject({ uid: 'uid-2', unresolved: null, override: null });
    expect(memory.state).toMatchObject({ lastScaleUp: at(0), lastScaleDown: at(0), scaleEvents: [] });
    expect(fixture.cluster.arrived).toEqual([]);
  });
});

describe('a cycle of a scaler that is removed or stopped', () => {
  it('does not read the scale if it is removed while its queries are in flight', async () => {
    const fixture = new Fixture();
    fixture.load = 80;

    const { record, memory } = await fixture.cycle({ isCurrent: () => false });

    expect(record.outcome).toMatchObject({ kind: 'conflict', from: 5, to: 8 });
    expect(fixture.cluster.scaleReads).toBe(0);
    expect(memory.state.scaleEvents).toEqual([]);
    expect([fixture.slotsTaken, fixture.slotsFreed]).toEqual([1, 1]);
  });

  it('starts no change after the service began to stop', async () => {
    const fixture = new Fixture();
    fixture.load = 80;

    const { record } = await fixture.cycle({ signal: AbortSignal.abort() });

    expect(record.outcome.kind).toBe('conflict');
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it('completes a change that had started when the service began to stop', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    const stop = new AbortController();
    fixture.cluster.beforeReads.push(() => stop.abort());

    const { record } = await fixture.cycle({ signal: stop.signal });

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });
});

describe('a cycle that throws', () => {
  it('returns its turn', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(() => Promise.reject(new TypeError('our own fault')));

    await expect(fixture.cycle()).rejects.toThrow('our own fault');
    expect([fixture.slotsTaken, fixture.slotsFreed]).toEqual([1, 1]);
  });
});

describe('the record of a cycle', () => {
  it('reports the seconds of observing separately from those of deciding', async () => {
    const fixture = new Fixture();
    fixture.answers = {
      of: () => {
        fixture.clock.advance(4000);
        return Promise.resolve([{ class: 'missing', message: 'no series' }]);
      },
      ageOf: () => Promise.resolve(UNKNOWN_AGE),
    };

    const { record } = await fixture.cycle();

    expect(record.seconds).toEqual({ observe: 4, decide: 0, act: 0 });
    expect(record.at).toBe(at(0));
  });

  it('counts the wait for a PATCH of 3 s as acting', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push((apply) => {
      fixture.clock.advance(3000);
      return apply();
    });

    expect((await fixture.cycle()).record.seconds).toEqual({ observe: 0, decide: 0, act: 3 });
  });

  it('has the scaler that it ran with, and the target', async () => {
    const fixture = new Fixture();
    const other = buildScaler({ maxReplicas: 4 });

    const { record, target } = await fixture.cycle({ scaler: other });

    expect(record.scaler).toBe(other);
    expect(record.decision?.maxReplicas).toBe(4);
    expect(target).toMatchObject({ uid: 'uid-1', namespace: 'shop' });
  });
});
