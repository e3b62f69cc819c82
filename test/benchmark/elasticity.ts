import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recommend } from '../../src/backtest/compare/recommend.js';
import {
  DEMAND_STEP_SECONDS,
  type Result,
  runAll,
  scoringOf,
  traceWorkload,
} from '../../src/backtest/compare/variant.js';
import { runJobsHere, parseTrace } from '../support/backtests.js';
import { assignmentText, changedVariant } from '../../src/backtest/compare/sweep.js';
import { parseThreshold } from '../../src/backtest/compare/threshold.js';
import { evenLoad, createLoad, type Load } from '../../src/backtest/simulation/load.js';

import type { Scaler } from '../../src/scaler/spec.js';
import { addSeconds, instantFromMs } from '../../src/units/time.js';
import { ASSUMPTIONS } from '../backtest/compare/assumptions.js';
import { scalerOf } from '../support/builders.js';
import { writeMarkedSection } from './marked-section.js';

const START = instantFromMs(Date.UTC(2026, 0, 5));
export const MEAN_PODS = 10;
/** Above what any of the loads needs. */
export const MAX_REPLICAS = 1000;
const HEADER = `## Elasticity

The second half of each load, as simulated by \`promscaler backtest\`: the mean load needs ${MEAN_PODS} pods, a pod starts in
30 s, and cpu is a rate over 60 s of samples every 15 s, with a target of 80 %. Scaled by its highest minute instead, a
load with a rare peak needs one pod most of the time, and whole pods decide rather than settings. KEDA's defaults scale
on the whole load instead, every 30 s. The last row of each load is what \`--recommend 'theta_U<=document'\` answers for
the HPA's defaults, with the saving that it expects. \`npm run bench -- elasticity --write\` writes this section.

Of the six public traces, a change is confirmed on one: on \`azure_fn_diurnal\`, a smaller tolerance of scale-downs, of
which \`--recommend\` expects 1.5 % fewer pod-hours (1.9 % in the whole second half, with 0.01 points more theta_U). On
the others, the document is kept. Against bursts, a metric of the load, as in the rows of KEDA, or a higher
\`minReplicas\` achieves more than other windows.

| load | settings | theta_U % | theta_O % | pod-hours | changes |
| --- | --- | ---: | ---: | ---: | ---: |`;

/**
 * Runs the HPA's, CHPA's and KEDA's defaults and the settings of `--recommend` over load traces, and prints a table of
 * the second half of each. `folder`: CSV files; without it, shapes of our own. `page`: also replace the table there.
 */
export async function benchElasticity(folder: string | undefined, page: string | undefined): Promise<void> {
  const rows: string[] = [];
  for (const { name, load } of loadsOf(folder)) {
    const before = rows.length;
    rows.push(...(await rowsOf(name, load)));
    for (const row of rows.slice(before)) console.log(row);
  }
  if (page === undefined) return;
  writeMarkedSection(page, 'elasticity', [HEADER, ...rows]);
}

/** A load with the name of its file. */
export interface Named {
  readonly name: string;
  readonly load: Load;
}

/** Returns the loads of a directory of traces; without traces, shapes of our own. */
export function loadsOf(folder: string | undefined): readonly Named[] {
  const files =
    folder === undefined || !existsSync(folder)
      ? []
      : readdirSync(folder)
          .filter((file) => file.endsWith('.csv'))
          .toSorted();
  if (folder === undefined || files.length === 0) {
    console.log(`no traces in ${folder ?? '--traces DIRECTORY'}: two shapes of the benchmark instead`);
    return OWN_SHAPES;
  }
  return files.flatMap((file) => {
    const { load } = parseTrace(readFileSync(join(folder, file), 'utf8'), START);
    return load === null
      ? []
      : [{ name: file.replace(/\.csv$/, ''), load: evenLoad(load, DEMAND_STEP_SECONDS) }];
  });
}

function shape(name: string, valueAt: (minute: number) => number): Named {
  const times = Float64Array.from({ length: 2880 }, (_, minute) => START + minute * 60_000);
  const values = Float64Array.from(times, (_, minute) => valueAt(minute));
  return { name, load: createLoad(times, values, addSeconds(START, 2880 * 60)) };
}

const OWN_SHAPES: readonly Named[] = [
  shape('two days, a sine', (minute) => 100 - 80 * Math.cos((2 * Math.PI * minute) / 1440)),
  shape('a step each hour', (minute) => (minute % 60 < 20 ? 120 : 40)),
];

async function rowsOf(name: string, load: Load): Promise<readonly string[]> {
  const capacity = meanOf(load) / MEAN_PODS;
  const assumptions = { ...ASSUMPTIONS, capacity };
  const middle = addSeconds(load.start, Math.floor((load.end - load.start) / 2000));
  const workload = traceWorkload(load, assumptions);
  const halfOf = (start: typeof middle, end: typeof middle) => ({
    workload,
    assumptions,
    scoring: scoringOf(load, assumptions, { start, end }),
    runJobs: runJobsHere,
  });
  const second = halfOf(middle, load.end);
  const defaults = [
    { name: "HPA's defaults", scaler: cpuScaler({}) },
    { name: "CHPA's defaults", scaler: cpuScaler({ preset: 'chpa' }) },
    { name: "KEDA's defaults", scaler: kedaScaler(capacity) },
  ] as const;
  const [hpa] = defaults;
  const condition = parseThreshold('theta_U<=document', { allowsDocument: true });
  if (typeof condition === 'string') throw new Error(condition);
  const whole = { workload, assumptions, scoring: scoringOf(load, assumptions), runJobs: runJobsHere };
  const { change, saving } = await recommend(hpa, [condition], whole);
  const changed = change === null ? hpa : changedVariant(hpa.scaler, change);
  if ('error' in changed) throw new Error(changed.error);
  const text = change === null ? 'keep' : change.map(assignmentText).join(' ');
  const expected = saving === null ? '' : `, expecting ${saving.percent.toFixed(1)} %`;
  const picked = { name: `recommended: ${text}${expected}`, scaler: changed.scaler };
  const results = await runAll([...defaults, picked], second);
  return results.map((result) => rowOf(name, result.name, result));
}

function rowOf(load: string, settings: string, { figures, error }: Result): string {
  if (figures === null) return `| ${load} | ${settings} | ${error} | | | |`;
  const { thetaU, thetaO, podHours, changes } = figures;
  return `| ${load} | ${settings} | ${thetaU.toFixed(2)} | ${thetaO.toFixed(0)} | ${podHours.toFixed(1)} | ${changes} |`;
}

/** Returns the mean of a load; throws if it is never above 0. */
export function meanOf(load: Load): number {
  const mean = load.mean(load.start, load.end);
  if (mean === null || mean === 0) throw new Error('the load is never above 0');
  return mean;
}

const BASE = { scaleTargetRef: { name: 'web' }, maxReplicas: MAX_REPLICAS };

/** Returns a document with cpu at 80 % and `more` fields. */
export function cpuScaler(more: Readonly<Record<string, unknown>>): Scaler {
  const metrics = [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }];
  return scalerOf({ ...BASE, ...more, metrics });
}

/** KEDA queries every 30 s and gives the total to an HPA. */
export function kedaScaler(capacity: number): Scaler {
  const target = { type: 'AverageValue', averageValue: Number((0.8 * capacity).toPrecision(4)) };
  const metrics = [{ type: 'External', external: { query: 'sum(rate(requests_total[1m]))', target } }];
  return scalerOf({ ...BASE, syncPeriodSeconds: 30, metrics });
}
