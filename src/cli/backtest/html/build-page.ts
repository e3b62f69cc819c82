import { paretoFront } from '../../../backtest/compare/pareto.js';
import type { Result, Variant } from '../../../backtest/compare/variant.js';
import type { Run } from '../../../backtest/simulation/run-variant.js';
import { RAN } from '../../../backtest/history/recorded-run.js';
import { createBand } from '../../../backtest/report/band.js';
import type { PageChange, PageData, PageRun } from '../../../backtest/report/page-data.js';
import type { Report } from '../../../backtest/report/report.js';
import { secondsBetween } from '../../../units/time.js';
import { VERSION } from '../../version/version.js';
import { noteLines, recommendationLines, tableRows } from '../text/report-lines.js';
import type { Scene } from '../scene/scene.js';
import { createExplanations, type Explanations } from './explanations.js';
import { traceRun } from './trace-run.js';

/** Characters of explanations, so that the file stays below 5 MB. */
const MOST_CHARACTERS = 2_500_000;
/** Points of replicas and changes of all variants. */
const MOST_POINTS = 60_000;

/** `variants`: the documents that are run again for their metrics and explanations. */
export function buildPage(report: Report, variants: readonly Variant[], scene: Scene): PageData {
  const { scoring, assumptions } = report;
  const { start, end } = scoring.demand;
  const explanations = createExplanations(MOST_CHARACTERS);
  const thinned: string[] = [];
  const runs = runsOf(report, { variants, scene, explanations, thinned });
  if (explanations.leftOut() > 0)
    thinned.push(`${explanations.leftOut()} changes have no explanation, to bound the size of the file`);
  return {
    version: VERSION,
    from: start / 1000,
    seconds: secondsBetween(start, end),
    table: tableOf(report),
    notes: [...noteLines(report).filter((line) => line !== ''), ...thinned],
    recommendation: recommendationLines(report, '  ').slice(1),
    assumptions,
    demand: demandOf(report),
    runs,
    lines: explanations.lines(),
  };
}

function tableOf(report: Report): PageData['table'] {
  const [[, ...columns] = [], ...rows] = tableRows(report);
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
  readonly variants: readonly Variant[];
  readonly scene: Scene;
  readonly explanations: Explanations;
  readonly thinned: string[];
}

function runsOf(report: Report, parts: Parts): readonly PageRun[] {
  const front = paretoFront(report.variants);
  const marks = report.variants.length > 2 ? front : new Set<string>();
  const shown = [...report.variants, ...report.baselines.filter(({ name }) => name === RAN)];
  let points = MOST_POINTS;
  return shown.flatMap((result): readonly PageRun[] => {
    if (result.run === null) return [];
    const name = marks.has(result.name) ? `${result.name} *` : result.name;
    points -= result.run.replicas.length + result.run.changes.length;
    if (points < 0) {
      parts.thinned.push(
        `${result.name} is not drawn, to bound the size of the file: it has too many changes`,
      );
      return [];
    }
    return [runOfResult(name, { ...result, run: result.run }, parts)];
  });
}

function runOfResult(
  name: string,
  { name: key, run }: Result & { readonly run: Run },
  { variants, scene, explanations }: Parts,
): PageRun {
  const variant = variants.find((one) => one.name === key);
  const traced = variant === undefined ? null : traceRun(variant, scene, explanations);
  return {
    name,
    replicas: run.replicas.map(({ at, count }) => [secondsBetween(run.start, at), count]),
    metrics: traced?.metrics ?? [],
    changes: traced?.changes ?? changesOf(run, explanations),
  };
}

/** Without the snapshots, there are only the reasons. */
function changesOf({ start, changes }: Run, explanations: Explanations): readonly PageChange[] {
  return changes.map(({ at, currentReplicas, desiredReplicas, reason }) => ({
    at: secondsBetween(start, at),
    from: currentReplicas,
    to: desiredReplicas,
    lines: explanations.add([reason]),
  }));
}
