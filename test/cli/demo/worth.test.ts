import { describe, expect, it } from '@jest/globals';
import { demoDocuments, RATE_SECONDS, SCRAPE_SECONDS } from '../../../src/cli/demo/documents.js';
import { fewestSeconds, MOST_SPEED, whyNoBacktest } from '../../../src/cli/demo/keep-history.js';
import { demoWorkloads } from '../../../src/cli/demo/workloads.js';
import { type Figures, staticFleet, figuresOf } from '../../../src/backtest/compare/figures.js';
import { runAll, scoringOf, traceWorkload } from '../../../src/backtest/compare/variant.js';
import { createLoad } from '../../../src/backtest/simulation/load.js';
import { podStartOf } from '../../../src/backtest/simulation/settings.js';
import { readDocuments } from '../../../src/scaler/read/read-scalers.js';
import { makeManifest } from '../../../src/simulator/controllers/manifests.js';
import { milliToNumber, parseQuantity } from '../../../src/units/quantity.js';
import { ASSUMPTIONS } from '../../backtest/compare/assumptions.js';
import { at } from '../../support/builders.js';
import { runJobsHere } from '../../support/backtests.js';

const STEP_SECONDS = 0.5;
/** A pod of the demo starts in 2 s and is ready 2 s later, each plus up to half. */
const POD_START_SECONDS = 5;

/** The request or limit of CPU of a container of the shop, in cores. */
function coresOf(manifest: unknown, which: 'requests' | 'limits'): number {
  const [, text = ''] = new RegExp(`"${which}":{"cpu":"([^"]+)"`).exec(JSON.stringify(manifest)) ?? [];
  const cores = parseQuantity(text);
  if (cores === null) throw new Error(`no ${which} of cpu`);
  return milliToNumber(cores);
}

/** Returns the figures of the document of checkout, and of a static fleet at the peak, over the load of a demo. */
async function backTest(speed: number, seconds: number): Promise<{ document: Figures; fleet: Figures }> {
  const [shop] = demoWorkloads(speed, null);
  const [document = ''] = demoDocuments(speed).objects;
  const [scaler] = readDocuments(document, 'checkout.yaml', {}).map((read) => read.scaler);
  if (shop === undefined || scaler === undefined || scaler === null) throw new Error('no checkout');
  const [request, limit] = [coresOf(makeManifest(shop), 'requests'), coresOf(makeManifest(shop), 'limits')];
  const steps = Array.from({ length: seconds / STEP_SECONDS }, (_, index) => index * STEP_SECONDS);
  const load = createLoad(
    Float64Array.from(steps, at),
    Float64Array.from(steps, (second) => shop.load(second + STEP_SECONDS / 2)),
    at(seconds),
  );
  const assumptions = {
    ...ASSUMPTIONS,
    capacity: limit / (shop.behavior?.cpuSecondsPerRequest ?? NaN),
    usageAtCapacityPercent: (100 * limit) / request,
    initialReplicas: shop.replicas,
    podStart: podStartOf(POD_START_SECONDS),
    scrapeIntervalSeconds: SCRAPE_SECONDS,
    resourceWindowSeconds: RATE_SECONDS,
  };
  const scoring = scoringOf(load, assumptions);
  const workload = traceWorkload(load, assumptions);
  const [result] = await runAll([{ name: 'document', scaler }], {
    ...{ workload, assumptions, scoring, runJobs: runJobsHere },
  });
  const fleet = figuresOf(staticFleet(scoring.demand), scoring);
  if (result === undefined || result.figures === null || fleet === null) throw new Error(result?.error ?? '');
  return { document: result.figures, fleet };
}

describe('the back-test that a demo offers', () => {
  const durations = (speed: number): readonly (readonly [number, number])[] =>
    [1, 1.1, 1.25, 1.5, 1.6, 2, 3].map((days) => [speed, Math.round(days * fewestSeconds(speed))]);

  it.each([1, 2, MOST_SPEED].flatMap(durations))(
    'costs at least 10 %% fewer pod-hours than a static fleet at the peak and misses at most 1 %%: speed %d, %d s',
    async (speed, seconds) => {
      const { document, fleet } = await backTest(speed, seconds);

      expect(document.podHours).toBeLessThan(0.9 * fleet.podHours);
      expect(document.thetaU).toBeLessThan(1);
      expect(document.changes).toBeGreaterThan(10);
    },
  );

  it.each([
    ['of 216 s at speed 5', 216, 5, null],
    [
      'of 215 s at speed 5',
      215,
      5,
      'A back-test says little before the load has had a whole day. At --speed 5, run the demo for at least 240 s.',
    ],
    [
      'of 1000 s at speed 1',
      1000,
      1,
      'A back-test says little before the load has had a whole day. At --speed 1, run the demo for at least 1200 s.',
    ],
    [
      'of 1000 s at speed 6',
      1000,
      6,
      'A back-test says little at --speed 6, because the load changes faster than pods start. Run the demo at --speed 5 for at least 240 s.',
    ],
  ])('is offered or not after a demo %s', (_, seconds, speed, reason) => {
    expect(whyNoBacktest(seconds, { speed, traceFile: null })).toBe(reason);
  });

  it('is offered after any demo with a load of the user', () => {
    expect(whyNoBacktest(20, { speed: 60, traceFile: 'load.csv' })).toBeNull();
  });
});
