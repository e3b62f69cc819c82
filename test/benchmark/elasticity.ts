import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recommend } from '../../src/backtest/compare/recommend.js';
import { runJobsHere } from '../../src/backtest/compare/run-jobs.js';
import { assignmentText } from '../../src/backtest/compare/sweep.js';
import {
  type Assumptions,
  DEMAND_STEP_SECONDS,
  type Result,
  runOn,
  scoringOf,
  traceWorld,
} from '../../src/backtest/compare/variant.js';
import { parseThreshold } from '../../src/backtest/figures/threshold.js';
import { evenLoad } from '../../src/backtest/load/even-load.js';
import { createLoad, type Load } from '../../src/backtest/load/load.js';
import { parseTrace } from '../../src/backtest/load/parse-trace.js';
import type { Scaler } from '../../src/scaler/spec.js';
import { addSeconds, instantFromMs } from '../../src/units/time.js';
import { scalerOf } from '../support/builders.js';

const START = instantFromMs(Date.UTC(2026, 0, 5));
const PEAK_PODS = 30;
const MAX_REPLICAS = 60;
const BEGIN = '<!-- elasticity:begin -->';
const END = '<!-- elasticity:end -->';
const HEADER = `## Elasticity

The second half of each load, as simulated by \`promscaler backtest\`: the highest minute needs ${PEAK_PODS} pods, a pod
starts in 30 s, and cpu is a mean over 60 s with a target of 80 %. KEDA's defaults scale on the whole load instead,
every 30 s. The last row of each load is what \`--recommend 'theta_U<=document'\` picks on the first half for the HPA's
defaults. \`npm run bench -- elasticity --write\` writes this section.

\`--recommend\` keeps the document where no change has fewer pod-hours without more under-provisioning on the first half,
also scaled, shifted and backwards, or where the second half does not confirm it. It does so on three of the six public
traces: \`azure_fn_flash\` needs one pod all the time in its second half, so that nothing can be saved;
\`azure_fn_queueburst\` and \`azure_llm_code\` consist of bursts that are shorter than the windows, so that each setting
with fewer pods misses more of the next burst. The HPA misses much of such bursts in any case: a metric of the load, as
in the rows of KEDA, or a higher \`minReplicas\` achieves more than other windows.

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
  const text = existsSync(page) ? readFileSync(page, 'utf8') : '# Benchmarks\n';
  const table = `${BEGIN}\n${HEADER}\n${rows.join('\n')}\n${END}`;
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  const next =
    from < 0 || to < from
      ? `${text.trimEnd()}\n\n${table}\n`
      : text.slice(0, from) + table + text.slice(to + END.length);
  writeFileSync(page, next);
}

interface Named {
  readonly name: string;
  readonly load: Load;
}

function loadsOf(folder: string | undefined): readonly Named[] {
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
  const capacity = peakOf(load) / PEAK_PODS;
  const assumptions: Assumptions = {
    capacity,
    podStartSeconds: 30,
    scrapeIntervalSeconds: 15,
    resourceWindowSeconds: 60,
    usageAtCapacityPercent: 100,
    initialReplicas: null,
    pricePerPodHour: null,
  };
  const middle = addSeconds(load.start, Math.floor((load.end - load.start) / 2000));
  const world = traceWorld(load, assumptions);
  const halfOf = (start: typeof middle, end: typeof middle) => ({
    assumptions,
    scoring: scoringOf(load, assumptions, { start, end }),
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
  const whole = { world, assumptions, scoring: scoringOf(load, assumptions), runJobs: runJobsHere };
  const { change, results } = await recommend(hpa, [condition], whole);
  const picked = change === null ? results[0] : results[1];
  const text = change?.map(assignmentText).join(' ');
  return [
    ...defaults.map((variant) => rowOf(name, variant.name, runOn(world, variant, second))),
    ...(picked === undefined ? [] : [rowOf(name, `recommended: ${text ?? 'keep'}`, picked)]),
  ];
}

function rowOf(load: string, settings: string, { figures, error }: Result): string {
  if (figures === null) return `| ${load} | ${settings} | ${error} | | | |`;
  const { thetaU, thetaO, podHours, changes } = figures;
  return `| ${load} | ${settings} | ${thetaU.toFixed(2)} | ${thetaO.toFixed(0)} | ${podHours.toFixed(1)} | ${changes} |`;
}

/** The highest mean of a minute. */
function peakOf(load: Load): number {
  let peak = 0;
  for (let from = load.start; from < load.end; from = addSeconds(from, 60))
    peak = Math.max(peak, load.mean(from, addSeconds(from, 60)) ?? 0);
  return peak;
}

const BASE = { scaleTargetRef: { name: 'web' }, maxReplicas: MAX_REPLICAS };

function cpuScaler(more: Readonly<Record<string, unknown>>): Scaler {
  const metrics = [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }];
  return scalerOf({ ...BASE, ...more, metrics });
}

/** KEDA queries every 30 s and gives the total to an HPA. */
function kedaScaler(capacity: number): Scaler {
  const target = { type: 'AverageValue', averageValue: Number((0.8 * capacity).toPrecision(4)) };
  const metrics = [{ type: 'External', external: { query: 'sum(rate(requests_total[1m]))', target } }];
  return scalerOf({ ...BASE, syncPeriodSeconds: 30, metrics });
}
