import { resolve } from 'node:path';
import { parseSweep, type Sweep } from '../../backtest/compare/sweep.js';
import { parseThreshold, type Threshold } from '../../backtest/compare/threshold.js';
import { parseMeasure, positiveNumber, quote } from '../../backtest/simulation/settings.js';
import type { MetricSpec } from '../../scaler/spec.js';
import { type CommandError, usageError } from '../output/io.js';
import { DURATION_FORM, type Instant, parseDuration, parseInstant } from '../../units/time.js';
import { listSome } from '../../units/format.js';

export interface HistoryOptions {
  readonly prometheus?: string;
  readonly from?: string;
  readonly to?: string;
  readonly step?: string;
  readonly request?: string;
  readonly cache?: boolean;
  readonly history?: string;
  readonly saveHistory?: string;
}

export interface BacktestOptions extends HistoryOptions {
  readonly scaler?: string;
  readonly replay?: readonly string[];
  readonly trace?: string;
  readonly capacity?: string;
  readonly start?: string;
  readonly against?: readonly string[];
  readonly sweep?: readonly string[];
  readonly podStart?: string;
  readonly queue?: string;
  readonly metric?: readonly string[];
  readonly maxReplicasFrom?: string;
  readonly initialReplicas?: string;
  readonly usageAtCapacity: string;
  readonly price?: string;
  readonly config?: string;
  readonly failIf?: readonly string[];
  readonly recommend?: readonly string[];
  readonly html?: string;
  readonly output: string;
}

type Option = keyof BacktestOptions;

/** For each option, the options that have no effect next to it. */
const EXCLUDED: readonly (readonly [Option, readonly Option[], string])[] = [
  [
    'replay',
    [
      'scaler',
      'trace',
      'prometheus',
      'from',
      'to',
      'step',
      'history',
      'saveHistory',
      'capacity',
      'start',
      'against',
      'sweep',
      'recommend',
      'podStart',
      'queue',
      'metric',
      'maxReplicasFrom',
      'initialReplicas',
      'request',
      'price',
      'config',
      'failIf',
      'html',
    ],
    'repeats the decisions of recorded snapshots and uses no load',
  ],
  ['trace', ['prometheus', 'from', 'history'], 'is the only source of the load'],
  ['trace', ['to', 'step', 'saveHistory', 'request'], 'has no history'],
  ['history', ['prometheus', 'from', 'to', 'step', 'saveHistory'], 'already contains the time range'],
  ['history', ['start'], 'already contains the time range'],
  ['prometheus', ['start'], 'takes the start from --from'],
  ['from', ['start'], 'sets the start of the history'],
  ['recommend', ['against', 'sweep'], 'applies to one document only'],
  ['recommend', ['failIf'], 'has its own condition'],
];

/** Throws `CommandError` if options contradict each other: one of them would silently have no effect. */
export function checkOptions(options: BacktestOptions): void {
  for (const [option, others, why] of EXCLUDED) {
    if (options[option] === undefined) continue;
    const found = others.filter((other) => options[other] !== undefined);
    if (found.length > 0)
      throw usageError(`${flagOf(option)} ${why}: remove ${found.map(flagOf).join(', ')}`);
  }
}

/** Throws `CommandError` if a file would be written that is also read, or that another option writes. */
export function checkFiles(options: BacktestOptions, cwd: string): void {
  const { scaler, against = [], trace, history, config, html, saveHistory } = options;
  const documents = [scaler, ...against].map((file) => file?.split('#', 1)[0]);
  const read = [...documents, trace, history, config].flatMap((file) => (file === undefined ? [] : [file]));
  const written = [
    ['--html', html],
    ['--save-history', saveHistory],
  ] as const;
  const known = new Map(read.map((file) => [resolve(cwd, file), 'read']));
  for (const [flag, file] of written) {
    if (file === undefined) continue;
    const path = resolve(cwd, file);
    const other = known.get(path);
    if (other !== undefined)
      throw usageError(`${flag}: ${file} is also ${other}, and would be overwritten: pass another file`);
    known.set(path, 'the file of --html');
  }
}

function flagOf(option: Option): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function parseSeconds(option: string, text: string): number {
  const seconds = parseDuration(text);
  if (seconds === null) throw invalid(option, text, DURATION_FORM);
  return seconds;
}

/** Returns the parsed value of an option. Throws `CommandError` if it is a string, which says why it is invalid. */
export function accept<T extends object>(what: string, parsed: T | string): T {
  if (typeof parsed === 'string') throw usageError(`${what} ${parsed}`);
  return parsed;
}

/** Parses each `NAME=EXPRESSION`. NAME must be a metric that has a query, in one of the documents. */
export function parseMetrics(
  texts: readonly string[],
  metrics: readonly MetricSpec[],
): ReadonlyMap<string, string> {
  const measured = metrics.filter(({ type }) => type === 'Pods' || type === 'Object' || type === 'External');
  const known = new Set(measured.map(({ identity }) => identity));
  const parsed = new Map<string, string>();
  for (const text of texts) {
    // A metric without a name is identified by its query.
    const name = [...known].find((identity) => text.startsWith(`${identity}=`));
    if (name === undefined) {
      const names = listSome([...known]);
      const rule =
        known.size === 0
          ? 'no document has a metric with a query'
          : `must begin with the name of a metric (${names}), followed by =`;
      throw usageError(`--metric ${quote(text)}: ${rule}`);
    }
    const expression = text.slice(name.length + 1);
    accept(`--metric ${quote(text)}: ${name}`, parseMeasure(expression));
    if (parsed.has(name))
      throw usageError(`--metric ${quote(text)}: ${name} already has a value from another --metric`);
    parsed.set(name, expression);
  }
  return parsed;
}

export function parsePositive(option: string, text: string): number {
  const value = positiveNumber(text);
  if (value === null) throw invalid(option, text, 'a number above 0');
  return value;
}

export function parseCount(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw invalid(option, text, 'an integer, at least 0');
  return Number(text);
}

export function parseTime(option: string, text: string): Instant {
  const time = parseInstant(text);
  if (time === null) throw invalid(option, text, 'a time such as 2026-01-01T00:00:00Z');
  return time;
}

export function parseSweeps(texts: readonly string[]): readonly Sweep[] {
  return texts.map((text) => accept(`--sweep ${quote(text)}:`, parseSweep(text)));
}

export function parseThresholds(
  option: '--fail-if' | '--recommend',
  texts: readonly string[],
): readonly Threshold[] {
  const form = { allowsDocument: option === '--recommend' };
  return texts.map((text) => accept(`${option} ${quote(text)}:`, parseThreshold(text, form)));
}

function invalid(option: string, text: string, rule: string): CommandError {
  return usageError(`${option} is ${quote(text)}, must be ${rule}`);
}
