import { runAll, scoringOf, traceWorkload } from '../../src/backtest/compare/variant.js';
import type { Figures } from '../../src/backtest/compare/figures.js';
import type { Load } from '../../src/backtest/simulation/load.js';
import { addSeconds } from '../../src/units/time.js';
import { ASSUMPTIONS } from '../backtest/compare/assumptions.js';
import { runJobsHere } from '../support/backtests.js';
import { cpuScaler, loadsOf } from './elasticity.js';
import { writeMarkedSection } from './marked-section.js';

interface Window {
  readonly scrapeIntervalSeconds: number;
  readonly resourceWindowSeconds: number;
}

/** The defaults of promscaler for scrapes every 30 s, which are the defaults of kube-prometheus-stack. */
const BEFORE: Window = { scrapeIntervalSeconds: 30, resourceWindowSeconds: 120 };
/** What docs/guides/tune.md and doctor advise. */
const ADVISED: Window = { scrapeIntervalSeconds: 15, resourceWindowSeconds: 60 };
const WINDOWS: readonly Window[] = [
  BEFORE,
  { scrapeIntervalSeconds: 15, resourceWindowSeconds: 120 },
  ADVISED,
  { scrapeIntervalSeconds: 5, resourceWindowSeconds: 20 },
];
const BUSY_PODS = 20;

const HEADER = `## Window of CPU

What the scrape interval and the [window that follows it](guides/data-sources.md#the-window-of-cpu) change, back-tested
on load traces. In each cell: \`theta_U\` in percent, pod-hours, number of changes. The document has cpu at 80 % and no
other settings, a pod starts in 30 s, and the capacity is such that 1 % of the minutes need more than ${BUSY_PODS} pods. The last
column compares scrapes every 15 s and their window of 60 s with scrapes every 30 s and their window of 120 s: change of
\`theta_U\`, change of the pod-hours. \`npm run bench -- elasticity --windows --write\` writes this section.

SUMMARY
[The guide](guides/tune.md#scrape-interval-window-and-a-metric-of-the-whole-load) says which loads gain. With few
requests per second, such as the 1.5 of \`nasa\`, a window of 20 s follows single requests;
\`resourceWindowSeconds: 60\` keeps a longer mean.

| trace | capacity of a pod | ${WINDOWS.map(titleOf).join(' | ')} | 15 s instead of 30 s |
| --- | ---: | ${WINDOWS.map(() => '---').join(' | ')} | --- |`;

function titleOf({ scrapeIntervalSeconds, resourceWindowSeconds }: Window): string {
  return `${scrapeIntervalSeconds} s, ${resourceWindowSeconds} s`;
}

/**
 * Runs a document with cpu at 80 % over each load, with several scrape intervals and windows, and prints a table.
 * `folder`: CSV files; without it, shapes of our own. `page`: also replace the section there.
 */
export async function benchCpuWindows(folder: string | undefined, page: string | undefined): Promise<void> {
  const rows: WindowRow[] = [];
  for (const { name, load } of loadsOf(folder)) {
    const row = await rowOf(name, load);
    console.log(row.text);
    rows.push(row);
  }
  if (page !== undefined) writeMarkedSection(page, 'cpu-windows', sectionOf(rows));
}

interface WindowRow {
  readonly text: string;
  /** Changes from `BEFORE` to `ADVISED` in percent, as they are printed. */
  readonly thetaU: string;
  readonly podHours: string;
}

function sectionOf(rows: readonly WindowRow[]): readonly string[] {
  const falling = rows.filter(({ thetaU }) => thetaU.startsWith('-'));
  const rangeOf = (key: 'thetaU' | 'podHours'): string => {
    const sizes = falling
      .map((row) => row[key].replace(/[-+]/, ''))
      .toSorted((a, b) => Number(a) - Number(b));
    return `${sizes[0] ?? ''} to ${sizes.at(-1) ?? ''} %`;
  };
  const summary = `\`theta_U\` falls on ${falling.length} of the ${rows.length} traces by ${rangeOf('thetaU')}, for ${rangeOf('podHours')} more pod-hours.`;
  return [HEADER.replace('SUMMARY', summary), ...rows.map(({ text }) => text)];
}

async function rowOf(name: string, load: Load): Promise<WindowRow> {
  const capacity = Number((busyMinute(load) / BUSY_PODS).toPrecision(4));
  const figures = new Map<Window, Figures>();
  for (const window of WINDOWS) {
    const assumptions = { ...ASSUMPTIONS, ...window, capacity };
    const [result] = await runAll([{ name, scaler: cpuScaler({}) }], {
      workload: traceWorkload(load, assumptions),
      assumptions,
      scoring: scoringOf(load, assumptions),
      runJobs: runJobsHere,
    });
    if (result === undefined || result.figures === null) throw new Error(`${name}: ${result?.error ?? ''}`);
    figures.set(window, result.figures);
  }
  const cells = [...figures.values()].map(
    ({ thetaU, podHours, changes }) => `${thetaU.toPrecision(3)}, ${podHours.toFixed(1)}, ${changes}`,
  );
  const [before, advised] = [figures.get(BEFORE), figures.get(ADVISED)];
  const changeOf = (key: 'thetaU' | 'podHours'): string =>
    signedPercent(before?.[key] ?? NaN, advised?.[key] ?? NaN);
  const [thetaU, podHours] = [changeOf('thetaU'), changeOf('podHours')];
  return {
    text: `| ${name} | ${capacity} | ${cells.join(' | ')} | ${thetaU} %, ${podHours} % |`,
    thetaU,
    podHours,
  };
}

/** Returns the mean load of a minute that 1 % of the minutes exceed. */
function busyMinute(load: Load): number {
  const means: number[] = [];
  for (let from = load.start; from < load.end; from = addSeconds(from, 60)) {
    const mean = load.mean(from, addSeconds(from, 60));
    if (mean !== null) means.push(mean);
  }
  return means.toSorted((one, other) => one - other)[Math.floor(means.length * 0.99)] ?? 0;
}

function signedPercent(before: number, after: number): string {
  const percent = (100 * (after - before)) / before;
  const text = Math.abs(percent) < 10 ? percent.toFixed(1) : percent.toFixed(0);
  return `${percent > 0 ? '+' : ''}${text}`;
}
