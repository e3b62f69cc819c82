import { parseArgs } from 'node:util';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { SEMI_SPACE_FLAG } from '../chart-flags.js';
import { describeMachine, PAGE } from '../report.js';
import { readRunOptions, RUN_OPTIONS } from '../run-options.js';
import { printSize, printTable } from './print.js';
import { runSize } from './run-size.js';
import { readFigures, saveFigures } from './saved-figures.js';
import type { SizeFigures } from './run-size.js';
import { writePage } from './write-page.js';

export const SCALE_USAGE = `npm run bench -- scale [OPTION...]

  --scalers N     this size only; default: 100, 1,000, 5,000 and 10,000
  --pods N        of each scaler, default 10
  --rounds N      measured rounds, default 50
  --warmup N      rounds before, default 3
  --clock R       let the clock of service and cluster run R times as fast after the start; 1: real time. Default: 5 up
                  to 1,000 scalers (a round of 15 s takes 3 s), 3 up to 5,000, 2 above; without --scalers, each
                  size runs once more in real time. In real time, at most 20 rounds are measured
  --forecast      each document has a forecast that observes
  --heap-limit N  MiB of heap of the service, default 768: three quarters of 1 GiB, the memory limit of the
                  Helm chart
  --cpu-prof DIR  write CPU profiles of the start and of the measured rounds
  --alloc-prof DIR  write what is allocated at the start and in the measured rounds instead, without what lives shortly
  --save DIR      write the figures of each size to a file in this directory
  --write         write docs/benchmarks.md from the figures of this run and those in the directory of --save
  --node-flag F   a further flag of Node.js for the service, repeatable, besides ${SEMI_SPACE_FLAG} of the
                  Helm chart
  --heap          write a heap snapshot after the last round, into the directory of --cpu-prof or the current one`;

const SIZES = [100, 1000, 5000, 10_000];

/** Enough for the mean of a round: at most of these, 15 s each. */
const ROUNDS_IN_REAL_TIME = 20;

/** A round must end before the next one begins. */
function clockOf(scalers: number): number {
  if (scalers > 5000) return 2;
  return scalers > 1000 ? 3 : 5;
}

/** Without `--clock` and `--scalers`, each size runs in real time as well: what is paid per second counts more there. */
function runsOf({
  scalers,
  clock,
}: {
  readonly scalers?: string | undefined;
  readonly clock?: string | undefined;
}): readonly { readonly scalers: number; readonly clock: number }[] {
  const sizes = scalers === undefined ? SIZES : [Number(scalers)];
  return sizes.flatMap((size) => {
    if (clock !== undefined) return { scalers: size, clock: Number(clock) };
    const fast = { scalers: size, clock: clockOf(size) };
    return scalers === undefined ? [fast, { scalers: size, clock: 1 }] : fast;
  });
}

export async function benchScale(
  args: readonly string[],
  version: string,
  signal: AbortSignal,
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...RUN_OPTIONS,
      scalers: { type: 'string' },
      clock: { type: 'string' },
      'cpu-prof': { type: 'string' },
      'alloc-prof': { type: 'string' },
      heap: { type: 'boolean', default: false },
      forecast: { type: 'boolean', default: false },
      'node-flag': { type: 'string', multiple: true, default: [] },
      save: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  });
  const machine = describeMachine({ promscaler: version });
  console.log(machine);
  const target = values['cpu-prof'] ?? values['alloc-prof'];
  const directory = target === undefined ? null : resolve(target);
  if (directory !== null) mkdirSync(directory, { recursive: true });
  const { pods, nodeFlags, ...run } = readRunOptions(values);
  const results: SizeFigures[] = [];
  for (const { scalers, clock } of runsOf(values)) {
    const rounds = clock === 1 ? Math.min(run.rounds, ROUNDS_IN_REAL_TIME) : run.rounds;
    const figures = await runSize({
      ...run,
      rounds,
      size: { scalers, pods, hasForecasts: values.forecast },
      clock,
      profileDirectory: directory,
      profileKind: values['cpu-prof'] === undefined ? 'heap' : 'cpu',
      heapFile: values.heap ? resolve(directory ?? '.', `scale-${scalers}.heapsnapshot`) : null,
      nodeFlags: [...nodeFlags, ...values['node-flag']],
      report: (line) => process.stderr.write(`${line}\n`),
      signal,
    });
    printSize(figures, { rounds, clock });
    results.push(figures);
    if (values.save !== undefined) saveFigures(values.save, figures);
  }
  if (results.length > 1) printTable(results);
  if (!values.write) return;
  const all = values.save === undefined ? results : readFigures(values.save);
  writePage(PAGE, all, { machine, heapLimit: values['heap-limit'] });
}
