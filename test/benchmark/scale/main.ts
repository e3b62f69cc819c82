import { parseArgs } from 'node:util';
import { resolve } from 'node:path';
import { printMachine } from '../report.js';
import { printSize, printTable } from './print.js';
import { runSize } from './run-size.js';
import type { SizeFigures } from './run-size.js';

export const SCALE_USAGE = `npm run bench -- scale [OPTION...]

  --scalers N     this size only; default: 100, 1,000, 5,000 and 10,000
  --pods N        of each scaler, default 10
  --rounds N      measured rounds, default 50
  --real-time     wait between rounds as long as the service does; else the waits are skipped
  --cpu-prof DIR  write a CPU profile of the measured rounds
  --heap          write a heap snapshot after the last round, into the directory of --cpu-prof or the current one`;

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
      'real-time': { type: 'boolean', default: false },
      'cpu-prof': { type: 'string' },
      heap: { type: 'boolean', default: false },
    },
  });
  printMachine({ promscaler: version });
  const directory = values['cpu-prof'] === undefined ? null : resolve(values['cpu-prof']);
  const results: SizeFigures[] = [];
  for (const scalers of values.scalers === undefined ? SIZES : [Number(values.scalers)]) {
    const figures = await runSize({
      size: { scalers, pods: Number(values.pods) },
      rounds: Number(values.rounds),
      isRealTime: values['real-time'],
      profileDirectory: directory,
      heapFile: values.heap ? resolve(directory ?? '.', `scale-${scalers}.heapsnapshot`) : null,
      nodeFlags: [],
      signal,
    });
    printSize(figures, { isRealTime: values['real-time'], rounds: Number(values.rounds) });
    results.push(figures);
  }
  if (results.length > 1) printTable(results);
}
