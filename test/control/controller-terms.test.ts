import { describe, expect, it } from '@jest/globals';
import { settle } from '../support/manual-clock.js';
import { ControllerRig } from './controller-rig.js';
import { at, buildScaler } from './world.js';

const WEB = buildScaler();
const API = buildScaler({ scaleTargetRef: { name: 'api' } }, 'api');

/** A second term of 60 s after a first one that ended at that second. */
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

  it('has forgotten what it knew: both windows begin with the second term', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB);
    await rig.clock.advanceAndSettle(15_000);
    expect(rig.inputs[1]?.memory.uid).toBe('uid-1');

    await twoTerms(rig, 45);

    expect(rig.inputs[2]?.memory).toMatchObject({
      uid: null,
      state: { lastScaleUp: at(60), lastScaleDown: at(60), recommendations: null, scaleEvents: [] },
    });
  });

  it('takes the documents that came while it stood by', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB);
    rig.stop.abort();
    await rig.ended;

    rig.controller.setScalers([API]);
    await twoTerms(rig, 1);

    expect(rig.followed.at(-1)).toEqual(['shop/api']);
    expect(rig.begunAt(1)).toEqual(['shop/api']);
  });

  it('lets a cycle of the first term, 6 s late, patch nothing and leave nothing behind', async () => {
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
