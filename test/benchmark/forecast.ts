import { compareForecast } from '../../src/backtest/compare/compare-forecast.js';
import { type Backtest, runAll, scoringOf, traceWorkload } from '../../src/backtest/compare/variant.js';
import { runJobsHere } from '../support/backtests.js';
import type { Figures } from '../../src/backtest/compare/figures.js';
import { podStartOf } from '../../src/backtest/simulation/settings.js';
import { addSeconds } from '../../src/units/time.js';
import { ASSUMPTIONS } from '../backtest/compare/assumptions.js';
import { scalerOf } from '../support/builders.js';
import { loadsOf, MAX_REPLICAS, MEAN_PODS, meanOf, type Named } from './elasticity.js';
import { writeMarkedSection } from './marked-section.js';

const POD_STARTS = [120, 300] as const;

const HEADER = `## Forecast

The second half of each load, where the mean load needs ${MEAN_PODS} pods; the first half is simulated, too, and each forecast
sees only what its own run has served. The document has a cpu target of 80 % and \`forecast: { mode: Raise }\`. The lower
target is the one, without a forecast, that needs as many pod-hours. In each cell: \`theta_U\` in percent, pod-hours.
Loads of a day are too short: the forecast is silent. \`npm run bench -- forecast --write\` writes this section.

The aim is half of \`theta_U\` for at most 5 % more pod-hours where a load repeats, a third less than the lower target
leaves, and at most 1 % more pod-hours where nothing repeats. \`nasa_jul1995\` repeats, but has less than a request per
second and pod: most of its missing pods are noise of single minutes, which no earlier day foretells, so that it is far
from the aim. What is free (the time after the lead, the mean of two minutes, the rise on two thirds of the days) was
chosen on eight generated loads, with the figures of this table in view: other loads may be worse.

| load | start of a pod | no forecast | forecast | change | lower target | forecast and lower target |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |`;

/**
 * Runs a document with a forecast, without it, and without it at a lower target, and prints a table. `folder`: CSV files.
 * `page`: also replace the section there.
 */
export async function benchForecast(folder: string | undefined, page: string | undefined): Promise<void> {
  const rows = [HEADER];
  console.log(HEADER);
  for (const named of loadsOf(folder))
    for (const seconds of POD_STARTS) {
      const row = await rowOf(named, seconds);
      console.log(row);
      rows.push(row);
    }
  if (page !== undefined) writeMarkedSection(page, 'forecast', rows);
}

async function rowOf({ name, load }: Named, seconds: number): Promise<string> {
  const assumptions = { ...ASSUMPTIONS, capacity: meanOf(load) / MEAN_PODS, podStart: podStartOf(seconds) };
  const middle = addSeconds(load.start, Math.floor((load.end - load.start) / 2000));
  const traced = traceWorkload(load, assumptions);
  const backtest: Backtest = {
    workload: (scaler, start) => ({ ...traced(scaler, start), warmUpFrom: load.start }),
    assumptions,
    scoring: scoringOf(load, assumptions, { start: middle, end: load.end }),
    runJobs: runJobsHere,
  };
  const observed = {
    name: 'Observe',
    scaler: scalerOf({
      scaleTargetRef: { name: 'web' },
      maxReplicas: MAX_REPLICAS,
      metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
      forecast: {},
    }),
  };
  const [result] = await runAll([observed], backtest);
  if (result?.figures === undefined || result.figures === null) throw new Error(result?.error ?? 'no result');
  const [raised, lower] = await compareForecast(observed, result, backtest);
  const [without, withIt] = [result.figures, raised?.result.figures];
  if (withIt === undefined || withIt === null) throw new Error(raised?.result.error ?? 'no result');
  const other = lower?.result.figures ?? null;
  const cells = [
    name,
    `${seconds} s`,
    cellOf(without),
    cellOf(withIt),
    `${changeOf(without.thetaU, withIt.thetaU)}, ${changeOf(without.podHours, withIt.podHours)}`,
    other === null ? '' : `${cellOf(other)} (${changeOf(without.thetaU, other.thetaU)})`,
    other === null ? '' : changeOf(other.thetaU, withIt.thetaU),
  ];
  return `| ${cells.join(' | ')} |`;
}

function cellOf({ thetaU, podHours }: Figures): string {
  return `${thetaU.toFixed(3)}, ${podHours.toFixed(1)}`;
}

function changeOf(before: number, after: number): string {
  const percent = before === 0 ? 0 : (100 * (after - before)) / before;
  return `${percent > 0 ? '+' : ''}${percent.toFixed(1)} %`;
}
