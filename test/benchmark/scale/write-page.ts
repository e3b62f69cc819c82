import { writeFileSync } from 'node:fs';
import { describeMachine } from '../report.js';
import { growthOf, ROWS } from './rows.js';
import type { SizeFigures } from './run-size.js';

/** Rewrites `docs/benchmarks.md` from the results of one run. */
export function writePage(
  file: string,
  results: readonly SizeFigures[],
  run: { readonly version: string; readonly rounds: number; readonly pace: string },
): void {
  const [smallest] = results;
  if (smallest === undefined) return;
  const heads = results.map(({ size }) => `${size.scalers.toLocaleString('en-US')} scalers`);
  const rows = ROWS.map((row) => {
    const cells = results.map((figures) => {
      const growth =
        row.grows && figures !== smallest ? ` (x${growthOf(row, figures, smallest).toFixed(2)})` : '';
      return `${row.format(row.value(figures))}${growth}`;
    });
    return `| ${[row.name, ...cells].join(' | ')} |`;
  });
  const faults = results.flatMap(({ size, faults: found }) =>
    found.map((fault) => `- ${size.scalers} scalers: ${fault}`),
  );
  const lines = [
    '# Benchmarks',
    '',
    'What promscaler costs at different sizes. `npm run bench -- scale --write` measures it and writes this page;',
    '[the README of the benchmark](../test/benchmark/README.md#scale) explains each figure.',
    '',
    `- Machine: ${describeMachine({ promscaler: run.version })}`,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Scalers: half with CPU utilization, a quarter with a Pods query of their own, a quarter with \`selector\` on a query`,
    `  of their namespace; ${smallest.size.pods} pods each, 100 scalers in a namespace, a period of 15 s`,
    `- Run: ${run.rounds} rounds, ${run.pace}`,
    '',
    'In parentheses: the cost per scaler relative to the smallest size; 1 is linear.',
    '',
    `| figure | ${heads.join(' | ')} |`,
    `| --- |${heads.map(() => ' --- |').join('')}`,
    ...rows,
    ...(faults.length === 0 ? [] : ['', 'This run is not valid:', '', ...faults]),
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
}
