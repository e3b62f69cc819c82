import { stringify } from 'yaml';
import { paretoFront, type Result } from '../../backtest/compare/variant.js';
import {
  chartLines,
  COLUMNS,
  COST_COLUMN,
  LEGEND,
  QUEUE_COLUMNS,
  QUEUE_LEGEND,
} from '../../backtest/report/columns.js';
import { type Report, reportToJson, type RecommendedChange } from '../../backtest/report/report.js';
import type { Scoring } from '../../backtest/compare/figures.js';
import { formatNumber } from '../../units/format.js';
import { alignColumns, lineLimit, localTimes } from '../output/lines.js';
import type { CommandIo } from '../output/io.js';

export const FORMATS = ['text', 'json', 'markdown'] as const;
export type Format = (typeof FORMATS)[number];

export function writeReport(report: Report, format: Format, io: CommandIo): void {
  const { stdout } = io;
  switch (format) {
    case 'json': {
      stdout.write(`${JSON.stringify(reportToJson(report), null, 2)}\n`);
      return;
    }
    case 'markdown': {
      stdout.write(`${markdownLines(report).join('\n')}\n`);
      return;
    }
    default: {
      stdout.write(`${localTimes(textLines(report, lineLimit(io) ?? DEFAULT_WIDTH).join('\n'))}\n`);
      return;
    }
  }
}

const DEFAULT_WIDTH = 100;
const MAX_CHART_LINES = 8;

function textLines(report: Report, columns: number): readonly string[] {
  const { variants, assumptions, scoring } = report;
  const table = alignColumns(tableRows(report));
  const runs = variants
    .flatMap(({ name, run }) => (run === null ? [] : [{ name, run }]))
    .slice(0, MAX_CHART_LINES);
  const nameWidth = Math.max(...runs.map(({ name }) => name.length), 'demand'.length) + 2;
  const width = Math.max(20, Math.min(columns, 200) - nameWidth);
  const chart = chartLines(scoring.demand, runs, width).map(([name, line]) => name.padEnd(nameWidth) + line);
  return [
    ...table,
    ...noteLines(report),
    ...recommendationLines(report, '  '),
    '',
    ...chart,
    '',
    'Assumptions:',
    ...assumptions.map((line) => `  ${line}`),
  ];
}

function markdownLines(report: Report): readonly string[] {
  const [header = [], ...rows] = tableRows(report).map((row) =>
    row.map((cell) => cell.replaceAll('|', '\\|')),
  );
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = header.map((_, index) => (index === 0 ? '---' : '---:'));
  return [
    line(header),
    line(rule),
    ...rows.map(line),
    ...noteLines(report),
    ...recommendationLines(report, '    '),
    '',
    ...report.assumptions.map((text) => `- ${text}`),
  ];
}

export function tableRows(report: Report): readonly (readonly string[])[] {
  const { variants, baselines, scoring } = report;
  const columns = [
    ...COLUMNS,
    ...(scoring.queue === null ? [] : QUEUE_COLUMNS),
    ...(scoring.pricePerPodHour === null ? [] : [COST_COLUMN]),
  ];
  const front = variants.length > 2 ? paretoFront(variants) : new Set<string>();
  const rowOf = ({ name, figures }: Result): readonly string[] | null =>
    figures === null
      ? null
      : [front.has(name) ? `${name} *` : name, ...columns.map(({ text }) => text(figures))];
  const rows = [...variants, ...baselines].map(rowOf).filter((row) => row !== null);
  return [['', ...columns.map(({ title }) => title)], ...rows];
}

/** Returns a legend and notes on rows without figures. */
export function noteLines({ variants, scoring }: Report): readonly string[] {
  const failed = variants.flatMap(({ name, error }) => (error === null ? [] : [`${name}: ${error}`]));
  const isMarked = variants.filter(({ figures }) => figures !== null).length > 2;
  const mark = isMarked ? ['* no other variant has both fewer pod-hours and less under-provisioning'] : [];
  const queue = scoring.queue === null ? [] : [QUEUE_LEGEND];
  return ['', ...LEGEND, ...queue, ...mark, ...failed, ...maximumLines(variants[0], scoring)];
}

/** The figures of a document that is mostly at its maximum say little about its other settings. */
function maximumLines(document: Result | undefined, { demand, capacity }: Scoring): readonly string[] {
  if (document === undefined || document.figures === null) return [];
  const { name, figures } = document;
  const needed = demand.pods.reduce((most, pods) => Math.max(most, pods), 0);
  if (figures.atMaximum < LONG_AT_MAXIMUM || needed <= figures.peakPods) return [];
  const share = figures.atMaximum.toFixed(0);
  return [
    `${name} is at its maximum of ${figures.peakPods} pods for ${share} % of the time, and the load needs up to ${needed}: raise maxReplicas, or check the unit of the capacity (${formatNumber(capacity)})`,
  ];
}

/** Percent of the time. */
const LONG_AT_MAXIMUM = 50;

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

/** Returns the changed fields below `spec`. A list shows the changed items only, with their index. */
function changeToYaml(change: NonNullable<RecommendedChange['change']>): string {
  const spec: Record<string, unknown> = {};
  const comments: string[] = [];
  for (const { field, value } of change) {
    const item = /^metrics\[(\d+)\]\.(.+)$/.exec(field);
    if (item === null) put(spec, field.split('.'), value);
    else {
      const [, index = '', rest = ''] = item;
      const metric: Record<string, unknown> = {};
      put(metric, rest.split('.'), value);
      comments.push(`# metrics: only the changed field of metrics[${index}]`);
      spec['metrics'] = [metric];
    }
  }
  return `${comments.map((line) => `${line}\n`).join('')}${stringify({ spec })}`;
}

function put(object: Record<string, unknown>, [step, ...rest]: readonly string[], value: unknown): void {
  if (step === undefined) return;
  if (rest.length === 0) {
    object[step] = value;
    return;
  }
  const inner = (object[step] ?? {}) as Record<string, unknown>;
  object[step] = inner;
  put(inner, rest, value);
}
