import { type JsonObject, countIn, listIn, objectIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import { formatInstant, parseInstant } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { PastScaler } from '../reach/service-pages.js';
import { alignColumns } from '../output/align-columns.js';
import { formatAmount } from '../../units/format-amount.js';

/** Returns the period of the decision in effect at `at`, its number of repetitions, and the metric values at `at`. */
export function periodLines(at: Instant, { entry, history }: PastScaler): readonly string[] {
  const [firstAt, lastAt] = [textIn(entry, 'firstAt') ?? '', textIn(entry, 'lastAt') ?? ''];
  const count = countIn(entry, 'count') ?? 1;
  const head = `In effect at ${formatInstant(at)}: `;
  if (count === 1) return [`${head}decided at ${lastAt}, once`];
  const last = parseInstant(lastAt);
  const isLater = last !== null && last > at;
  return [
    `${head}the same decision ${count} times, from ${firstAt} to ${lastAt}`,
    ...(isLater ? readingLines(at, history) : []),
    `Below: the last of them${isLater ? ', the only one with a snapshot' : ''}`,
  ];
}

/** Returns the values of the last point at or before `at`; empty if the history starts later. */
function readingLines(at: Instant, history: JsonObject | null): readonly string[] {
  const times = listIn(history, 'at').map((time) => (typeof time === 'string' ? parseInstant(time) : null));
  const index = times.findLastIndex((time) => time !== null && time <= at);
  const time = times[index] ?? null;
  if (time === null) return [];
  const texts = objectsIn(history, 'metrics').map((metric) => readingOf(metric, index));
  return texts.length === 0 ? [] : [`Metrics at that time: ${texts.join(', ')}`];
}

function readingOf(metric: JsonObject, index: number): string {
  const name = textIn(metric, 'metric') ?? '';
  const isPercent = textIn(metric, 'unit') === 'percent';
  const write = (column: string): string => {
    const value = listIn(metric, column)[index];
    if (typeof value !== 'number') return 'no value';
    return isPercent ? `${value} %` : formatAmount(value, name.slice(name.lastIndexOf('/') + 1));
  };
  return `${name} ${write('value')} (target ${write('target')})`;
}

/** For a decision without a snapshot; `missing` is the reason. */
export function entryLines(name: string, { entry, missing }: PastScaler): readonly string[] {
  const decision = objectIn(entry, 'decision');
  const conditions = alignColumns(
    objectsIn(entry, 'conditions').map((condition) => [
      `  ${textIn(condition, 'type') ?? ''}`,
      textIn(condition, 'status') ?? '',
      [textIn(condition, 'reason'), textIn(condition, 'message')].filter((text) => text).join(': '),
    ]),
  );
  if (decision === null)
    return [`${name}  no decision: the target could not be read`, '', 'Conditions', ...conditions];
  const [from, to] = [countIn(decision, 'currentReplicas'), countIn(decision, 'desiredReplicas')];
  const limits = objectsIn(decision, 'limits').map((limit) => [
    `  ${textIn(limit, 'limit') ?? ''}`,
    `${countIn(limit, 'from') ?? ''} -> ${countIn(limit, 'to') ?? ''}`,
    textIn(limit, 'reason') ?? '',
  ]);
  return [
    `${name}  ${from === to ? `stays at ${from ?? ''}` : `${from ?? ''} -> ${to ?? ''}`}`,
    textIn(decision, 'reason') ?? '',
    ...(limits.length === 0 ? [] : ['', 'Limits', ...alignColumns(limits)]),
    '',
    'Conditions',
    ...conditions,
    '',
    `Metrics and pods are not available: ${missing ?? 'the decision has no snapshot'}`,
  ];
}
