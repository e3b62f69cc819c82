import type { MetricView, ScalerState } from '../../api/answers.js';
import { type Instant, laterOf, parseInstant, secondsBetween } from '../../units/time.js';
import { usesOlderVersion } from '../../decision/rejection.js';
import { conditionOf } from '../../decision/result/condition.js';
import { formatAmount, formatSeconds } from '../../units/format.js';
import { cleanText } from '../../units/clean-text.js';
import { shortTimes } from '../output/lines.js';
import type { ListedScaler } from './status-list.js';

/** A cell of the table. If it is too long, the end of `head` is cut off. */
export interface Cell {
  readonly head: string;
  /** The part after `head` that is not cut, for example the value after the name of a metric. */
  readonly tail: string;
  /** Minimum number of characters of `head` that are shown before `tail`. */
  readonly leastHead: number;
  /** Replaces the whole cell if `tail` does not fit. */
  readonly least: string;
}

/** Two forms of a cell. `short` shows the first item and the number of the others. */
interface Forms {
  readonly full: Cell;
  readonly short: Cell;
}

export interface StatusRow {
  readonly namespace: string;
  readonly name: string;
  readonly target: string;
  /** The full form shows two metrics, like `kubectl get hpa`. */
  readonly metrics: Forms;
  readonly min: string;
  readonly max: string;
  readonly replicas: string;
  readonly desired: string;
  readonly state: string;
  /** How long the scaler has been in its state. */
  readonly since: string;
  readonly cause: Cell;
  readonly severity: ScalerState['severity'];
  readonly lastChange: string;
}

const UNKNOWN = '<unknown>';

/** Returns the cells for `view`. As in kubectl, an unknown value is `<unknown>`. */
export function statusRow(view: ListedScaler, now: Instant): StatusRow {
  const { namespace, name, target, state } = view;
  const lastChange = laterOf(instantOf(view.lastScaleUp), instantOf(view.lastScaleDown));
  return {
    namespace,
    name,
    target: target === undefined ? UNKNOWN : `${target.kind}/${target.name}`,
    metrics: metricsForms(view.metrics ?? []),
    min: numberText(view.minReplicas),
    max: numberText(view.maxReplicas),
    replicas: numberText(view.currentReplicas),
    desired: numberText(view.desiredReplicas),
    state: state.name,
    since: agoText(instantOf(state.since), now) ?? UNKNOWN,
    cause: withNotes(causeCell(state, now), view),
    severity: state.severity,
    lastChange: agoText(lastChange, now) ?? '<none>',
  };
}

function instantOf(time: string | null | undefined): Instant | null {
  return parseInstant(time ?? '');
}

function numberText(number: number | null | undefined): string {
  return String(number ?? UNKNOWN);
}

/** How many characters of a metric's name are always shown. */
const LEAST_METRIC = 'http...'.length;

function metricsForms(metrics: readonly MetricView[]): Forms {
  const texts = metrics.map(metricText);
  const upTo = (count: number): Cell => {
    const shown = texts.slice(0, count);
    const last = shown.at(-1);
    const head = [...shown.slice(0, -1).map(({ name, values }) => `${name}${values}`), last?.name ?? ''];
    const more = texts.length > count ? ` + ${texts.length - count} more` : '';
    return {
      head: head.join(', '),
      tail: `${last?.values ?? ''}${more}`,
      leastHead: LEAST_METRIC,
      least: (texts[0]?.values ?? '').replace(/^: | \(avg\)$/g, ''),
    };
  };
  return { full: upTo(texts.length), short: upTo(1) };
}

interface MetricText {
  readonly name: string;
  /** Value and target, such as `: 83%/60%`. */
  readonly values: string;
}

function metricText({ metric: identity, unit, value, target }: MetricView): MetricText {
  const write = (amount: number | null): string => {
    if (amount === null) return UNKNOWN;
    return unit === 'percent' ? `${amount}%` : formatAmount(amount, identity);
  };
  const average = unit === 'average' ? ' (avg)' : '';
  return { name: identity, values: `: ${write(value)}/${write(target)}${average}` };
}

/** How many characters of a cause are always shown. */
const LEAST_CAUSE = 20;

/** Returns the cause of a state. If the state has an end, the cell ends with the time that is left: `(3m40s left)`. */
function causeCell(state: ScalerState, now: Instant): Cell {
  const until = instantOf(state.until);
  const left = until === null ? 0 : secondsBetween(now, until);
  return {
    head: shortTimes(cleanText(state.cause ?? ''), now),
    tail: left >= 1 ? ` (${formatSeconds(left)} left)` : '',
    leastHead: LEAST_CAUSE,
    least: '',
  };
}

/**
 * Adds to the cause which generation the decision uses if that is not the newest one, that the forecast raises the
 * replica count, and that switching the forecast on would be useful.
 */
function withNotes(cell: Cell, view: ListedScaler): Cell {
  const { conditions = [], forecast } = view;
  const useful = conditionOf(conditions, 'ForecastUseful');
  const texts = [versionsText(view), raiseText(forecast), cleanText(useful?.message ?? '')];
  const added = texts.filter((text) => text !== '');
  if (added.length === 0) return cell;
  const before = `${cell.head}${cell.tail}`;
  return { ...cell, head: [...(before === '' ? [] : [before]), ...added].join('; '), tail: '' };
}

/** The list does not say whether the newest version is rejected: the cause does, unless it is cut off. */
function versionsText({ generation = null, newestGeneration = null }: ListedScaler): string {
  return usesOlderVersion({ generation, newestGeneration })
    ? `generation ${generation} is in effect, the newest is ${newestGeneration}`
    : '';
}

function raiseText(forecast: ListedScaler['forecast']): string {
  if (forecast === undefined) return '';
  const { mode, replicas, reactive } = forecast;
  if (replicas === null || replicas <= reactive) return '';
  return `forecast ${mode === 'Raise' ? 'raises' : 'would raise'} ${reactive} to ${replicas}`;
}

function agoText(at: Instant | null, now: Instant): string | null {
  return at === null ? null : formatSeconds(secondsBetween(at, now));
}
