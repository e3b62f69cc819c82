import { print } from '../report.js';
import { growthOf, ROWS } from './rows.js';
import { PERIOD_SECONDS } from './workloads.js';
import type { SizeFigures } from './run-size.js';

export function printSize(
  figures: SizeFigures,
  { rounds, clock }: { readonly rounds: number; readonly clock: number },
): void {
  const { size, traffic, rescales, faults } = figures;
  console.log(`\n${size.scalers} scalers x ${size.pods} pods, ${rounds} rounds of 15 s, ${paceOf(clock)}`);
  for (const row of ROWS) print(row.name, row.format(row.value(figures)), '');
  print('requests per round', list(traffic.apiRequests), '');
  print('queries per round', list(traffic.queries), '');
  print('rescales in all', String(rescales), '');
  for (const fault of faults) console.log(`NOT VALID: ${fault}`);
}

/** Returns how fast the rounds followed each other. */
export function paceOf(clock: number): string {
  return clock === 1 ? 'in real time' : `one every ${(PERIOD_SECONDS / clock).toFixed(1)} s of real time`;
}

function list(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, count]) => `${what} ${Number.isInteger(count) ? count : count.toFixed(2)}`)
    .join(', ');
}

/** All sizes side by side, each with its cost per scaler relative to the smallest one. */
export function printTable(results: readonly SizeFigures[]): void {
  const [smallest] = results;
  if (smallest === undefined) return;
  console.log(
    `\n${'scalers'.padEnd(52)}${results.map(({ size }) => `${size.scalers}`.padStart(20)).join('')}`,
  );
  for (const row of ROWS) {
    const cells = results.map((figures) => {
      const growth =
        row.grows && figures !== smallest ? ` (x${growthOf(row, figures, smallest).toFixed(2)})` : '';
      return `${row.format(row.value(figures))}${growth}`.padStart(20);
    });
    console.log(`${row.name.padEnd(52)}${cells.join('')}`);
  }
}
