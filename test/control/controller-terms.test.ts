import { describe, expect, it } from '@jest/globals';
import { settle } from '../support/manual-clock.js';
import { ControllerFixture } from './controller-fixture.js';
import { freshMemory } from '../../src/control/memory/memory.js';
import { EMPTY_STATE } from '../../src/decision/snapshot/snapshot.js';
import { at, buildScaler } from './fixture.js';

const WEB = buildScaler();
const API = buildScaler({ scaleTargetRef: { name: 'api' } }, 'api');

/** Ends the first term and starts a second one after `secondsBetween`. */
async function twoTerms(fixture: ControllerFixture, secondsBetween: number): Promise<void> {
  fixture.stop.abort();
  await fixture.ended;
  await fixture.clock.advanceAndSettle(secondsBetween * 1000);
  fixture.ended = fixture.controller.run(new AbortController().signal);
  await settle();
}

describe('a controller that is run again', () => {
  it('runs no cycle between two terms, and the first one at once in the second term', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB, API);
    await fixture.clock.advanceAndSettle(20_000);

    await twoTerms(fixture, 100);
    await fixture.clock.advanceAndSettle(15_000);

    expect(fixture.rounds.map(({ at: instant }) => instant)).toEqual([0, 15, 120, 135].map(at));
    expect(fixture.begunAt(120)).toEqual(['shop/web', 'shop/api']);
  });

  it('remembers when it scaled in the first term, and resets everything else', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    fixture.fixture.load = 80;
    await fixture.clock.advanceAndSettle(15_000);
    const { memory } = fixture.outputs[1] ?? {};
    expect(memory?.state.lastScaleUp).toBe(at(15));

    await twoTerms(fixture, 45);

    expect(fixture.inputs[2]?.memory).toEqual({
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
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    fixture.fixture.load = 80;
    await fixture.clock.advanceAndSettle(15_000);

    fixture.stop.abort();
    await fixture.ended;
    fixture.clock.jump(3600);
    await twoTerms(fixture, 45);

    expect(fixture.inputs[2]?.now).toBe(at(3660));
    expect(fixture.inputs[2]?.memory.state.lastScaleUp).toBe(at(3615));
  });

  it('uses the documents that were loaded while it was a standby', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    fixture.stop.abort();
    await fixture.ended;

    fixture.controller.setScalers([API]);
    await twoTerms(fixture, 1);

    expect(fixture.followed.at(-1)).toEqual(['shop/api']);
    expect(fixture.begunAt(1)).toEqual(['shop/api']);
  });

  it('prevents a cycle of the first term, 6 s late, from patching anything or leaving state', async () => {
    const fixture = new ControllerFixture();
    fixture.fixture.load = 80;
    const letGo = fixture.holdCycles((input) => input === fixture.inputs[0]);
    await fixture.start(WEB);
    fixture.stop.abort();
    await fixture.clock.advanceAndSettle(6000);
    fixture.fixture.load = 60;
    await twoTerms(fixture, 1);

    letGo();
    await settle();
    await fixture.clock.advanceAndSettle(15_000);

    expect(fixture.fixture.cluster.arrived.map(({ replicas }) => replicas)).toEqual([6]);
    expect(fixture.outputs.map(({ record }) => record.outcome.kind)).toEqual(['patched', 'conflict', 'none']);
    expect(fixture.inputs[2]?.memory).toBe(fixture.outputs[0]?.memory);
  });
});
