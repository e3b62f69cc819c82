import { writeMarkedSection } from '../marked-section.js';
import { growthOf, ROWS } from './rows.js';
import type { SizeFigures } from './run-size.js';

/** Writes the section of this benchmark in `docs/benchmarks.md`. */
export function writePage(
  file: string,
  results: readonly SizeFigures[],
  run: { readonly machine: string; readonly heapLimit: string },
): void {
  const [smallest] = results;
  if (smallest === undefined) return;
  const heads = results.map(
    ({ size, clock }) =>
      `${size.scalers.toLocaleString('en-US')} x ${size.pods}${clock === 1 ? ', real time' : ''}`,
  );
  const isComparable = (figures: SizeFigures): boolean =>
    figures !== smallest && figures.size.pods === smallest.size.pods && figures.clock !== 1;
  const rows = ROWS.map((row) => {
    const cells = results.map((figures) => {
      const growth =
        row.grows && isComparable(figures) ? ` (x${growthOf(row, figures, smallest).toFixed(2)})` : '';
      return `${row.format(row.value(figures))}${growth}`;
    });
    return `| ${[row.name, ...cells].join(' | ')} |`;
  });
  const rounds = results.map(({ rounds: { roundSeconds } }) => String(roundSeconds.length));
  const clocks = results.map(({ clock }) => `${(15 / clock).toFixed(1)} s`);
  const faults = results.flatMap(({ size, faults: found }) =>
    found.map((fault) => `- ${size.scalers} scalers: ${fault}`),
  );
  const lines = [
    '## Scale',
    '',
    'What promscaler costs at different sizes. `npm run bench -- scale --write` measures it and writes this section;',
    '[the README of the benchmark](../test/benchmark/README.md#scale) explains each figure.',
    '',
    `- Machine: ${run.machine}`,
    `- Date: ${distinct(results.map(({ machine }) => machine.date))}`,
    '- Columns: scalers x pods of each',
    '- Scalers: half with CPU utilization, a quarter with a Pods query of their own, a quarter with `selector` on a query',
    '  of their namespace; 100 scalers in a namespace, a sync period of 15 s',
    `- Heap: at most ${run.heapLimit} MiB, as the chart sets it for its memory limit of 1 GiB`,
    '',
    'In parentheses: the cost per scaler relative to the smallest size; 1 is linear.',
    '',
    `| figure | ${heads.join(' | ')} |`,
    `| --- |${heads.map(() => ' --- |').join('')}`,
    `| measured rounds | ${rounds.join(' | ')} |`,
    `| a round of 15 s takes, in real time | ${clocks.join(' | ')} |`,
    `| Node.js | ${results.map(({ machine }) => machine.node).join(' | ')} |`,
    `| load of the machine before the start | ${results.map(({ machine }) => machine.load.toFixed(1)).join(' | ')} |`,
    ...rows,
    ...(faults.length === 0 ? [] : ['', 'This run is not valid:', '', ...faults]),
  ];
  writeMarkedSection(file, 'scale', lines);
}

function distinct(values: readonly string[]): string {
  return Array.from(new Set(values)).toSorted().join(', ');
}
