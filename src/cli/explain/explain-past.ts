import type { DecisionEntry, HistoryAnswer, SnapshotAnswer } from '../../api/answers.js';
import { formatInstant, type Instant, parseInstant } from '../../units/time.js';
import type { ReachOptions } from '../reach/find-service.js';
import { type CommandIo, CommandError, usageError } from '../output/io.js';
import { writeStructured } from '../output/output-format.js';
import { decideJson } from '../input/read-record.js';
import { readPastTime } from '../input/read-time.js';
import type { PastScaler, ScalerName } from '../reach/service-pages.js';
import { explainLines } from '../explanation/explain-lines.js';
import { alignColumns, shortTimes } from '../output/lines.js';
import { headlineOf } from '../../decision/headline.js';
import { formatAmount } from '../../units/format.js';
import { withService } from '../reach/service-client.js';

interface PastRequest extends ReachOptions {
  readonly name: ScalerName;
  /** A time in a format of `parsePastTime`. */
  readonly at: string;
  readonly format: 'text' | 'json' | 'yaml';
}

/** Explains a past decision. Throws `CommandError` if the service no longer has the decision of that time. */
export async function explainPast(request: PastRequest, io: CommandIo): Promise<string> {
  const { name, format } = request;
  const key = `${name.namespace}/${name.name}`;
  const at = parsePastTime(request.at, io.clock.now());
  const past = await withService(request, io, (client) => client.readPast(name, at));
  const { entry, snapshot, missing, history } = past;
  if (entry === null)
    throw new CommandError(
      `no decision for ${key} at ${formatInstant(at)}: the first decision that the service retains in memory is from ${past.keptFrom}`,
    );
  if (format !== 'text') return writeStructured(format, pastJson(at, past));
  const lines = snapshot === null ? entryLines(key, entry, missing) : snapshotLines(snapshot, entry, past);
  const now = io.clock.now();
  const period = shortTimes(periodLines(at, entry, history).join('\n'), now, at);
  const decidedAt = snapshot === null ? null : parseInstant(entry.lastAt);
  return `${period}\n\n${shortTimes(lines.join('\n'), now, decidedAt)}\n`;
}

/** Explains the snapshot of a past decision. Relative times refer to the time of the decision. */
function snapshotLines(
  json: SnapshotAnswer,
  entry: DecisionEntry,
  { lastScaleUp, lastScaleDown }: PastScaler,
): readonly string[] {
  const { snapshot, decision } = decideJson(json, true);
  const status = { ...entry, lastScaleUp, lastScaleDown };
  return explainLines({ snapshot, decision, status, now: snapshot.now });
}

function pastJson(at: Instant, { entry, snapshot, missing, keptFrom }: PastScaler): unknown {
  const { decision = null, ...status } = entry ?? {};
  return { at: formatInstant(at), keptFrom, decision, snapshot, missing, status };
}

/** Returns how long the decision was in effect, how often it was repeated, and the metric values at `at`. */
function periodLines(
  at: Instant,
  { firstAt, lastAt, count }: DecisionEntry,
  history: HistoryAnswer | null,
): readonly string[] {
  const head = `In effect at ${formatInstant(at)}: `;
  if (count === 1) return [`${head}decided once, at ${lastAt}`];
  const last = parseInstant(lastAt);
  const isLater = last !== null && last > at;
  return [
    `${head}the same decision ${count} times, from ${firstAt} to ${lastAt}`,
    ...(isLater && history !== null ? readingLines(at, history) : []),
    `The lines below explain the last of these decisions${isLater ? ', which is the only one with a snapshot' : ''}`,
  ];
}

/**
 * Returns the values of the last point at or before `at`; empty: the history starts later. The columns belong to the
 * current metrics, so a point of an earlier document has no target.
 */
function readingLines(at: Instant, { at: times, metrics }: HistoryAnswer): readonly string[] {
  const index = times.findLastIndex((text) => {
    const time = parseInstant(text);
    return time !== null && time <= at;
  });
  if (index === -1 || metrics.length === 0) return [];
  if (metrics.some(({ target }) => (target[index] ?? null) === null))
    return ['Metrics at that time: unknown, because the metrics of the document have changed since'];
  return [`Metrics at that time: ${metrics.map((metric) => readingOf(metric, index)).join(', ')}`];
}

function readingOf({ metric, unit, value, target }: HistoryAnswer['metrics'][number], index: number): string {
  const write = (column: readonly (number | null)[]): string => {
    const number = column[index] ?? null;
    if (number === null) return 'no value';
    return unit === 'percent' ? `${number} %` : formatAmount(number, metric);
  };
  return `${metric} ${write(value)} (target ${write(target)})`;
}

/** Returns the lines for a decision whose snapshot the service does not have. `missing`: the reason. */
function entryLines(
  name: string,
  { decision, conditions, outcome }: DecisionEntry,
  missing: string | null,
): readonly string[] {
  const rows = alignColumns(
    conditions.map(({ type, status, reason, message }) => [
      `  ${type}`,
      status,
      [reason, message].filter((text) => text !== '').join(': '),
    ]),
  );
  if (decision === null)
    return [`${name}  no decision: the target could not be read`, '', 'Conditions', ...rows];
  const { reason } = decision;
  const { change, limit } = headlineOf(decision, outcome);
  const limits = decision.limits.map(({ limit, from, to, reason: why }) => [
    `  ${limit}`,
    `${from} -> ${to}`,
    why,
  ]);
  return [
    `${name}  ${change}${limit === null ? '' : `: ${limit}`}`,
    reason,
    ...(limits.length === 0 ? [] : ['', 'Limits', ...alignColumns(limits)]),
    '',
    'Conditions',
    ...rows,
    '',
    `Metrics and pods are not available: ${missing ?? 'the decision has no snapshot'}`,
  ];
}

/** Parses the value of `--at`. Throws `CommandError` for an invalid value and for a time in the future. */
export function parsePastTime(text: string, now: Instant): Instant {
  const time = readPastTime('--at', text, now);
  if (time > now)
    throw usageError(`--at ${text} is in the future: the current time is ${formatInstant(now)}`);
  return time;
}
