import pc from 'picocolors';
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

type Paint = ReturnType<typeof pc.createColors>;

/**
 * The report as text: a line for each subject in which all is well, and for the others what is wrong and the line that
 * mends it; the counts at the end.
 */
export function writeReport(report: DoctorReport, options: { readonly isColored: boolean }): string {
  const paint = pc.createColors(options.isColored);
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
  const facts = findings.filter(({ status, message }) => status === 'ok' && message !== '');
  const said = facts.map(({ message }) => message);
  const head = (status: FindingStatus): string => `${label(status, paint)} ${paint.bold(subject)}`;
  const worst = (['failed', 'warning', 'skipped', 'ok'] as const).find((status) =>
    findings.some((one) => one.status === status),
  );
  const title = `${head(worst === undefined || worst === 'skipped' ? 'ok' : worst)}${said.length === 0 ? '' : `: ${said.join('; ')}`}`;
  return [
    title,
    ...findings.flatMap((finding) => writeDetail(finding, paint)),
    ...writeSkipped(findings, paint),
  ];
}

function writeDetail({ check, status, message, mend }: Finding, paint: Paint): readonly string[] {
  if (status !== 'failed' && status !== 'warning') return [];
  const mark = status === 'failed' ? paint.red(check) : paint.yellow(check);
  return [
    `${INDENT}${mark}: ${message}`,
    ...(mend === null ? [] : [`${INDENT}  ${paint.cyan('mend:')} ${mend}`]),
  ];
}

const INDENT = '          ';

/** Those that share a reason on one line. */
function writeSkipped(findings: readonly Finding[], paint: Paint): readonly string[] {
  const byReason = new Map<string, string[]>();
  for (const { status, check, message } of findings) {
    if (status !== 'skipped') continue;
    byReason.set(message, [...(byReason.get(message) ?? []), check]);
  }
  return [...byReason].map(([why, checks]) =>
    paint.dim(`${INDENT}skipped ${[...new Set(checks)].join(', ')}: ${why}`),
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
