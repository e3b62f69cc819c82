import { describe, expect, it } from '@jest/globals';
import { kubernetesEvents } from '../../../src/control/cycle/kubernetes-events.js';
import { stateOf } from '../../../src/decision/state.js';
import { failure } from '../fake-cluster.js';
import { at, settledMemory, Fixture, SECOND_SCALER, heldOf } from '../fixture.js';

/** A fixture of 5 replicas whose load results in `wanted`, with these annotations of `promscaler.dev`. */
function fixtureOf(
  wanted: number,
  annotations: Readonly<Record<string, string>> = {},
  spec: Readonly<Record<string, unknown>> = {},
): Fixture {
  const fixture = new Fixture(spec);
  fixture.load = wanted * 10;
  fixture.annotate(annotations);
  return fixture;
}

describe('a pause of one direction', () => {
  it.each([
    ['scale-up', 8, 'paused', 5],
    ['scale-up', 3, 'patched', 3],
    ['scale-down', 8, 'patched', 8],
    ['scale-down', 3, 'paused', 5],
    ['true', 8, 'paused', 5],
    ['true', 3, 'paused', 5],
  ])('by annotation, %s: the change from 5 to %i is %s', async (paused, wanted, outcome, left) => {
    const fixture = fixtureOf(wanted, { paused });

    const { record } = await fixture.cycle();

    expect(record.decision).toMatchObject({ currentReplicas: 5, desiredReplicas: wanted });
    expect(record.outcome).toMatchObject({ kind: outcome, from: 5, to: wanted });
    expect(fixture.cluster.specReplicas).toBe(left);
    expect(heldOf(record)).toMatchObject({ status: 'True', reason: 'Paused' });
    expect(record.pause).not.toBeNull();
  });

  it.each([
    [8, 'paused'],
    [3, 'patched'],
  ])('by the document, scale-up: the change from 5 to %i is %s', async (wanted, outcome) => {
    const { record } = await fixtureOf(wanted, {}, { paused: 'scale-up' }).cycle();

    expect(record.outcome.kind).toBe(outcome);
    expect(heldOf(record)).toMatchObject({ reason: 'Paused', message: 'spec.paused is scale-up' });
  });

  it('leaves other holds of the other direction in place, and reports both', async () => {
    const fixture = fixtureOf(3, { paused: 'scale-up' }, { dryRun: true });

    const { record } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'dry-run', from: 5, to: 3 });
    expect(heldOf(record)).toEqual({
      type: 'Held',
      status: 'True',
      reason: 'Paused',
      message: 'scale-up is paused by annotation; spec.dryRun is true',
    });
  });
});

describe('a pause by annotation', () => {
  it('holds until the second of paused-until and ends automatically', async () => {
    const fixture = fixtureOf(8, { paused: 'true', 'paused-until': '2026-01-01T00:00:30Z' });
    const outcomes: string[] = [(await fixture.cycle()).record.outcome.kind];
    fixture.clock.advance(29_000);
    outcomes.push((await fixture.cycle()).record.outcome.kind);
    fixture.clock.advance(1000);

    const { record } = await fixture.cycle();

    expect(outcomes).toEqual(['paused', 'paused']);
    expect(record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
    expect(record.pause).toBeNull();
    expect(heldOf(record)).toMatchObject({ status: 'False', reason: 'NotHeld' });
  });

  it('that has ended is named by Held while its annotations remain, without an Event or another state', async () => {
    const until = { 'paused-until': '2026-01-01T00:00:30Z' };
    const fixture = fixtureOf(5, until);
    fixture.clock.advance(45_000);
    const before = await fixture.cycle();
    fixture.annotate({ ...until, paused: 'true' });

    const { record } = await fixture.nextCycle();

    expect(heldOf(record)).toEqual({
      type: 'Held',
      status: 'False',
      reason: 'NotHeld',
      message:
        'the decisions of the version in effect are applied; the pause by annotation ended at 2026-01-01T00:00:30Z: promscaler.dev/paused pauses nothing until promscaler.dev/paused-until is removed or set to a later time',
    });
    expect(kubernetesEvents(before.record, record)).toEqual([]);
    expect(stateOf(record, null)).toEqual(stateOf(before.record, null));
    expect(stateOf(record, null).cause).not.toContain('pause');
  });

  it.each([
    ['paused false', { paused: 'false', 'paused-until': '2026-01-01T00:00:30Z' }],
    ['no end', { 'paused-reason': 'deploy' }],
  ])('with %s has not ended', async (_, annotations) => {
    const fixture = fixtureOf(5, annotations);
    fixture.clock.advance(45_000);

    expect(heldOf((await fixture.cycle()).record)?.message).not.toContain('ended');
  });

  it('begins and ends with the annotations, between two cycles', async () => {
    const fixture = fixtureOf(5);
    await fixture.cycle();
    fixture.annotate({ paused: 'true', 'paused-reason': 'incident 4711' });
    fixture.load = 80;
    const during = await fixture.nextCycle();
    fixture.annotate({});

    const after = await fixture.nextCycle();

    expect(heldOf(during.record)?.message).toBe('scaling is paused by annotation; incident 4711');
    expect(during.record.outcome).toMatchObject({ kind: 'paused', from: 5, to: 8 });
    expect(after.record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it('adds no scale event and no window, and remembers recommendations', async () => {
    const { memory } = await fixtureOf(8, { paused: 'true' }).cycle();

    expect(memory.state).toMatchObject({
      lastScaleUp: null,
      scaleEvents: [],
      recommendations: [{ at: at(0), replicas: 8 }],
    });
  });

  it('is reported if the pods cannot be read', async () => {
    const fixture = fixtureOf(8, { paused: 'true' });
    fixture.cluster.podsFailure = failure('forbidden');

    const { record } = await fixture.cycle();

    expect(record).toMatchObject({ decision: null, pause: { direction: 'both' } });
  });
});

describe('a count that is set by hand', () => {
  it('three times in three pauses is no conflict of writers', async () => {
    const fixture = fixtureOf(8);
    for (let pause = 0; pause < 3; pause += 1) {
      fixture.annotate({});
      await fixture.nextCycle();
      fixture.annotate({ paused: 'true' });
      fixture.cluster.setReplicas(4, 'kubectl');
      await fixture.nextCycle();
    }

    const { record } = await fixture.nextCycle();

    expect(record.conflictingWriter).toBeUndefined();
    expect(stateOf(record, null).name).toBe('Paused');
  });

  it('three times without a pause is one, which a pause then hides', async () => {
    const fixture = fixtureOf(8);
    for (let time = 0; time < 4; time += 1) {
      await fixture.nextCycle();
      fixture.cluster.setReplicas(4, 'kubectl');
    }
    const { record: conflict } = await fixture.nextCycle();
    fixture.annotate({ paused: 'true' });

    const { record } = await fixture.nextCycle();

    expect(stateOf(conflict, null)).toMatchObject({
      name: 'Conflict',
      cause: 'kubectl changed spec.replicas 4 times, last at 2026-01-01T00:01:15Z',
    });
    expect(stateOf(record, null).name).toBe('Paused');
  });
});

describe('paused-replicas', () => {
  it('sets the count once, keeps it, and reports the decision without the pause', async () => {
    const fixture = fixtureOf(8, { 'paused-replicas': '3' });

    const first = await fixture.cycle();
    const second = await fixture.nextCycle();

    expect(first.record.outcome).toEqual({
      kind: 'patched',
      from: 5,
      to: 3,
      message: 'paused by annotation, kept at 3 (8 recommended)',
    });
    expect(first.record.decision).toMatchObject({ desiredReplicas: 8, action: 'scale-up' });
    expect(second.record.outcome).toMatchObject({ kind: 'paused', from: 3, to: 6 });
    expect(heldOf(first.record)).toMatchObject({ status: 'True', reason: 'Paused' });
    expect(heldOf(second.record)).toEqual(heldOf(first.record));
    expect(fixture.cluster.arrived.map(({ replicas }) => replicas)).toEqual([3]);
  });

  it.each([
    ['above the maximum of 20', '25', 25],
    ['below the minimum of 2', '1', 1],
    ['zero', '0', 0],
  ])('can be %s: a user asks for it explicitly', async (_, text, replicas) => {
    const fixture = fixtureOf(5, { 'paused-replicas': text }, { minReplicas: 2 });

    await fixture.cycle();
    await fixture.nextCycle();

    expect(fixture.cluster.specReplicas).toBe(replicas);
    expect(fixture.cluster.arrived).toHaveLength(1);
  });

  it('sets the count again when another client has changed it', async () => {
    const fixture = fixtureOf(5, { 'paused-replicas': '3' });
    await fixture.cycle();
    fixture.cluster.setReplicas(9);

    const { record } = await fixture.nextCycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 9, to: 3 });
  });

  it('is a change by promscaler: windows and policies count it', async () => {
    const fixture = fixtureOf(8, { 'paused-replicas': '3' });

    const { memory } = await fixture.cycle();

    expect(memory.state).toMatchObject({
      lastScaleUp: null,
      lastScaleDown: at(0),
      scaleEvents: [{ at: at(0), change: -2 }],
      zeroedBySelf: false,
    });
  });

  it('is stored with its intent before the PATCH', async () => {
    const fixture = fixtureOf(8, { 'paused-replicas': '3' });
    const intents: unknown[] = [];
    const { state } = fixture;
    const put: typeof state.put = (entry) => {
      intents.push(entry.state.intent);
      return state.put(entry);
    };
    fixture.state = { ...state, put };

    await fixture.cycle();

    expect(intents).toMatchObject([{ from: 5, to: 3 }]);
  });

  it('of 0 ends with the pause, although a 0 that a user sets would remain', async () => {
    const fixture = fixtureOf(4, { 'paused-replicas': '0' });
    const zeroed = await fixture.cycle();
    const kept = await fixture.nextCycle();
    fixture.annotate({});

    const resumed = await fixture.nextCycle();

    expect(zeroed.memory.state.zeroedBySelf).toBe(true);
    expect(kept.record.outcome.kind).toBe('paused');
    expect(kept.memory.state.zeroedBySelf).toBe(true);
    expect(
      kept.record.conditions.filter(({ type }) => type.startsWith('Scaling')).map(({ reason }) => reason),
    ).toEqual(['ScalingDisabled']);
    expect(resumed.record.outcome).toMatchObject({ kind: 'patched', from: 0 });
    expect(fixture.cluster.specReplicas).toBeGreaterThan(0);
  });

  it('of 0 on a target at 0 ends with the pause, also if the process did not know the pause', async () => {
    const fixture = fixtureOf(4, { 'paused-replicas': '0' });
    fixture.cluster.setReplicas(0);
    const { record } = await fixture.cycle();
    fixture.annotate({});

    expect(record.decision?.reason).not.toContain('a person');
    expect((await fixture.nextCycle()).record.outcome).toMatchObject({ kind: 'patched', from: 0 });
    expect(fixture.cluster.arrived).toHaveLength(1);
  });

  it('is followed by a return within the bounds at once when the pause ends', async () => {
    const fixture = fixtureOf(10, { 'paused-replicas': '25' });
    await fixture.cycle();
    fixture.annotate({});

    expect((await fixture.nextCycle()).record.outcome).toMatchObject({ kind: 'patched', from: 25, to: 20 });
  });

  it('is not set in dry run', async () => {
    const fixture = fixtureOf(8, { 'paused-replicas': '3' }, { dryRun: true });

    const { record } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'dry-run', from: 5, to: 3 });
    expect(fixture.cluster.arrived).toEqual([]);
    expect(heldOf(record)?.message).toBe(
      'scaling is paused by annotation; would be kept at 3 without the dry run; spec.dryRun is true',
    );
    expect(record.reason).toBe(
      '5 -> 3: paused by annotation, would be kept at 3 without the dry run (8 recommended)',
    );
  });

  it('is not set while another autoscaler controls the target', async () => {
    const fixture = fixtureOf(8, { 'paused-replicas': '3' });

    const { record } = await fixture.cycle({ sharesTargetWith: SECOND_SCALER });

    expect(record.outcome).toMatchObject({ kind: 'held', from: 5, to: 3 });
    expect(heldOf(record)).toMatchObject({ reason: 'ConflictingScaler' });
    expect(record.pause?.notes.at(-1)).toBe('would be kept at 3 without the conflict');
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it('is retried if the PATCH fails, and the failure is reported', async () => {
    const fixture = fixtureOf(8, { 'paused-replicas': '3' });
    fixture.cluster.patchScripts.push(() => {
      throw failure('forbidden');
    });

    const { record } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'failed', from: 5, to: 3 });
    expect(record.conditions[0]).toMatchObject({ reason: 'FailedUpdateScale' });
    expect((await fixture.nextCycle()).record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 3 });
  });

  it('starts from the live count if the watch lags behind', async () => {
    const fixture = fixtureOf(8, { 'paused-replicas': '3' });
    fixture.cluster.setReplicas(6);
    fixture.cluster.watchedReplicas = 5;

    const { record } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 6, to: 3 });
    expect(fixture.memory.state.scaleEvents).toEqual([{ at: at(0), change: -3 }]);
  });

  it('is not repeated if an admission webhook changes the count', async () => {
    const fixture = fixtureOf(8, { 'paused-replicas': '3' });
    fixture.cluster.patchScripts.push((apply) => {
      const scale = apply();
      fixture.cluster.specReplicas = 4;
      return { ...scale, specReplicas: 4 };
    });
    await fixture.cycle();

    const { record } = await fixture.nextCycle();

    expect(record.outcome).toMatchObject({ kind: 'held', from: 4, to: 3 });
    expect(heldOf(record)?.message).toContain('3 replicas were requested, but the server set 4');
    expect(fixture.cluster.arrived).toHaveLength(1);
  });

  it('keeps the recommendation from the metrics for the next decision', async () => {
    const fixture = fixtureOf(8, { 'paused-replicas': '3' });
    fixture.memory = settledMemory({ lastScaleUp: at(-60) });

    const { memory } = await fixture.cycle();

    expect(memory.state.recommendations).toEqual([{ at: at(0), replicas: 8 }]);
    expect(memory.state.lastScaleUp).toBe(at(-60));
  });
});
