import type { CommandIo } from '../output/io.js';
import { nameProgram } from '../output/lines.js';
import type { Paint } from '../output/paint.js';
import type { CheckResult, CheckStatus } from './check-result.js';
import { countOf } from '../../units/format.js';
import { groupBy } from '../../units/maps.js';

export interface DoctorReport {
  readonly status: 'ok' | 'failed';
  readonly ok: number;
  readonly warnings: number;
  readonly failed: number;
  readonly skipped: number;
  readonly results: readonly CheckResult[];
}

/** Returns the results and their counts. Commands in the results start the program as the user did. */
export function makeReport(found: readonly CheckResult[], io: Pick<CommandIo, 'command'>): DoctorReport {
  const results = found.map((result): CheckResult => ({
    ...result,
    message: nameProgram(result.message, io),
    fix: result.fix === null ? null : nameProgram(result.fix, io),
  }));
  const count = (status: CheckStatus): number => results.filter((one) => one.status === status).length;
  const failed = count('failed');
  return {
    status: failed > 0 ? 'failed' : 'ok',
    ok: count('ok'),
    warnings: count('warning'),
    failed,
    skipped: count('skipped'),
    results,
  };
}

/** Number of healthy scalers that are listed by name. The others are only counted. */
const MAX_HEALTHY = 20;

/**
 * Returns a line for each subject with its passed checks, a line for each failure or warning followed by its fix, and
 * the counts. The counts equal the number of lines that start with `failed` and `warning`.
 */
export function writeReport(report: DoctorReport, paint: Paint): string {
  const line = `checks: ${writeCounts(report)}`;
  return `${[...writeResults(report, paint), '', report.failed > 0 ? paint.red(line) : line].join('\n')}\n`;
}

/** Returns the lines of `writeReport` without the counts. */
export function writeResults(report: DoctorReport, paint: Paint): readonly string[] {
  const bySubject = groupBy(report.results, ({ subject }) => subject);
  const isHealthy = (results: readonly CheckResult[]): boolean =>
    results.every(({ status }) => status === 'ok');
  const healthy = [...bySubject].filter(([subject, results]) => subject.includes('/') && isHealthy(results));
  const omitted = new Set(healthy.slice(MAX_HEALTHY).map(([subject]) => subject));
  return [
    ...[...bySubject]
      .filter(([subject]) => !omitted.has(subject))
      .flatMap(([subject, results]) => writeSubject(subject, results, paint)),
    ...(omitted.size === 0 ? [] : [`${label('ok', paint)} ${countOf(omitted.size, 'more scaler')}`]),
  ];
}

function writeSubject(subject: string, results: readonly CheckResult[], paint: Paint): readonly string[] {
  const title = paint.bold(subject);
  const passed = results.filter(({ status }) => status === 'ok');
  const isHealthy = passed.length === results.length;
  // If another check of the subject failed, the name of the passed check is needed to understand its message.
  const facts = passed.flatMap(({ check, message }) =>
    message === '' ? [] : [isHealthy || check === 'config' ? message : `${check}: ${message}`],
  );
  return [
    ...(isHealthy || facts.length > 0
      ? [`${label('ok', paint)} ${title}${facts.length === 0 ? '' : `: ${facts.join('; ')}`}`]
      : []),
    ...results.flatMap((result) => writeProblem(result, title, paint)),
    ...writeSkipped(results, title, paint),
  ];
}

function writeProblem(
  { check, status, message, fix }: CheckResult,
  title: string,
  paint: Paint,
): readonly string[] {
  if (status !== 'failed' && status !== 'warning') return [];
  // The name is omitted for the check `config`, because its subject is called `config` as well.
  const name = check === 'config' ? title : `${title}: ${paint[COLORS[status]](check)}`;
  return [
    `${label(status, paint)} ${name}: ${message}`,
    ...(fix === null ? [] : [`${INDENT}${paint.cyan('fix:')} ${fix}`]),
  ];
}

const INDENT = ' '.repeat(12);

function writeSkipped(results: readonly CheckResult[], title: string, paint: Paint): readonly string[] {
  const skipped = results.filter(({ status }) => status === 'skipped');
  return [...groupBy(skipped, ({ message }) => message)].map(([why, same]) => {
    const checks = new Set(same.map(({ check }) => check));
    return `${label('skipped', paint)} ${title}: ${[...checks].join(', ')}: ${why}`;
  });
}

function label(status: CheckStatus, paint: Paint): string {
  return paint[COLORS[status]](status.padEnd(9));
}

const COLORS = { ok: 'green', warning: 'yellow', failed: 'red', skipped: 'dim' } as const;

/** Returns for example `5 ok, 0 warnings, 1 failed`. */
export function writeCounts({ ok, warnings, failed, skipped }: DoctorReport): string {
  const parts = [`${ok} ok`, countOf(warnings, 'warning'), `${failed} failed`];
  return [...parts, ...(skipped === 0 ? [] : [`${skipped} skipped`])].join(', ');
}
