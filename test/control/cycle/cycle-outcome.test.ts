import { describe, expect, it } from '@jest/globals';
import { freshMemory } from '../../../src/control/memory/memory.js';
import type { PatchScript } from '../fake-cluster.js';
import { failure } from '../fake-cluster.js';
import { at, Fixture } from '../fixture.js';

/** The PATCH is applied, and its answer is lost. */
const LOST_ANSWER: PatchScript = (apply) => {
  apply();
  return Promise.reject(failure('timeout', 'patching scale of shop/web: timeout after 5000 ms'));
};

/** The PATCH is not applied, and there is no answer. */
const LOST_REQUEST: PatchScript = () => Promise.reject(failure('connection'));

const UNKNOWN_YET = 'the result of an earlier change is not known yet';

describe('a PATCH whose answer is lost', () => {
  it('is reported as failed and does not count yet', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(LOST_ANSWER);

    const { record, memory } = await fixture.cycle();

    expect(record.outcome).toEqual({
      kind: 'failed',
      from: 5,
      to: 8,
      message: 'patching scale of shop/web: timeout after 5000 ms',
    });
    expect(record.conditions).toContainEqual(
      expect.objectContaining({ type: 'AbleToScale', status: 'False', reason: 'FailedUpdateScale' }),
    );
    expect(memory.unresolved).toEqual({
      epoch: '0/test',
      from: 5,
      to: 8,
      earlier: [],
      resourceVersion: '100',
      generation: 1,
      at: at(0),
    });
    expect(memory.state).toMatchObject({ lastScaleUp: null, scaleEvents: [] });
  });

  it('counts once, from the next cycle on, which reads 8 at 15 s', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(LOST_ANSWER);
    await fixture.cycle();

    const { record, memory } = await fixture.nextCycle();
    await fixture.nextCycle();

    expect(record.decision?.action).toBe('none');
    expect(memory.unresolved).toBeNull();
    expect(memory.state.lastScaleUp).toBe(at(15));
    expect(record.snapshot?.state.scaleEvents).toMatchObject([{ at: at(15), change: 3 }]);
    expect(fixture.memory.state.lastScaleUp).toBe(at(15));
    expect(fixture.cluster.arrived).toHaveLength(1);
  });

  it('keeps a window of 300 s closed from when it was detected, 15 s after it was sent', async () => {
    const fixture = new Fixture({ downscaleForbiddenWindowSeconds: 300 });
    fixture.load = 30;
    fixture.cluster.patchScripts.push(LOST_ANSWER);
    await fixture.cycle();
    fixture.cluster.statusReplicas = 3;
    fixture.load = 10;

    await fixture.nextCycle();
    fixture.clock.advance(299_000);
    expect((await fixture.cycle()).record.outcome.kind).toBe('none');
    fixture.clock.advance(1000);
    expect((await fixture.cycle()).record.outcome.kind).toBe('none');
    fixture.clock.advance(1000);
    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 3, to: 1 });
  });

  it('counts for nothing and is sent again if the next cycle still reads 5', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(LOST_REQUEST);
    await fixture.cycle();

    const { record, memory } = await fixture.nextCycle();

    expect(record.snapshot?.state).toMatchObject({ lastScaleUp: null, scaleEvents: [] });
    expect(record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
    expect(memory.state).toMatchObject({ lastScaleUp: at(15), scaleEvents: [{ at: at(15), change: 3 }] });
    expect(memory.unresolved).toBeNull();
  });

  it.each([
    ['may still go through at 59 s while the target has the same resourceVersion', 59_000, false, true],
    ['never will after 60 s', 60_000, false, false],
    ['never will once the target has another resourceVersion', 1000, true, false],
  ])('%s', async (_, waitMs, isTouched, isOpen) => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(LOST_REQUEST);
    await fixture.cycle();
    if (isTouched) fixture.cluster.touch();
    fixture.load = 50;
    fixture.clock.advance(waitMs);

    const { memory } = await fixture.cycle();

    expect(memory.unresolved !== null).toBe(isOpen);
    expect(memory.state).toMatchObject({ lastScaleUp: null, scaleEvents: [] });
  });

  it('keeps its window of 180 s if another client sets 5 again before the watch shows either change', async () => {
    const fixture = new Fixture({ upscaleForbiddenWindowSeconds: 180 });
    fixture.load = 80;
    fixture.cluster.watchedVersion = 100;
    fixture.cluster.patchScripts.push(LOST_ANSWER);
    await fixture.cycle();
    fixture.cluster.setReplicas(5);

    const outcomes: string[] = [];
    for (let count = 0; count < 17; count += 1)
      outcomes.push((await fixture.nextCycle()).record.outcome.kind);

    // It is assumed to have happened at 60 s, because the watch never shows it.
    expect(outcomes.slice(0, 3)).toEqual(['conflict', 'conflict', 'conflict']);
    expect(outcomes.slice(3, 16)).toEqual(Array.from({ length: 13 }, () => 'none'));
    expect(outcomes.slice(16)).toEqual(['patched']);
  });

  it('is repeated once the watch shows that nothing has changed the spec', async () => {
    const fixture = new Fixture({ upscaleForbiddenWindowSeconds: 180 });
    fixture.load = 80;
    fixture.cluster.watchedVersion = 100;
    fixture.cluster.patchScripts.push(LOST_REQUEST);
    await fixture.cycle();
    fixture.cluster.touch();

    const waiting = await fixture.nextCycle();
    fixture.cluster.watchedVersion = null;
    const again = await fixture.nextCycle();

    expect(waiting.record.outcome).toMatchObject({ kind: 'conflict', message: UNKNOWN_YET });
    expect(again.record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it('waits while the target cannot be read live', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(LOST_ANSWER);
    await fixture.cycle();
    fixture.cluster.readFailure = failure('timeout');

    const { record, memory } = await fixture.nextCycle();

    expect(record.decision).toBeNull();
    expect(memory.unresolved).not.toBeNull();
  });

  it('counts as +3 if the next cycle reads 6: the 8 may have been applied before', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(LOST_REQUEST);
    await fixture.cycle();
    fixture.cluster.setReplicas(6);
    fixture.load = 60;

    const { memory } = await fixture.nextCycle();

    const scaleEvents = [{ at: at(15), change: 3 }];
    expect(memory).toMatchObject({ unresolved: null, state: { lastScaleUp: at(15), scaleEvents } });
  });

  it.each([
    [8, [{ at: at(30), change: 3 }]],
    [9, [{ at: at(30), change: 4 }]],
    [7, [{ at: at(30), change: 4 }]],
  ])(
    'was for 8 and then for 9 and is found at %d: one of the two counts, the wider one if neither is known',
    async (found, events) => {
      const fixture = new Fixture();
      fixture.cluster.patchScripts.push(LOST_REQUEST, LOST_REQUEST);
      fixture.load = 80;
      await fixture.cycle();
      fixture.load = 90;
      await fixture.nextCycle();
      fixture.cluster.setReplicas(found);
      fixture.load = found * 10;

      const { memory } = await fixture.nextCycle();

      expect(memory).toMatchObject({ unresolved: null, state: { lastScaleUp: at(30), scaleEvents: events } });
    },
  );

  it('counts although the watch still has 5 when the next cycle runs', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(LOST_ANSWER);
    fixture.cluster.watchedReplicas = 5;
    await fixture.cycle();

    const { memory } = await fixture.nextCycle();

    expect(fixture.cluster.arrived).toHaveLength(1);
    expect(memory.state).toMatchObject({
      lastScaleUp: at(15),
      scaleEvents: [{ at: at(15), change: 3 }],
    });
  });

  it('counts although the watch still has 5 and now 5 are sufficient', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(LOST_ANSWER);
    fixture.cluster.watchedReplicas = 5;
    await fixture.cycle();
    fixture.load = 50;

    await fixture.nextCycle();
    fixture.cluster.watchedReplicas = null;
    await fixture.nextCycle();

    expect(fixture.memory.state.lastScaleUp).toBe(at(15));
  });

  it('counts when it is applied 20 s later, while the same PATCH is retried', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    let late: (() => void) | null = null;
    fixture.cluster.patchScripts.push((apply) => {
      late = apply;
      return Promise.reject(failure('server_error', '504 Gateway Timeout'));
    });
    await fixture.cycle();
    // The second PATCH has the resourceVersion of the first one, so only one of the two can be accepted.
    fixture.cluster.patchScripts.push((apply) => {
      late?.();
      return apply();
    });

    await fixture.nextCycle();
    await fixture.nextCycle();

    expect(fixture.cluster.specReplicas).toBe(8);
    expect(fixture.memory.state.lastScaleUp).not.toBeNull();
  });
});

describe('a PATCH that fails permanently', () => {
  it('keeps the recommendation and removes event and time', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(() => Promise.reject(failure('forbidden')));

    const { record, memory } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'failed', from: 5, to: 8 });
    expect(memory.unresolved).toBeNull();
    expect(memory.state).toMatchObject({
      recommendations: [{ at: at(0), replicas: 8 }],
      scaleEvents: [],
      lastScaleUp: null,
    });
  });

  it('is retried in each cycle, once, and is applied when it is allowed', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    for (let count = 0; count < 3; count += 1) {
      fixture.cluster.patchScripts.push(() => Promise.reject(failure('forbidden')));
    }

    for (let count = 0; count < 4; count += 1) await fixture.nextCycle();

    expect(fixture.cluster.arrived).toHaveLength(4);
    expect(fixture.memory.state).toMatchObject({
      lastScaleUp: at(60),
      scaleEvents: [{ at: at(60), change: 3 }],
    });
  });

  it('does not open a scale-down window that was closed before: the earlier time stays', async () => {
    const fixture = new Fixture({ downscaleForbiddenWindowSeconds: 60 });
    fixture.memory = { ...fixture.memory, state: { ...fixture.memory.state, lastScaleDown: at(-100) } };
    fixture.load = 30;
    fixture.cluster.patchScripts.push(() => Promise.reject(failure('invalid')));

    await fixture.cycle();

    expect(fixture.memory.state.lastScaleDown).toBe(at(-100));
  });
});

describe('a fresh memory', () => {
  it('does not scale down in the first decision, without stabilization and windows', async () => {
    const fixture = new Fixture();
    fixture.memory = freshMemory(at(0), null);
    fixture.load = 10;

    const { record } = await fixture.cycle();

    expect(record.decision).toMatchObject({ recommendedReplicas: 1, desiredReplicas: 5 });
    expect(fixture.memory.uid).toBe('uid-1');
    expect((await fixture.nextCycle()).record.outcome).toMatchObject({ kind: 'patched', to: 1 });
  });

  it('does not scale down for 300 s with the stabilization of 300 s', async () => {
    const fixture = new Fixture({ downscaleStabilizationSeconds: 300 });
    fixture.memory = freshMemory(at(0), null);
    fixture.load = 10;

    for (let count = 0; count <= 20; count += 1) {
      expect((await fixture.cycle()).record.decision?.action).toBe('none');
      fixture.clock.advance(15_000);
    }
    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', to: 1 });
    expect(fixture.clock.now()).toBe(at(315));
  });

  it('starts both windows of 60 s: no scale-up at 60 s, one at 75 s', async () => {
    const fixture = new Fixture({ upscaleForbiddenWindowSeconds: 60, downscaleForbiddenWindowSeconds: 60 });
    fixture.memory = freshMemory(at(0), null);
    fixture.load = 80;

    for (let count = 0; count <= 4; count += 1) {
      expect((await fixture.cycle()).record.decision?.action).toBe('none');
      fixture.clock.advance(15_000);
    }
    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
    expect(fixture.clock.now()).toBe(at(75));
  });

  it('scales up at once if no window forbids it', async () => {
    const fixture = new Fixture();
    fixture.memory = freshMemory(at(0), null);
    fixture.load = 80;

    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });
});
