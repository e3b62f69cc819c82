import type { Counts, FallTimes } from './judge.js';
import type { EngineResult } from './main.js';
import { type EngineName, KINDS, type Path, STABILIZATIONS, SUBJECTS, TIME_SCALE } from './plan.js';

const TITLES: Readonly<Record<EngineName, string>> = {
  prometheus: 'Prometheus',
  victoriametrics: 'VictoriaMetrics',
};

const NO_COUNTS: Counts = { rounds: 0, low: 0, prevented: 0, wrong: 0 };

export function countWrong(results: readonly EngineResult[]): number {
  return sumOf(cellsOf(results), 'wrong');
}

function cellsOf(results: readonly EngineResult[]): readonly Counts[] {
  return results
    .flatMap(({ lanes }) => lanes.flatMap(({ judged }) => judged.faults))
    .flatMap(({ counts }) => [...counts.values()]);
}

function sumOf(cells: readonly Counts[], figure: keyof Counts): number {
  return cells.reduce((sum, counts) => sum + counts[figure], 0);
}

function totalsOf(results: readonly EngineResult[]): readonly string[] {
  const cells = cellsOf(results);
  const [wrong, prevented, low, rounds] = (['wrong', 'prevented', 'low', 'rounds'] as const).map((figure) =>
    sumOf(cells, figure).toLocaleString('en-US'),
  );
  return [
    `- Wrong scale-downs: ${wrong} in ${cells.length} cells with ${rounds} rounds`,
    `- Rounds in which the value was too low: ${low}; in which it alone would have scaled down: ${prevented}`,
  ];
}

/** Returns the section of docs/benchmarks.md. */
export function sectionOf(results: readonly EngineResult[], machine: string): readonly string[] {
  return [
    '## Old data',
    '',
    'Whether samples that are late or missing scale a workload down whose load stays the same, with the built command line,',
    'a real engine and the API server of the demo. `npm run bench -- lag --write` measures it and writes this section;',
    '[the README of the benchmark](../test/benchmark/README.md#old-data) explains each figure and what is not covered.',
    '',
    `- Machine: ${machine}`,
    `- Engines: ${results.map(({ engine, version }) => `${TITLES[engine]} ${version}`).join(', ')}`,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    ...totalsOf(results),
    '',
    ...results.flatMap(linesOf),
  ];
}

const PATH_TITLES: Readonly<Record<Path, string>> = {
  scrape: 'scraped',
  agent: 'remote write',
  rule: 'recording rule',
};

function linesOf({ engine, version, lanes }: EngineResult): readonly string[] {
  return [
    `### Old data on ${TITLES[engine]} ${version}`,
    '',
    'Wrong scale-downs, rounds in which the value alone would have scaled down, rounds in which it was too low, and all',
    'rounds:',
    '',
    `| samples | fault | stabilization | ${KINDS.join(' | ')} |`,
    `| --- | --- | ---: |${KINDS.map(() => ' ---: |').join('')}`,
    ...lanes.flatMap(({ path, judged }) =>
      judged.faults.flatMap(({ name, counts }) =>
        rowsOf([path, name], (scaler) => countsText(counts.get(scaler))),
      ),
    ),
    '',
    'Time from a fall of the load to the first PATCH, and to the PATCH to the count that suits it:',
    '',
    `| samples | fall | stabilization | ${KINDS.join(' | ')} |`,
    `| --- | --- | ---: |${KINDS.map(() => ' ---: |').join('')}`,
    ...lanes.flatMap(({ path, judged }) =>
      judged.falls.flatMap(({ name, times }) =>
        rowsOf([path, name], (scaler) => fallText(times.get(scaler))),
      ),
    ),
    '',
  ];
}

/** Returns a row for each stabilization. */
function rowsOf(
  [path, name]: readonly [Path, string],
  cellOf: (scaler: string) => string,
): readonly string[] {
  return STABILIZATIONS.map((seconds) => {
    const cells = SUBJECTS.filter((subject) => subject.stabilizationSeconds === seconds).map((subject) =>
      cellOf(subject.name),
    );
    return `| ${[PATH_TITLES[path], name, `${seconds * TIME_SCALE} s`, ...cells].join(' | ')} |`;
  });
}

function countsText({ wrong, prevented, low, rounds }: Counts = NO_COUNTS): string {
  return [wrong, prevented, low, rounds].join(' / ');
}

/** As measured, without the scale. */
function fallText({ first, whole }: FallTimes = { first: null, whole: null }): string {
  return [first, whole].map((seconds) => (seconds === null ? '-' : `${seconds.toFixed(0)} s`)).join(', ');
}
