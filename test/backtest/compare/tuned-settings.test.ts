import { describe, expect, it } from '@jest/globals';
import { changedVariant } from '../../../src/backtest/compare/sweep.js';
import {
  changedFields,
  countChanges,
  presentSettings,
} from '../../../src/backtest/compare/recommend-candidates.js';
import { runAll, scoringOf, traceWorkload } from '../../../src/backtest/compare/variant.js';
import { runJobsHere } from '../../support/backtests.js';
import { createLoad } from '../../../src/backtest/simulation/load.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { addSeconds, instantFromMs } from '../../../src/units/time.js';
import { scalerOf } from '../../support/builders.js';
import { ASSUMPTIONS } from './assumptions.js';

const START = instantFromMs(Date.UTC(2026, 0, 5));

const scaler = (more: Readonly<Record<string, unknown>> = {}): Scaler =>
  scalerOf({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 100,
    metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
    ...more,
  });

function presentOf(document: Scaler): ReturnType<typeof presentSettings> {
  const [metric] = document.spec.metrics;
  if (metric === undefined) throw new Error('no metric');
  return presentSettings(document, metric);
}

describe('changedFields', () => {
  it('is empty for the settings of the document', () => {
    const document = scaler();

    expect(changedFields(document, 0, presentOf(document))).toEqual([]);
  });

  it('keeps a window of 300 s as 315 s of behavior, because without behavior an age of 300 s still counts', () => {
    const document = scaler();

    expect(changedFields(document, 0, { ...presentOf(document), downTolerance: 0.05 })).toEqual([
      { field: 'behavior.scaleDown.tolerance', value: 0.05 },
      { field: 'behavior.scaleDown.stabilizationWindowSeconds', value: 315 },
    ]);
  });

  it('limits that window to 3600 s', () => {
    const document = scaler({ downscaleStabilizationSeconds: 3600 });

    expect(changedFields(document, 0, { ...presentOf(document), downTolerance: 0.05 })).toContainEqual({
      field: 'behavior.scaleDown.stabilizationWindowSeconds',
      value: 3600,
    });
  });

  it('leaves the window of a document with behavior as it is', () => {
    const document = scaler({ behavior: {} });

    expect(changedFields(document, 0, { ...presentOf(document), downTolerance: 0.05 })).toEqual([
      { field: 'behavior.scaleDown.tolerance', value: 0.05 },
    ]);
  });

  it('writes both tolerances as one field, and a window alone without behavior', () => {
    const document = scaler();
    const settings = { ...presentOf(document), upTolerance: 0.05, downTolerance: 0.05, downSeconds: 240 };

    expect(changedFields(document, 0, settings)).toEqual([
      { field: 'tolerance', value: 0.05 },
      { field: 'downscaleStabilizationSeconds', value: 240 },
    ]);
  });

  it('raises minReplicas', () => {
    const document = scaler();

    expect(changedFields(document, 0, { ...presentOf(document), minReplicas: 3 })).toEqual([
      { field: 'minReplicas', value: 3 },
    ]);
  });
});

describe('a window of 315 s of behavior', () => {
  it('decides as 300 s without behavior, on a load that goes up and down for six hours', async () => {
    const times = Float64Array.from({ length: 360 }, (_, minute) => START + minute * 60_000);
    const values = Float64Array.from(
      times,
      (_, minute) => 100 + 60 * Math.sin(minute / 4) + ((minute * 37) % 23),
    );
    const load = createLoad(times, values, addSeconds(START, 360 * 60));
    const given = {
      workload: traceWorkload(load, ASSUMPTIONS),
      scoring: scoringOf(load, ASSUMPTIONS),
      assumptions: ASSUMPTIONS,
      runJobs: runJobsHere,
    };
    const document = scaler();
    const field = 'behavior.scaleDown.stabilizationWindowSeconds';
    const withWindow = (value: number): Scaler => {
      const variant = changedVariant(document, [{ field, value }]);
      if ('error' in variant) throw new Error(variant.error);
      return variant.scaler;
    };
    const variants = [document, withWindow(315), withWindow(300)].map((one) => ({ name: '', scaler: one }));

    const results = await runAll(variants, given);

    const [own, longer, same] = results.map(({ run }) => run?.replicas);
    expect(longer).toEqual(own);
    expect(same).not.toEqual(own);
  });
});

describe('countChanges', () => {
  const present = presentOf(scaler());

  it.each([
    ['nothing', {}, 0],
    ['one tolerance', { downTolerance: 0.05 }, 1],
    ['both tolerances to the same value', { upTolerance: 0.05, downTolerance: 0.05 }, 1],
    ['both tolerances to different values', { upTolerance: 0.05, downTolerance: 0.01 }, 2],
    ['target and window', { target: 85, downSeconds: 240 }, 2],
  ])('counts %s', (_, changes, count) => {
    expect(countChanges({ ...present, ...changes }, present)).toBe(count);
  });
});
