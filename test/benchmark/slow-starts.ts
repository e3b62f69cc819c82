import { runAll, runJobsHere, scoringOf, traceWorkload } from '../../src/backtest/compare/variant.js';
import type { Load } from '../../src/backtest/load/load.js';
import { podStartOf } from '../../src/backtest/simulation/settings.js';
import { addSeconds } from '../../src/units/time.js';
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
    { name: 'rate, `backlog` and `podStart`', scaler: withBacklog({}), measures: new Map<string, string>() },
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
pod-hours. The last column compares saturation with the HPA's defaults.

\`theta_U\` rises in none of the 21 rows. It falls by 15 to 43 % in ten, and is unchanged in eleven, where usage is not
at its limit for long enough. The goal of at most 6 % more pod-hours is met on all but the loads of short bursts: on
\`azure_fn_queueburst\`, the step costs 16 to 67 %, and on \`syn_bursts\` 7 to 24 %, because the doubled pods are ready
when a burst is over and stay for the stabilization of scale-downs. Where bursts are shorter than a pod start, a metric
of the load, as in the column of KEDA, or a higher \`minReplicas\` achieves more.

| load | start of a pod | HPA's defaults | KEDA's defaults | saturation | theta_U, pod-hours |
| --- | ---: | ---: | ---: | ---: | ---: |`;

async function traceRows(folder: string | undefined): Promise<readonly string[]> {
  const rows: string[] = [TRACES_HEADER];
  for (const { name, load } of loadsOf(folder))
    for (const seconds of POD_STARTS) rows.push(await traceRow(name, load, seconds));
  return rows;
}

async function traceRow(name: string, load: Load, seconds: number): Promise<string> {
  const capacity = meanOf(load) / MEAN_PODS;
  const assumptions = { ...ASSUMPTIONS, capacity, podStart: podStartOf(seconds) };
  const middle = addSeconds(load.start, Math.floor((load.end - load.start) / 2000));
  const variants = [CPU_80, kedaScaler(capacity), CPU_80_WITH_STEP].map((scaler) => ({
    name: '',
    scaler: { ...scaler, maxReplicas: MAX_REPLICAS },
  }));
  const results = await runAll(variants, {
    workload: traceWorkload(load, assumptions),
    assumptions,
    scoring: scoringOf(load, assumptions, { start: middle, end: load.end }),
    runJobs: runJobsHere,
  });
  const [hpa, keda, saturation] = results.map(({ figures, error }) => {
    if (figures === null) throw new Error(error);
    return figures;
  });
  if (hpa === undefined || keda === undefined || saturation === undefined) throw new Error('there are three');
  const cells = [hpa, keda, saturation].map(
    ({ thetaU, podHours }) => `${thetaU.toFixed(2)}, ${podHours.toFixed(1)}`,
  );
  const changes = [changeOf(hpa.thetaU, saturation.thetaU), changeOf(hpa.podHours, saturation.podHours)];
  return `| ${name} | ${seconds} s | ${cells.join(' | ')} | ${changes.join(', ')} |`;
}

function changeOf(before: number, after: number): string {
  const percent = before === 0 ? 0 : (100 * (after - before)) / before;
  return `${percent > 0 ? '+' : ''}${percent.toFixed(1)} %`;
}
