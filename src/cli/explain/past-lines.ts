import type { DecisionEntry, HistoryAnswer } from '../../api/answers.js';
import { countChange } from '../../decision/explain.js';
import { formatInstant, type Instant, parseInstant } from '../../units/time.js';
import { alignColumns } from '../output/lines.js';
import { formatAmount } from '../../units/format.js';

/** Returns the period of the decision in effect at `at`, its number of repetitions, and the metric values at `at`. */
export function periodLines(
  at: Instant,
  { firstAt, lastAt, count }: DecisionEntry,
  history: HistoryAnswer | null,
): readonly string[] {
  const head = `In effect at ${formatInstant(at)}: `;
  if (count === 1) return [`${head}decided at ${lastAt}, once`];
  const last = parseInstant(lastAt);
  const isLater = last !== null && last > at;
  return [
    `${head}the same decision ${count} times, from ${firstAt} to ${lastAt}`,
    ...(isLater && history !== null ? readingLines(at, history) : []),
    `Below: the last of them${isLater ? ', the only one with a snapshot' : ''}`,
  ];
}

/**
 * Returns the values of the last point at or before `at`; empty if the history starts later. The columns are the
 * current metrics. A point of an earlier document has no target in them.
 */
function readingLines(at: Instant, { at: times, metrics }: HistoryAnswer): readonly string[] {
  const index = times.findLastIndex((text) => {
    const time = parseInstant(text);
    return time !== null && time <= at;
  });
  if (index === -1 || metrics.length === 0) return [];
  if (metrics.some(({ target }) => (target[index] ?? null) === null))
    return ['Metrics at that time: not kept, because the metrics of the document have changed since'];
  return [`Metrics at that time: ${metrics.map((metric) => readingOf(metric, index)).join(', ')}`];
}

function readingOf({ metric, unit, value, target }: HistoryAnswer['metrics'][number], index: number): string {
  const write = (column: readonly (number | null)[]): string => {
    const number = column[index] ?? null;
    if (number === null) return 'no value';
    return unit === 'percent'
      ? `${number} %`
      : formatAmount(number, metric.slice(metric.lastIndexOf('/') + 1));
  };
  return `${metric} ${write(value)} (target ${write(target)})`;
}

/** Returns the lines of a decision without a snapshot; `missing` is the reason. */
export function entryLines(
  name: string,
  { decision, conditions }: DecisionEntry,
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
  const { currentReplicas, desiredReplicas, reason } = decision;
  const limits = decision.limits.map(({ limit, from, to, reason: why }) => [
    `  ${limit}`,
    `${from} -> ${to}`,
    why,
  ]);
  return [
    `${name}  ${countChange(currentReplicas, desiredReplicas)}`,
    reason,
    ...(limits.length === 0 ? [] : ['', 'Limits', ...alignColumns(limits)]),
    '',
    'Conditions',
    ...rows,
    '',
    `Metrics and pods are not available: ${missing ?? 'the decision has no snapshot'}`,
  ];
}
