import { type JsonObject, countIn, listIn, objectIn, objectsIn, textIn } from '../../kubernetes/json.js';
import { formatInstant, parseInstant } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { PastScaler } from '../reach/service-pages.js';
import { alignColumns, formatAmount } from './words.js';

/** Which decision was in force at `at`, since when and how often, and what the metrics read then. */
export function momentLines(at: Instant, { entry, history }: PastScaler): readonly string[] {
  const [firstAt, lastAt] = [textIn(entry, 'firstAt') ?? '', textIn(entry, 'lastAt') ?? ''];
  const count = countIn(entry, 'count') ?? 1;
  const head = `In force at ${formatInstant(at)}: `;
  if (count === 1) return [`${head}decided at ${lastAt}, once`];
  const last = parseInstant(lastAt);
  const isLater = last !== null && last > at;
  return [
    `${head}the same since ${firstAt}, ${count} times, the last at ${lastAt}`,
    ...(isLater ? readingLines(at, history) : []),
    `Below: the last of them${isLater ? ', which is the one that is kept whole' : ''}`,
  ];
}

/** The values of the last point by then; nothing where the history does not reach back so far. */
function readingLines(at: Instant, history: JsonObject | null): readonly string[] {
  const times = listIn(history, 'at').map((time) => (typeof time === 'string' ? parseInstant(time) : null));
  const index = times.findLastIndex((time) => time !== null && time <= at);
  const time = times[index] ?? null;
  if (time === null) return [];
  const texts = objectsIn(history, 'metrics').map((metric) => readingOf(metric, index));
  return texts.length === 0 ? [] : [`It read then: ${texts.join(', ')}`];
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

/** What a decision without its snapshot still tells; `missing` says why there is none. */
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
    return [`${name}  the target could not be read: nothing was decided`, '', 'Conditions', ...conditions];
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
    `No more is known: ${missing ?? 'there is no snapshot of it'}`,
  ];
}
