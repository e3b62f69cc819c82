import { chartLines } from '../../backtest/report/chart.js';
import { type Report, reportToJson } from '../../backtest/report/report.js';
import type { CommandIo } from '../process/io.js';
import { alignColumns, lineLimit } from '../output/align-columns.js';
import { noteLines, recommendationLines, tableRows } from './text/report-lines.js';

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
      stdout.write(`${textLines(report, lineLimit(io) ?? DEFAULT_WIDTH).join('\n')}\n`);
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
