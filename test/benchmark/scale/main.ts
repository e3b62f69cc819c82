import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { printMachine } from '../report.js';
import { paceOf, printSize, printTable } from './print.js';
import { runSize } from './run-size.js';
import type { SizeFigures } from './run-size.js';
import { writePage } from './write-page.js';

export const SCALE_USAGE = `npm run bench -- scale [OPTION...]

  --scalers N     this size only; default: 100, 1,000, 5,000 and 10,000
  --pods N        of each scaler, default 10
  --rounds N      measured rounds, default 50
  --warmup N      rounds before, default 3
  --real-time     wait between rounds as long as the service does; else the waits are skipped
  --clock R       let the clock of the service run at this rate, from 0.01 to 1, because the machine does other things
                  meanwhile; default: processors / load, at most 1
  --cpu-prof DIR  write a CPU profile of the measured rounds
  --write         write the results to docs/benchmarks.md
  --heap          write a heap snapshot after the last round, into the directory of --cpu-prof or the current one`;

/** In the checkout: this file runs from a directory for compiled benchmarks. */
const PAGE = fileURLToPath(new URL('../../../../docs/benchmarks.md', import.meta.url));
const SIZES = [100, 1000, 5000, 10_000];

export async function benchScale(
  args: readonly string[],
  version: string,
  signal: AbortSignal,
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      scalers: { type: 'string' },
      pods: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '50' },
      warmup: { type: 'string', default: '3' },
      'real-time': { type: 'boolean', default: false },
      clock: { type: 'string' },
      'cpu-prof': { type: 'string' },
      heap: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  printMachine({ promscaler: version });
  const directory = values['cpu-prof'] === undefined ? null : resolve(values['cpu-prof']);
  const rate = values['real-time'] ? 1 : Number(values.clock ?? fittingRate());
  const results: SizeFigures[] = [];
  for (const scalers of values.scalers === undefined ? SIZES : [Number(values.scalers)]) {
    const figures = await runSize({
      size: { scalers, pods: Number(values.pods) },
      rounds: Number(values.rounds),
      warmupRounds: Number(values.warmup),
      isRealTime: values['real-time'],
      profileDirectory: directory,
      heapFile: values.heap ? resolve(directory ?? '.', `scale-${scalers}.heapsnapshot`) : null,
      nodeFlags: [],
      rate,
      report: (line) => process.stderr.write(`${line}\n`),
      signal,
    });
    printSize(figures, { isRealTime: values['real-time'], rounds: Number(values.rounds), rate });
    results.push(figures);
  }
  if (results.length > 1) printTable(results);
  if (!values.write) return;
  const pace = paceOf({ isRealTime: values['real-time'], rate });
  writePage(PAGE, results, { version, rounds: Number(values.rounds), pace });
}

/** A process that gets a fifth of the processors needs a clock that is five times as slow to keep its deadlines. */
function fittingRate(): number {
  const processors = cpus().length;
  return Math.floor((100 * processors) / Math.max(processors, (loadavg()[0] ?? 0) + 1)) / 100;
}
