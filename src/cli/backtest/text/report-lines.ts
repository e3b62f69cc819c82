import { COLUMNS, COST_COLUMN, LEGEND } from '../../../backtest/report/columns.js';
import type { Report } from '../../../backtest/report/report.js';
import { paretoFront } from '../../../backtest/compare/pareto.js';
import type { Result } from '../../../backtest/compare/variant.js';
import { changeToYaml } from './change-to-yaml.js';

/** Returns the header and a row for each run. */
export function tableRows(report: Report): readonly (readonly string[])[] {
  const { variants, baselines, scoring } = report;
  const columns = scoring.pricePerPodHour === null ? COLUMNS : [...COLUMNS, COST_COLUMN];
  const front = variants.length > 2 ? paretoFront(variants) : new Set<string>();
  const rowOf = ({ name, figures }: Result): readonly string[] | null =>
    figures === null
      ? null
      : [front.has(name) ? `${name} *` : name, ...columns.map(({ text }) => text(figures))];
  const rows = [...variants, ...baselines].map(rowOf).filter((row) => row !== null);
  return [['', ...columns.map(({ title }) => title)], ...rows];
}

/** Returns a legend and notes on rows without figures. */
export function noteLines({ variants }: Report): readonly string[] {
  const failed = variants.flatMap(({ name, error }) => (error === null ? [] : [`${name}: ${error}`]));
  const isMarked = variants.filter(({ figures }) => figures !== null).length > 2;
  const mark = isMarked ? ['* no other variant has both fewer pod-hours and less under-provisioning'] : [];
  return ['', ...LEGEND, ...mark, ...failed];
}

/** Returns the change as indented YAML. */
export function recommendationLines({ recommendation }: Report, indent: string): readonly string[] {
  if (recommendation === undefined) return [];
  const { change, reason } = recommendation;
  if (change === null) return ['', `Recommendation: keep the document as it is: ${reason}.`];
  const yaml = changeToYaml(change)
    .trimEnd()
    .split('\n')
    .map((line) => indent + line);
  return ['', `Recommendation: ${reason}. The table shows these parts. Change:`, '', ...yaml];
}
