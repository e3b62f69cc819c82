import { podStartOf } from '../../src/backtest/simulation/settings.js';
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
import { kedaScaler } from './elasticity.js';
import { writeMarkedSection } from './marked-section.js';

/**
 * Runs the defaults of HPA and KEDA, and documents with the fields for slow starts, on a step of the load and on a queue.
 * Prints two tables. `page`: also replace the section there.
 */
export async function benchSlowStarts(page: string | undefined): Promise<void> {
  const rows = [...(await stepRows()), ...(await queueRows())];
  for (const row of rows) console.log(row);
  if (page !== undefined) writeMarkedSection(page, 'slow-starts', rows);
}

const POD_STARTS = [30, 120, 300] as const;

const STEP_HEADER = `## Slow starts

A step from 9.5 to 39.5 pods of load, with the settings above. Carried: until 40 pods are ready. KEDA's defaults
scale on the whole load. The last rows have \`podStart: {}\` and
[\`saturation\`](guides/slow-starts.md#usage-at-its-limit). A test compares them with the figures of a
prototype.

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
pod per 180 s; a rate has a target of 9 per pod. Expected wait: the mean over time of the depth divided by what the
ready pods serve, which is what a new arrival would wait. Mean and p95 wait are those of the report, over what was
served.

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
