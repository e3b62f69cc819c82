import { describe, expect, it } from '@jest/globals';
import { shiftMemory, watchWallClock } from '../../../src/control/memory/clock-jump.js';
import { advanceHold, type MetricHold, type ScalerHolds } from '../../../src/prometheus/recovery-hold.js';
import { cpuMetric } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ControllerFixture } from '../controller-fixture.js';
import { at, buildScaler, settledMemory } from '../fixture.js';

/** Returns the elapsed seconds until the first PATCH if the clock is set by this number of seconds after 20 s. */
async function secondsUntilPatch(
  jumpSeconds: number,
  spec: Readonly<Record<string, unknown>>,
): Promise<number> {
  const fixture = new ControllerFixture();
  fixture.fixture.load = 80;
  await fixture.start(buildScaler(spec));
  await fixture.clock.advanceAndSettle(20_000);
  fixture.clock.jump(jumpSeconds);
  while (fixture.fixture.cluster.arrived.length === 0 && fixture.clock.monotonicMs() < 1_000_000) {
    await fixture.clock.advanceAndSettle(1000);
  }
  return fixture.clock.monotonicMs() / 1000;
}

describe('setting the wall clock', () => {
  it.each([0, 3600, -3600, 86_400, 6, -6])(
    'by %d s does not change the length of a forbidden window of 300 s',
    async (seconds) => {
      expect(await secondsUntilPatch(seconds, { upscaleForbiddenWindowSeconds: 300 })).toBe(315);
    },
  );

  it.each([3600, -3600])(
    'by %d s does not change the length of a stabilization of 120 s',
    async (seconds) => {
      const behavior = { scaleUp: { stabilizationWindowSeconds: 120 } };
      expect(await secondsUntilPatch(seconds, { behavior })).toBe(await secondsUntilPatch(0, { behavior }));
    },
  );

  it('during a cycle also applies to the results of the cycle', async () => {
    const fixture = new ControllerFixture();
    fixture.fixture.load = 80;
    fixture.script = async (_, run) => {
      if (fixture.inputs.length === 1) fixture.clock.jump(3600);
      return run();
    };
    await fixture.start(buildScaler({ upscaleForbiddenWindowSeconds: 0 }));

    await fixture.clock.advanceAndSettle(15_000);

    expect(fixture.inputs[1]).toMatchObject({ now: at(3615), memory: { state: { lastScaleUp: at(3615) } } });
  });

  it('is reported once', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(buildScaler());
    fixture.clock.jump(3600);
    await fixture.clock.advanceAndSettle(60_000);

    expect(fixture.clockSteps).toEqual([3600]);
  });
});

describe('watchWallClock', () => {
  it('reports a step of 5 s, not one of 4.999 s, and small ones as their sum', () => {
    const clock = new ManualClock();
    const steps: number[] = [];
    const wall = watchWallClock(clock, (seconds) => steps.push(seconds));
    clock.advance(1_000_000);

    clock.jump(4.999);
    expect(wall.setBySeconds()).toBe(0);
    clock.jump(0.001);
    expect(wall.setBySeconds()).toBe(5);
    clock.jump(-3);
    expect(wall.setBySeconds()).toBe(5);
    clock.jump(-3);
    expect(wall.setBySeconds()).toBe(-1);
    expect(steps).toEqual([5, -6]);
  });
});

describe('shiftMemory', () => {
  const heldAs = (hold: MetricHold): ScalerHolds => [
    {
      metric: cpuMetric,
      key: 'Resource/cpu',
      rangeSeconds: 120,
      startRangeSeconds: 120,
      source: undefined,
      hold,
    },
  ];
  const memory = {
    ...settledMemory({
      lastScaleUp: at(-10),
      lastScaleDown: null,
      recommendations: [{ at: at(-15), replicas: 5 }],
      scaleEvents: [{ at: at(-10), change: 2 }],
      downscaleProposals: [{ at: at(-15), replicas: 4 }],
      failingSince: new Map([['Pods/rps', at(-20)]]),
      inactiveSince: at(-30),
      saturation: { since: at(-35), served: 7, step: { at: at(-33), to: 9 } },
      documentChangedAt: at(-12),
    }),
    holds: heldAs({ valuesSince: at(-40), until: at(50), lastAnswerAt: at(-15), cause: 'x' }),
    shortfall: { since: at(-25), wanted: 7 },
  };

  it('moves every time by the same amount, and marks the memory to be stored', () => {
    expect(shiftMemory(memory, 3600, at(3600))).toMatchObject({
      state: {
        lastScaleUp: at(3590),
        lastScaleDown: null,
        recommendations: [{ at: at(3585), replicas: 5 }],
        scaleEvents: [{ at: at(3590), change: 2 }],
        downscaleProposals: [{ at: at(3585), replicas: 4 }],
        failingSince: new Map([['Pods/rps', at(3580)]]),
        inactiveSince: at(3570),
        saturation: { since: at(3565), served: 7, step: { at: at(3567), to: 9 } },
        documentChangedAt: at(3588),
      },
      holds: heldAs({ valuesSince: at(3560), until: at(3650), lastAnswerAt: at(3585), cause: 'x' }),
      shortfall: { since: at(3575), wanted: 7 },
      isUnsaved: true,
    });
  });

  it('keeps the end of a recovery hold when the clock is set back and forth again', () => {
    const advance = (hold: MetricHold | null, seconds: number): MetricHold =>
      advanceHold(hold, {
        now: at(seconds),
        outcome: { kind: 'value' },
        startTime: null,
        holdSeconds: 300,
        periodSeconds: 15,
      });
    const shifted = (hold: MetricHold, seconds: number, now: number): MetricHold =>
      shiftMemory({ ...memory, holds: heldAs(hold) }, seconds, at(now)).holds[0]?.hold ?? hold;

    const back = advance(shifted(advance(null, 0), -3600, 15 - 3600), 15 - 3600);
    const forth = advance(shifted(back, 3600, 30), 30);

    expect(back).toMatchObject({ valuesSince: at(-3600), until: at(300 - 3600) });
    expect(forth).toMatchObject({ valuesSince: at(0), until: at(300) });
  });

  it('moves no past time past the present', () => {
    expect(shiftMemory(memory, 3605, at(3590)).state.lastScaleUp).toBe(at(3590));
  });
});
