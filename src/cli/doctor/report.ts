import type { Paint } from '../paint.js';
import type { Finding, FindingStatus } from './finding.js';

/** What `-o json` prints. */
export interface DoctorReport {
  /** `failed` where one finding is. */
  readonly status: 'ok' | 'failed';
  readonly ok: number;
  readonly warnings: number;
  readonly failed: number;
  readonly skipped: number;
  readonly findings: readonly Finding[];
}

/** Counts findings. */
export function makeReport(findings: readonly Finding[]): DoctorReport {
  const count = (status: FindingStatus): number => findings.filter((one) => one.status === status).length;
  const failed = count('failed');
  return {
    status: failed > 0 ? 'failed' : 'ok',
    ok: count('ok'),
    warnings: count('warning'),
    failed,
    skipped: count('skipped'),
    findings,
  };
}

/** Scalers in which all is well that get a line of their own. */
const MAX_WELL = 20;

/**
 * The report as text: a line for what is well of each subject, one for each failure and warning with the line that
 * mends it, and the counts at the end. As many lines begin with `warning` and `failed` as are counted.
 */
export function writeReport(report: DoctorReport, paint: Paint): string {
  const bySubject = new Map<string, Finding[]>();
  for (const finding of report.findings) {
    const group = bySubject.get(finding.subject);
    if (group === undefined) bySubject.set(finding.subject, [finding]);
    else group.push(finding);
  }
  const isWell = (findings: readonly Finding[]): boolean => findings.every(({ status }) => status === 'ok');
  const well = [...bySubject].filter(([subject, findings]) => subject.includes('/') && isWell(findings));
  const untold = new Set(well.slice(MAX_WELL).map(([subject]) => subject));
  const lines = [
    ...[...bySubject]
      .filter(([subject]) => !untold.has(subject))
      .flatMap(([subject, findings]) => writeSubject(subject, findings, paint)),
    ...(untold.size === 0 ? [] : [`${label('ok', paint)} ${untold.size} more scalers`]),
  ];
  return `${[...lines, '', writeCounts(report, paint)].join('\n')}\n`;
}

function writeSubject(subject: string, findings: readonly Finding[], paint: Paint): readonly string[] {
  const title = paint.bold(subject);
  const well = findings.filter(({ status }) => status === 'ok');
  const facts = well.flatMap(({ message }) => (message === '' ? [] : [message]));
  const isWell = well.length === findings.length;
  return [
    ...(isWell || facts.length > 0
      ? [`${label('ok', paint)} ${title}${facts.length === 0 ? '' : `: ${facts.join('; ')}`}`]
      : []),
    ...findings.flatMap((finding) => writeProblem(finding, title, paint)),
    ...writeSkipped(findings, title, paint),
  ];
}

function writeProblem(
  { check, status, message, mend }: Finding,
  title: string,
  paint: Paint,
): readonly string[] {
  if (status !== 'failed' && status !== 'warning') return [];
  const mark = status === 'failed' ? paint.red(check) : paint.yellow(check);
  // What the config itself says needs no second name.
  const name = check === 'config' ? title : `${title}: ${mark}`;
  return [
    `${label(status, paint)} ${name}: ${message}`,
    ...(mend === null ? [] : [`${INDENT}${paint.cyan('mend:')} ${mend}`]),
  ];
}

const INDENT = ' '.repeat(12);

/** Those that share a reason on one line. */
function writeSkipped(findings: readonly Finding[], title: string, paint: Paint): readonly string[] {
  const byReason = new Map<string, string[]>();
  for (const { status, check, message } of findings) {
    if (status !== 'skipped') continue;
    byReason.set(message, [...(byReason.get(message) ?? []), check]);
  }
  return [...byReason].map(
    ([why, checks]) => `${label('skipped', paint)} ${title}: ${[...new Set(checks)].join(', ')}: ${why}`,
  );
}

function label(status: FindingStatus, paint: Paint): string {
  const text = status.padEnd(9);
  switch (status) {
    case 'ok':
      return paint.green(text);
    case 'warning':
      return paint.yellow(text);
    case 'failed':
      return paint.red(text);
    case 'skipped':
      return paint.dim(text);
    default:
      return status satisfies never;
  }
}

function writeCounts({ ok, warnings, failed, skipped }: DoctorReport, paint: Paint): string {
  const parts = [`${ok} ok`, `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`, `${failed} failed`];
  const line = `checks: ${[...parts, ...(skipped === 0 ? [] : [`${skipped} skipped`])].join(', ')}`;
  return failed > 0 ? paint.red(line) : line;
}
