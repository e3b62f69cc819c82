import { describe, expect, it } from '@jest/globals';
import type { Probe, ProbeFigures } from '../../../src/backtest/compare/probes.js';
import { findSettings } from '../../../src/backtest/compare/search-settings.js';
import { type TunedSettings, presentSettings } from '../../../src/backtest/compare/recommend-candidates.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { scalerOf } from '../../support/builders.js';
import { conditionOf, triedWith } from './figures-of.js';

const document = scalerOf({
  scaleTargetRef: { name: 'web' },
  maxReplicas: 100,
  behavior: {},
  metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
});

function settingsOf(scaler: Scaler): TunedSettings {
  const [metric] = scaler.spec.metrics;
  if (metric === undefined) throw new Error('no metric');
  return presentSettings(scaler, metric);
}

interface Does {
  readonly thetaU?: number;
  readonly podHours?: number;
}

const windows = (value: number): readonly number[] => Array.from({ length: 12 }, () => value);

/** Documents do nothing special, except those of which `doesOf` says so. Pod-hours are of each of 12 windows. */
function probe(doesOf: (settings: TunedSettings) => Does | null): Probe {
  const tried = (scaler: Scaler): ProbeFigures => {
    const { thetaU = 1, podHours = 10 } = doesOf(settingsOf(scaler)) ?? {};
    return triedWith(windows(thetaU), windows(podHours));
  };
  return { run: (variants) => Promise.resolve(variants.map(({ scaler }) => tried(scaler))) };
}

async function find(...probes: readonly Probe[]): Promise<unknown> {
  const found = await findSettings(document, [conditionOf('theta_U<=document')], probes);
  return typeof found === 'string' ? found : found.change;
}

const NONE =
  'no change needs fewer pod-hours on the first half of the load and also meets the condition with a margin';
const down = 'behavior.scaleDown.stabilizationWindowSeconds';
const tolerance = 'behavior.scaleDown.tolerance';

/** Pod-hours that are smaller by this share if only the window is another one, and only if it is this one. */
const shorterWindow =
  (downSeconds: number, saving: number) =>
  (settings: TunedSettings): Does | null =>
    settings.downSeconds === downSeconds && settings.target === 80 && settings.downTolerance === 0.1
      ? { podHours: 10 * (1 - saving) }
      : null;

describe('findSettings', () => {
  it('takes what saves most on all probes, not on one', async () => {
    const first = shorterWindow(120, 0.2);
    const both = shorterWindow(180, 0.1);
    const load = probe((settings) => first(settings) ?? both(settings));
    const backwards = probe(
      (settings) => both(settings) ?? { podHours: settings.downSeconds < 180 ? 10.1 : 10 },
    );

    expect(await find(load, backwards)).toEqual([{ field: down, value: 180 }]);
    expect(await find(load, load)).toEqual([{ field: down, value: 120 }]);
  });

  it.each([
    [0.0101, [{ field: down, value: 180 }]],
    [0.0099, NONE],
  ])('asks for a saving of 1 %%: %s', async (saving, expected) => {
    const load = probe(shorterWindow(180, saving));

    expect(await find(load, load)).toEqual(expected);
  });

  it.each([
    [0.029, 180],
    [0.031, 120],
  ])('takes the larger saving: 3 %% with 180 s, %s with 120 s', async (saving, expected) => {
    const at180 = shorterWindow(180, 0.03);
    const load = probe((settings) => at180(settings) ?? shorterWindow(120, saving)(settings));

    expect(await find(load, load)).toEqual([{ field: down, value: expected }]);
  });

  it.each([
    ['more than', 0.0411, 2],
    ['less than', 0.0389, 1],
  ])('takes a second field if it saves %s 1 %% more', async (_, both, fields) => {
    const load = probe(({ target, downSeconds, upTolerance, downTolerance }) => {
      if (upTolerance !== 0.1 || downTolerance !== 0.1 || downSeconds !== 180) return null;
      return target === 80 ? { podHours: 9.7 } : target === 82 ? { podHours: 10 * (1 - both) } : null;
    });

    expect(await find(load, load)).toHaveLength(fields);
  });

  it('falls back to a smaller tolerance of scale-downs, which only the load itself has to show', async () => {
    const small = probe(({ downTolerance, upTolerance, target }) =>
      downTolerance === 0.02 && upTolerance === 0.1 && target === 80
        ? { podHours: 9.95, thetaU: 1.04 }
        : null,
    );

    expect(
      await find(
        small,
        probe(() => null),
      ),
    ).toEqual([{ field: tolerance, value: 0.02 }]);
  });

  it.each([
    ['more than 0.1 %', { podHours: 9.989 }, [{ field: tolerance, value: 0.02 }]],
    ['less than 0.1 %', { podHours: 9.991 }, NONE],
    ['at 0.06 points more theta_U', { podHours: 9.95, thetaU: 1.06 }, NONE],
  ])('that fallback has to save something: %s', async (_, does, expected) => {
    const small = probe(({ downTolerance }) => (downTolerance === 0.02 ? does : null));

    expect(
      await find(
        small,
        probe(() => null),
      ),
    ).toEqual(expected);
  });

  it('keeps a document of which the load is unknown', async () => {
    const unknown: Probe = { run: (variants) => Promise.resolve(variants.map(() => null)) };

    expect(await find(unknown)).toBe('the load of the first half is unknown');
  });
});
