import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { RAN } from '../../backtest/history/columns.js';
import { createBand, type PageData, type PageRun, verdictOf } from '../../backtest/page-data.js';
import { type Report, markedNames, noteLines, recommendationLines, tableRows } from './write-report.js';
import type { Change, Run } from '../../backtest/simulation/run-variant.js';
import { describeReadError } from '../../files/read-bounded.js';
import { secondsBetween } from '../../units/time.js';
import type { OutputFile } from '../output/output-file.js';
import { CommandError } from '../output/io.js';
import { VERSION } from '../output/version.js';
import { createExplanations, type Explanations, type RunTrace } from './run-job.js';
import { countOf } from '../../units/format.js';

/** Vite builds this directory from `src/dashboard/report`. */
const BUILT = '../../report-page/';

/** Writes a page that works without any other file and without a network. Throws `CommandError`. */
export async function writeHtml(file: OutputFile, data: PageData): Promise<void> {
  const [script, style] = await Promise.all(['report.js', 'report.css'].map(readBuilt));
  await file.write(pageText(data, { script: script ?? '', style: style ?? '' }));
}

async function readBuilt(name: string): Promise<string> {
  try {
    return await readFile(fileURLToPath(new URL(BUILT + name, import.meta.url)), 'utf8');
  } catch (error) {
    throw new CommandError(
      `--html: reading ${name} of promscaler: ${describeReadError(error)}. Run npm run build`,
    );
  }
}

/**
 * Returns the text of the page. Its security policy allows only its own script and style, so that nothing in the data
 * can run as code.
 */
export function pageText(
  data: PageData,
  { script, style }: { readonly script: string; readonly style: string },
): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // `<` is escaped, because in a script element nothing else could end the script.
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Back-test - promscaler</title>
<style>${style}</style>
</head>
<body>
<main id="report"></main>
<noscript>The charts and the table need JavaScript.</noscript>
<script id="data" type="application/json">${json}</script>
<script>${script}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Limits the characters of explanations, so that the file is smaller than 5 MB. */
export const MOST_CHARACTERS = 2_500_000;
/** Limits the points of the replicas and the changes of all variants together. */
const MOST_POINTS = 60_000;

/**
 * Returns the data of the page. `traces`: maps the name of a run to its metrics and explanations. For a run without a
 * trace, the page shows only the reasons.
 */
export function buildPage(report: Report, traces: ReadonlyMap<string, RunTrace>): PageData {
  const { scoring, assumptions } = report;
  const { start, end } = scoring.demand;
  const explanations = createExplanations(MOST_CHARACTERS);
  const thinned: string[] = [];
  const runs = runsOf(report, { traces, explanations, thinned });
  const leftOut = runs.flatMap(({ changes }) => changes).filter(({ lines }) => lines.length === 0).length;
  if (leftOut > 0)
    thinned.push(
      `${countOf(leftOut, 'change')} ${leftOut === 1 ? 'has' : 'have'} no explanation, because the file would be too large`,
    );
  return {
    version: VERSION,
    from: start / 1000,
    seconds: secondsBetween(start, end),
    verdict: verdictOf(report.variants),
    table: tableOf(report),
    notes: [...noteLines(report).filter((line) => line !== ''), ...thinned],
    recommendation: recommendationLines(report, '  ').slice(1),
    assumptions,
    demand: demandOf(report),
    runs,
    lines: explanations.lines(),
  };
}

/** Words for the figures, because the legend of the page does not use theta and tau. */
const WORDS: Readonly<Record<string, string>> = {
  'theta_U %': 'missing pods %',
  'theta_O %': 'surplus pods %',
  'tau_U %': 'too few, time %',
  'tau_O %': 'too many, time %',
};

function tableOf(report: Report): PageData['table'] {
  const [[, ...titles] = [], ...rows] = tableRows(report);
  const columns = titles.map((title) => WORDS[title] ?? title);
  return { columns, rows: rows.map(([name = '', ...cells]) => ({ name, cells })) };
}

function demandOf({ scoring: { load, capacity, demand } }: Report): PageData['demand'] {
  const band = createBand(demand.start, demand.end);
  load.pieces(demand.start, demand.end, (from, to, value) => {
    if (value !== null) band.add(value / capacity, from, to);
  });
  return band.finish();
}

interface Parts {
  readonly traces: ReadonlyMap<string, RunTrace>;
  readonly explanations: Explanations;
  readonly thinned: string[];
}

function runsOf(report: Report, parts: Parts): readonly PageRun[] {
  const nameOf = markedNames(report);
  const shown = [...report.variants, ...report.baselines.filter(({ name }) => name === RAN)];
  let points = MOST_POINTS;
  return shown.flatMap((result): readonly PageRun[] => {
    if (result.run === null) return [];
    points -= result.run.replicas.length + result.run.changes.length;
    if (points < 0) {
      parts.thinned.push(
        `${result.name} is not drawn, because the file would be too large: all runs together have too many changes`,
      );
      return [];
    }
    return [runOfResult(nameOf(result.name), result.run, { ...parts, trace: parts.traces.get(result.name) })];
  });
}

function runOfResult(
  name: string,
  run: Run,
  { trace, explanations }: Pick<Parts, 'explanations'> & { readonly trace: RunTrace | undefined },
): PageRun {
  return {
    name,
    replicas: run.replicas.map(({ at, count }) => [secondsBetween(run.start, at), count]),
    metrics: trace?.metrics ?? [],
    changes: run.changes.map((change, index) => ({
      at: secondsBetween(run.start, change.at),
      from: change.currentReplicas,
      to: change.desiredReplicas,
      lines: linesOf(change, trace?.explanations[index], { trace, explanations }),
    })),
  };
}

/** Returns the explanation of a change as indexes of lines. Without a trace, it consists of the reason only. */
function linesOf(
  { reason }: Change,
  indexes: readonly number[] | undefined,
  { trace, explanations }: { readonly trace: RunTrace | undefined; readonly explanations: Explanations },
): readonly number[] {
  if (trace === undefined || indexes === undefined) return explanations.add(() => [reason]);
  return indexes.length === 0 ? [] : explanations.add(() => indexes.map((line) => trace.lines[line] ?? ''));
}
