import { stringify } from 'yaml';
import { paretoFront, type Result } from '../../backtest/compare/variant.js';
import { type Demand, type Figures, type Scoring, stepMeans } from '../../backtest/compare/figures.js';
import { formatNumber } from '../../units/format.js';
import { alignColumns, lineLimit, localTimes } from '../output/lines.js';
import type { CommandIo } from '../output/io.js';
import type { Run } from '../../backtest/simulation/run-variant.js';
import { formatInstant } from '../../units/time.js';
import { FIGURE_NAMES, QUEUE_FIGURE_NAMES, readFigure } from '../../backtest/compare/threshold.js';
import type { Recommendation } from '../../backtest/compare/recommend.js';
import { RAN } from '../../backtest/history/columns.js';

export const FORMATS = ['text', 'json', 'markdown'] as const;
export type Format = (typeof FORMATS)[number];

export function writeReport(report: Report, format: Format, io: CommandIo): void {
  io.stdout.write(`${reportText(report, format, io)}\n`);
}

function reportText(report: Report, format: Format, io: CommandIo): string {
  switch (format) {
    case 'json':
      return JSON.stringify(reportToJson(report), null, 2);
    case 'markdown':
      return markdownLines(report).join('\n');
    default:
      return localTimes(textLines(report, lineLimit(io) ?? DEFAULT_WIDTH).join('\n'));
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
  const nameOf = markedNames(report);
  const rows = [...variants, ...baselines].flatMap(({ name, figures }) =>
    figures === null ? [] : [[nameOf(name), ...columns.map(({ text }) => text(figures))]],
  );
  return [['', ...columns.map(({ title }) => title)], ...rows];
}

/** Returns a function that adds a mark to the name of a variant on the Pareto front. Two variants have no marks. */
export function markedNames({ variants }: Report): (name: string) => string {
  const front = variants.length > 2 ? paretoFront(variants) : new Set<string>();
  return (name) => (front.has(name) ? `${name} *` : name);
}

/** Returns the legend, and notes about the rows that have no figures. */
export function noteLines({ variants, scoring }: Report): readonly string[] {
  const failed = variants.flatMap(({ name, error }) => (error === null ? [] : [`${name}: ${error}`]));
  const isMarked = variants.filter(({ figures }) => figures !== null).length > 2;
  const mark = isMarked ? ['* no other variant has both fewer pod-hours and less under-provisioning'] : [];
  const queue = scoring.queue === null ? [] : [QUEUE_LEGEND];
  return ['', ...LEGEND, ...queue, ...mark, ...failed, ...maximumLines(variants[0], scoring)];
}

/** Returns a note if the document was mostly at its maximum: its figures say little about its other settings. */
function maximumLines(document: Result | undefined, { demand, capacity }: Scoring): readonly string[] {
  if (document === undefined || document.figures === null) return [];
  const { name, figures } = document;
  const needed = demand.pods.reduce((most, pods) => Math.max(most, pods), 0);
  if (figures.atMaximum < LONG_AT_MAXIMUM || needed <= figures.peakPods) return [];
  const share = figures.atMaximum.toFixed(0);
  return [
    `${name} is at its maximum of ${figures.peakPods} pods for ${share} % of the time, but the load needs up to ${needed}: raise maxReplicas, or check the unit of the capacity (${formatNumber(capacity)})`,
  ];
}

/** If the document is at its maximum for at least this percentage of the time, the note is printed. */
const LONG_AT_MAXIMUM = 50;

/** Returns the recommended change as indented YAML. */
export function recommendationLines({ recommendation }: Report, indent: string): readonly string[] {
  if (recommendation === undefined) return [];
  const { change, reason } = recommendation;
  if (change === null) return ['', `Recommendation: keep the document as it is: ${reason}.`];
  const yaml = changeToYaml(change)
    .trimEnd()
    .split('\n')
    .map((line) => indent + line);
  return [
    '',
    `Recommendation: ${reason}. The table covers only the parts of the load that are used to score a change. Change:`,
    '',
    ...yaml,
  ];
}

/** Returns the changed fields of `spec`. A list contains only its changed items, with a comment about their indexes. */
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
      comments.push(`# metrics has only the changed field of metrics[${index}]`);
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

interface Column {
  readonly title: string;
  readonly text: (figures: Figures) => string;
}

/** The columns of the table, which are the same in the terminal and in Markdown. */
const COLUMNS: readonly Column[] = [
  { title: 'theta_U %', text: ({ thetaU }) => thetaU.toFixed(2) },
  { title: 'theta_O %', text: ({ thetaO }) => thetaO.toFixed(1) },
  { title: 'tau_U %', text: ({ tauU }) => tauU.toFixed(2) },
  { title: 'tau_O %', text: ({ tauO }) => tauO.toFixed(1) },
  { title: 'unserved %', text: ({ unserved }) => unserved.toFixed(2) },
  { title: 'instability %', text: ({ instability }) => instability.toFixed(1) },
  { title: 'average pods', text: ({ averagePods }) => averagePods.toFixed(2) },
  { title: 'peak', text: ({ peakPods }) => String(peakPods) },
  { title: 'pod-hours', text: ({ podHours }) => podHours.toFixed(podHours < 1 ? 2 : 1) },
  { title: 'changes', text: ({ changes }) => String(changes) },
  { title: 'flaps', text: ({ flaps }) => String(flaps) },
  { title: 'at maximum %', text: ({ atMaximum }) => atMaximum.toFixed(1) },
];

/** Explains the columns to readers who do not know the guide on back-tests. */
const LEGEND: readonly string[] = [
  'theta_U, theta_O: missing and surplus pods, in percent of the pods that the load needed.',
  'tau_U, tau_O: time with too few and with too many pods, in percent. unserved: load that the ready pods could not carry.',
  'instability: periods in which demand and replicas did not change in the same direction, in percent. flaps: changes that reverse the previous one within 10 minutes.',
  'The variants "static fleet at the peak demand" and "ideal follower" know the load in advance and have no reserve.',
];

const QUEUE_COLUMNS: readonly Column[] = [
  { title: 'mean wait s', text: ({ queue }) => seconds(queue?.meanWait) },
  { title: 'p95 wait s', text: ({ queue }) => seconds(queue?.p95Wait) },
  { title: 'max wait s', text: ({ queue }) => seconds(queue?.maxWait) },
  { title: 'lost %', text: ({ queue }) => queue?.lost.toFixed(2) ?? '' },
  { title: 'peak depth', text: ({ queue }) => queue?.peakDepth.toFixed(0) ?? '' },
  { title: 'end depth', text: ({ queue }) => queue?.endDepth.toFixed(0) ?? '' },
];

const QUEUE_LEGEND =
  'wait: time that served load waited in the queue; max wait includes load that still waits at the end. lost: load that was dropped, because the queue was full or the load had waited too long.';

function seconds(value: number | undefined): string {
  return value?.toFixed(value < 100 ? 1 : 0) ?? '';
}

const COST_COLUMN: Column = {
  title: 'cost',
  text: ({ cost }) => (cost === null ? '' : cost.toFixed(2)),
};

const BLOCKS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const GAP = '·';

/**
 * Returns one character for each of at most `width` intervals: the highest value on a scale from 0 to `top`, or `GAP`.
 */
function sparkline(
  values: readonly number[],
  { width, top }: { readonly width: number; readonly top: number },
): string {
  const columns = Math.min(width, values.length);
  return Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * values.length) / columns);
    const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / columns));
    const known = values.slice(from, to).filter((value) => !Number.isNaN(value));
    if (known.length === 0) return GAP;
    const highest = known.reduce((most, value) => Math.max(most, value), 0);
    const level = top === 0 ? 0 : Math.ceil((highest / top) * (BLOCKS.length - 1));
    return BLOCKS[Math.min(level, BLOCKS.length - 1)] ?? GAP;
  }).join('');
}

/** Returns the demand and the replicas of each variant on the same scale. */
function chartLines(
  demand: Demand,
  runs: readonly { readonly name: string; readonly run: Run }[],
  width: number,
): readonly (readonly [string, string])[] {
  const series = [
    { name: 'demand', values: [...demand.pods] },
    ...runs.map(({ name, run }) => ({
      name,
      values: Array.from(stepMeans(run.replicas, demand), ({ mean }) => mean),
    })),
  ];
  const top = series
    .flatMap(({ values }) => values)
    .reduce((most, value) => (value > most ? value : most), 1);
  return series.map(({ name, values }) => [name, sparkline(values, { width, top })]);
}

export interface Report {
  readonly scoring: Scoring;
  /** The results of the variants, in the order of the command line. */
  readonly variants: readonly Result[];
  readonly baselines: readonly Result[];
  /** Sentences about values that are assumed instead of measured. */
  readonly assumptions: readonly string[];
  readonly recommendation?: RecommendedChange;
}

export type RecommendedChange = Pick<Recommendation, 'change' | 'reason' | 'saving'>;

/** Returns the report as plain JSON. Times are in RFC 3339, durations in seconds, shares in percent. */
function reportToJson({
  scoring,
  variants,
  baselines,
  assumptions,
  recommendation,
}: Report): Readonly<Record<string, unknown>> {
  const { demand } = scoring;
  const front = paretoFront(variants);
  return {
    from: formatInstant(demand.start),
    to: formatInstant(demand.end),
    demandStepSeconds: demand.stepSeconds,
    assumptions,
    ...(recommendation === undefined ? {} : { recommendation }),
    variants: variants.map((result) => ({
      ...resultToJson(result),
      ...replicasToJson(result),
      onParetoFront: front.has(result.name),
    })),
    baselines: baselines.map((result) => ({
      ...resultToJson(result),
      ...(result.name === RAN ? replicasToJson(result) : {}),
    })),
  };
}

function replicasToJson({ run }: Result): Readonly<Record<string, unknown>> {
  return run === null
    ? {}
    : { replicas: run.replicas.map(({ at, count }) => ({ at: formatInstant(at), count })) };
}

function resultToJson({ name, run, figures, error }: Result): Readonly<Record<string, unknown>> {
  if (figures === null) return { name, error };
  return {
    name,
    figures: {
      ...Object.fromEntries(
        FIGURE_NAMES.filter((figure) => figures.queue !== null || !QUEUE_FIGURE_NAMES.includes(figure)).map(
          (figure) => [figure, readFigure(figure, figures)],
        ),
      ),
      by_limit: figures.byLimit,
    },
    changes: run.changes.map(({ at, currentReplicas, desiredReplicas, reason }) => ({
      at: formatInstant(at),
      from: currentReplicas,
      to: desiredReplicas,
      reason,
    })),
  };
}
