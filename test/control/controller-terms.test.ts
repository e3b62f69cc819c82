import { describe, expect, it } from '@jest/globals';
import { settle } from '../support/manual-clock.js';
import { ControllerRig } from './controller-rig.js';
import { freshMemory } from '../../src/control/memory/memory.js';
import { EMPTY_STATE } from '../../src/decision/snapshot/snapshot.js';
import { at, buildScaler } from './world.js';

const WEB = buildScaler();
const API = buildScaler({ scaleTargetRef: { name: 'api' } }, 'api');

/** Ends the first term and starts a second one after `secondsBetween`. */
async function twoTerms(rig: ControllerRig, secondsBetween: number): Promise<void> {
  rig.stop.abort();
  await rig.ended;
  await rig.clock.advanceAndSettle(secondsBetween * 1000);
  rig.ended = rig.controller.run(new AbortController().signal);
  await settle();
}

describe('a controller that is run again', () => {
  it('runs no cycle between two terms, and the first one at once in the second term', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB, API);
    await rig.clock.advanceAndSettle(20_000);

    await twoTerms(rig, 100);
    await rig.clock.advanceAndSettle(15_000);

    expect(rig.rounds.map(({ at: instant }) => instant)).toEqual([0, 15, 120, 135].map(at));
    expect(rig.begunAt(120)).toEqual(['shop/web', 'shop/api']);
  });

  it('remembers when it scaled in the first term, and resets everything else', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB);
    rig.world.load = 80;
    await rig.clock.advanceAndSettle(15_000);
    const { memory } = rig.outputs[1] ?? {};
    expect(memory?.state.lastScaleUp).toBe(at(15));

    await twoTerms(rig, 45);

    expect(rig.inputs[2]?.memory).toEqual({
      ...freshMemory(at(60), 'uid-1'),
      assumedAt: at(0),
      // There is no store that could save it.
      isUnsaved: true,
      state: {
        ...EMPTY_STATE,
        lastScaleUp: at(15),
        lastScaleDown: memory?.state.lastScaleDown,
        scaleEvents: memory?.state.scaleEvents,
      },
    });
  });

  it('uses 60 s ago as the last scaling when the clock was set an hour ahead between the terms', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB);
    rig.world.load = 80;
    await rig.clock.advanceAndSettle(15_000);

    rig.stop.abort();
    await rig.ended;
    rig.clock.jump(3600);
    await twoTerms(rig, 45);

    expect(rig.inputs[2]?.now).toBe(at(3660));
    expect(rig.inputs[2]?.memory.state.lastScaleUp).toBe(at(3615));
  });

  it('uses the documents that were loaded while it was a standby', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB);
    rig.stop.abort();
    await rig.ended;

    rig.controller.setScalers([API]);
    await twoTerms(rig, 1);

    expect(rig.followed.at(-1)).toEqual(['shop/api']);
    expect(rig.begunAt(1)).toEqual(['shop/api']);
  });

  it('prevents a cycle of the first term, 6 s late, from patching anything or leaving state', async () => {
    const rig = new ControllerRig();
    rig.world.load = 80;
    const letGo = rig.holdCycles((input) => input === rig.inputs[0]);
    await rig.start(WEB);
    rig.stop.abort();
    await rig.clock.advanceAndSettle(6000);
    rig.world.load = 60;
    await twoTerms(rig, 1);

    letGo();
    await settle();
    await rig.clock.advanceAndSettle(15_000);

    expect(rig.world.cluster.arrived.map(({ replicas }) => replicas)).toEqual([6]);
    expect(rig.outputs.map(({ record }) => record.outcome.kind)).toEqual(['patched', 'conflict', 'none']);
    expect(rig.inputs[2]?.memory).toBe(rig.outputs[0]?.memory);
  });
});
