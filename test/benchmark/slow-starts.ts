import { DEMAND_STEP_SECONDS, runAll, scoringOf, traceWorkload } from '../../src/backtest/compare/variant.js';
import { runJobsHere } from '../support/backtests.js';
import type { Load } from '../../src/backtest/simulation/load.js';
import { podStartOf } from '../../src/backtest/simulation/settings.js';
import { countAt } from '../../src/backtest/simulation/count-steps.js';
import type { Run } from '../../src/backtest/simulation/run-variant.js';
import { addSeconds, type Instant } from '../../src/units/time.js';
import { ASSUMPTIONS } from '../backtest/compare/assumptions.js';
import {
  CPU_80,
  CPU_80_WITH_STEP,
  expectedWait,
  QUEUE_ASSUMPTIONS,
  QUEUE_CAPACITY,
  QUEUE_LOAD,
  QUEUE_POLICIES,
  recoveryOf,
  runOn,
  STEP,
  withBacklog,
} from '../backtest/simulation/slow-starts.js';
import { kedaScaler, loadsOf, MAX_REPLICAS, MEAN_PODS, meanOf } from './elasticity.js';
import { writeMarkedSection } from './marked-section.js';

/**
 * Runs the defaults of HPA and KEDA, and documents with the fields for slow starts, on a step of the load, on a queue
 * and on load traces. Prints three tables. `folder`: CSV files; without it, shapes of our own. `page`: also replace the
 * section there.
 */
export async function benchSlowStarts(folder: string | undefined, page: string | undefined): Promise<void> {
  const rows = [...(await stepRows()), ...(await queueRows()), ...(await traceRows(folder))];
  for (const row of rows) console.log(row);
  if (page !== undefined) writeMarkedSection(page, 'slow-starts', rows);
}

const POD_STARTS = [30, 120, 300] as const;

const STEP_HEADER = `## Slow starts

A step from 9.5 to 39.5 pods of load, with the settings above. Carried: until 40 pods are ready. KEDA's defaults
scale on the whole load. The last rows have \`podStart: {}\` and
[\`saturation\`](guides/slow-starts.md#usage-at-its-limit). A test compares them with the figures of a prototype.

| start of a pod | settings | carried after | pod-minutes lost | most pods | pod-hours |
| ---: | --- | ---: | ---: | ---: | ---: |`;

async function stepRows(): Promise<readonly string[]> {
  const documents = [
    { name: "HPA's defaults", scaler: CPU_80 },
    { name: "KEDA's defaults", scaler: kedaScaler(1) },
    { name: 'with saturation', scaler: CPU_80_WITH_STEP },
  ];
  const rows: string[] = [STEP_HEADER];
  for (const seconds of POD_STARTS)
    for (const { name, scaler } of documents) {
      const assumptions = { capacity: 1, initialReplicas: 12, podStart: podStartOf(seconds) };
      const { run, figures } = await runOn(STEP, scaler, assumptions);
      const { carriedSeconds, lostPodMinutes } = recoveryOf(run);
      rows.push(
        `| ${seconds} s | ${name} | ${carriedSeconds.toFixed(0)} s | ${lostPodMinutes.toFixed(0)} | ${figures.peakPods} | ${figures.podHours.toFixed(1)} |`,
      );
    }
  return rows;
}

const NOTHING: ReadonlyMap<string, string> = new Map();

const QUEUE_HEADER = `
### Queues

Load that waits (\`--queue unbounded\`): 8 per second, then 64 for 40 minutes after a ramp of 30 s, then 8; a pod serves
${QUEUE_CAPACITY} per second, and 8 pods are needed. HPA and KEDA scale on the depth with a target of 1 per pod, or by one
pod per 180 s; a rate has a target of 9 per pod, or the measured \`capacity\`. Expected wait: the mean over time of the
depth divided by what the ready pods serve, which is what a new arrival would wait. Mean and p95 wait are those of the
report, over what was served.

| start of a pod | settings | most pods | pod-hours | expected wait | mean wait | p95 wait |
| ---: | --- | ---: | ---: | ---: | ---: | ---: |`;

async function queueRows(): Promise<readonly string[]> {
  const documents = [
    ...QUEUE_POLICIES.map(({ name, scaler, measure }) => ({
      name,
      scaler,
      measures: new Map([['queue', measure]]),
    })),
    { name: 'rate, `backlog` and `podStart`', scaler: withBacklog({}), measures: NOTHING },
    {
      name: '... and `capacity`',
      scaler: withBacklog({}, { capacity: { query: 'max(served_per_pod)' } }),
      measures: NOTHING,
    },
  ];
  const rows: string[] = [QUEUE_HEADER];
  for (const seconds of POD_STARTS)
    for (const { name, scaler, measures } of documents) {
      const assumptions = { ...QUEUE_ASSUMPTIONS, podStart: podStartOf(seconds), measures };
      const { run, figures } = await runOn(QUEUE_LOAD, scaler, assumptions);
      const { meanWait = NaN, p95Wait = NaN } = figures.queue ?? {};
      const waits = [expectedWait(run, QUEUE_CAPACITY), meanWait, p95Wait];
      rows.push(
        `| ${seconds} s | ${name} | ${figures.peakPods} | ${figures.podHours.toFixed(1)} | ${waits.map((wait) => `${wait.toFixed(0)} s`).join(' | ')} |`,
      );
    }
  return rows;
}

const TRACES_HEADER = `
### The step for usage at its limit, on traces

The second half of each load, where the mean load needs ${MEAN_PODS} pods. Saturation: the HPA's defaults with
\`podStart: {}\` and \`saturation\`. KEDA's defaults scale on the whole load. In each cell: \`theta_U\` in percent,
pod-hours. The last column compares saturation with the HPA's defaults, and says which part of the additional pod-hours
carried load that the HPA's pods did not.

SUMMARY

| load | start of a pod | HPA's defaults | KEDA's defaults | saturation | theta_U, pod-hours |
| --- | ---: | ---: | ---: | ---: | ---: |`;

interface TraceRow {
  readonly text: string;
  /** Ratios of saturation to the HPA's defaults, and pod-hours to those of KEDA's defaults. */
  readonly thetaU: number;
  readonly podHours: number;
  readonly ofKeda: number;
}

async function traceRows(folder: string | undefined): Promise<readonly string[]> {
  const rows: TraceRow[] = [];
  for (const { name, load } of loadsOf(folder))
    for (const seconds of POD_STARTS) rows.push(await traceRow(name, load, seconds));
  return [TRACES_HEADER.replace('SUMMARY', summaryOf(rows)), ...rows.map(({ text }) => text)];
}

/** The goal of the step: at most this many percent more pod-hours. */
const MOST_PERCENT = 6;

function summaryOf(rows: readonly TraceRow[]): string {
  const count = (isMeant: (row: TraceRow) => boolean): string => `${rows.filter(isMeant).length}`;
  const falls = rows.filter(({ thetaU }) => thetaU < 0).map(({ thetaU }) => -thetaU);
  const range =
    falls.length === 0 ? '' : ` by ${Math.min(...falls).toFixed(0)} to ${Math.max(...falls).toFixed(0)} %`;
  return `\`theta_U\` rises in ${count(({ thetaU }) => thetaU > 0)} of the ${rows.length} rows, falls in ${falls.length}${range}, and is the same in
${count(({ thetaU }) => thetaU === 0)}, where usage is not at its limit for long enough. Saturation needs at most ${MOST_PERCENT} % more pod-hours than the HPA's
defaults in ${count(({ podHours }) => podHours <= MOST_PERCENT)} rows, and more pod-hours than KEDA's defaults in ${count(({ ofKeda }) => ofKeda > 0)}.

The other rows are those of bursts that are over before the HPA has as many pods as its target of 80 % asks for. The
step gets there, and pays for it: the pods that carry the burst, the reserve of 20 % above them, their start, and their
stabilization of 300 s after the burst. A shorter hold of the step was tried: recommendations of a step that end with
the burst changed the pod-hours by less than 0.2 %, because usage asks for as many pods as soon as those of the step are
ready. Other conditions were tried on \`azure_fn_queueburst\` and confirmed on \`syn_bursts\`, with the load of a step above
and pods that start in 300 s. None has at most 6 % in all rows, and most carry that load later than after 877 s:

| condition of the step | more pod-hours in these rows | the step is carried after |
| --- | --- | ---: |
| as it is | 7.1 to 67 % | 877 s |
| usage at its limit for a whole pod start | 7.1 to 37 % | 1087 s |
| what is served has grown by 25 % instead of 10 % | 7.1 to 67 % | 877 s |
| no other step for two pod starts | 7.1 to 67 % | 1102 s |
| \`factor: 1.5\` | 3.7 to 25 % | 1252 s |

Where that is too expensive, raise the target, set a lower \`factor\`, or shorten \`downscaleStabilizationSeconds\`.`;
}

async function traceRow(name: string, load: Load, seconds: number): Promise<TraceRow> {
  const capacity = meanOf(load) / MEAN_PODS;
  const assumptions = { ...ASSUMPTIONS, capacity, podStart: podStartOf(seconds) };
  const start = addSeconds(load.start, Math.floor((load.end - load.start) / 2000));
  const variants = [CPU_80, kedaScaler(capacity), CPU_80_WITH_STEP].map((scaler) => ({
    name: '',
    scaler: { ...scaler, spec: { ...scaler.spec, maxReplicas: MAX_REPLICAS } },
  }));
  const results = await runAll(variants, {
    workload: traceWorkload(load, assumptions),
    assumptions,
    scoring: scoringOf(load, assumptions, { start, end: load.end }),
    runJobs: runJobsHere,
  });
  const [hpa, keda, saturation] = results.map(({ figures, run, error }) => {
    if (figures === null) throw new Error(error);
    return { ...figures, carried: carriedPodHours(run, { load, capacity, start }) };
  });
  if (hpa === undefined || keda === undefined || saturation === undefined) throw new Error('there are three');
  const cells = [hpa, keda, saturation].map((one) => `${one.thetaU.toFixed(2)}, ${one.podHours.toFixed(1)}`);
  const thetaU = percentMore(hpa.thetaU, saturation.thetaU);
  const podHours = percentMore(hpa.podHours, saturation.podHours);
  const part = (100 * (saturation.carried - hpa.carried)) / (saturation.podHours - hpa.podHours);
  const used = podHours > MOST_PERCENT ? `, of which ${part.toFixed(0)} % carried load` : '';
  return {
    text: `| ${name} | ${seconds} s | ${cells.join(' | ')} | ${signed(thetaU)}, ${signed(podHours)}${used} |`,
    thetaU,
    podHours,
    ofKeda: percentMore(keda.podHours, saturation.podHours),
  };
}

/** Returns the pod-hours of ready pods that the load needed. */
function carriedPodHours(
  { ready }: Run,
  { load, capacity, start }: { readonly load: Load; readonly capacity: number; readonly start: Instant },
): number {
  let pods = 0;
  for (let at = start; at < load.end; at = addSeconds(at, DEMAND_STEP_SECONDS))
    pods += Math.min(countAt(ready, at), Math.max(1, Math.ceil((load.at(at) ?? 0) / capacity)));
  return (pods * DEMAND_STEP_SECONDS) / 3600;
}

/** Rounded to a tenth, as it is printed. */
function percentMore(before: number, after: number): number {
  return before === 0 ? 0 : Math.round((1000 * (after - before)) / before) / 10;
}

function signed(percent: number): string {
  return `${percent > 0 ? '+' : ''}${percent.toFixed(1)} %`;
}
