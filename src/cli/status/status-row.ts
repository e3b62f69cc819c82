import {
  type JsonObject,
  countIn,
  instantIn,
  objectIn,
  objectsIn,
  textIn,
} from '../../kubernetes/api/json.js';
import { type Instant, secondsBetween } from '../../units/time.js';
import { formatAmount, formatSeconds } from '../../units/format.js';
import { cleanText } from '../../units/clean-text.js';
import { shortTimes } from '../output/lines.js';

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
  /** One of `SEVERITIES`; null: unknown. */
  readonly severity: string | null;
  readonly lastChange: string;
}

const UNKNOWN = '<unknown>';

/** Returns the cells for `view`, an item of `GET /api/v1/scalers`. As in kubectl, an unknown value is `<unknown>`. */
export function statusRow(view: JsonObject, now: Instant): StatusRow {
  const target = objectIn(view, 'target');
  const state = objectIn(view, 'state');
  const [current, desired] = [countIn(view, 'currentReplicas'), countIn(view, 'desiredReplicas')];
  return {
    namespace: textIn(view, 'namespace') ?? '',
    name: textIn(view, 'name') ?? '',
    target: target === null ? UNKNOWN : `${textIn(target, 'kind') ?? ''}/${textIn(target, 'name') ?? ''}`,
    metrics: metricsForms(objectsIn(view, 'metrics')),
    min: numberText(countIn(view, 'minReplicas')),
    max: numberText(countIn(view, 'maxReplicas')),
    replicas: numberText(current),
    desired: numberText(desired),
    state: textIn(state, 'name') ?? UNKNOWN,
    since: agoText(instantIn(state, 'since'), now) ?? UNKNOWN,
    cause: withForecast(causeCell(state, now), view),
    severity: textIn(state, 'severity'),
    lastChange: lastChangeText(view, now),
  };
}

function numberText(number: number | null): string {
  return number === null ? UNKNOWN : String(number);
}

/** How many characters of a metric's name are always shown. */
const LEAST_METRIC = 'http...'.length;

function metricsForms(metrics: readonly JsonObject[]): Forms {
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

function metricText(metric: JsonObject): MetricText {
  const identity = textIn(metric, 'metric') ?? '';
  const unit = textIn(metric, 'unit');
  const write = (value: unknown): string => {
    if (typeof value !== 'number') return UNKNOWN;
    return unit === 'percent' ? `${value}%` : formatAmount(value, identity);
  };
  const average = unit === 'average' ? ' (avg)' : '';
  return { name: identity, values: `: ${write(metric['value'])}/${write(metric['target'])}${average}` };
}

/** How many characters of a cause are always shown. */
const LEAST_CAUSE = 20;

/** Returns the cause of a state. If the state has an end, the cell ends with the time that is left: `(3m40s left)`. */
function causeCell(state: JsonObject | null, now: Instant): Cell {
  const until = instantIn(state, 'until');
  const left = until === null ? 0 : secondsBetween(now, until);
  const cause = shortTimes(cleanText(textIn(state, 'cause') ?? ''), now);
  return {
    head: cause,
    tail: left >= 1 ? ` (${formatSeconds(left)} left)` : '',
    leastHead: LEAST_CAUSE,
    least: '',
  };
}

/** Adds to the cause that the forecast raises the replica count, and that switching the forecast on would be useful. */
function withForecast(cell: Cell, view: JsonObject): Cell {
  const useful = objectsIn(view, 'conditions').find((one) => textIn(one, 'type') === 'ForecastUseful');
  const texts = [raiseText(objectIn(view, 'forecast')), cleanText(textIn(useful ?? null, 'message') ?? '')];
  const added = texts.filter((text) => text !== '');
  if (added.length === 0) return cell;
  const before = `${cell.head}${cell.tail}`;
  return { ...cell, head: [...(before === '' ? [] : [before]), ...added].join('; '), tail: '' };
}

function raiseText(forecast: JsonObject | null): string {
  const [replicas, reactive] = [countIn(forecast, 'replicas'), countIn(forecast, 'reactive')];
  if (replicas === null || reactive === null || replicas <= reactive) return '';
  const verb = textIn(forecast, 'mode') === 'Raise' ? 'raises' : 'would raise';
  return `forecast ${verb} ${reactive} to ${replicas}`;
}

function agoText(at: Instant | null, now: Instant): string | null {
  return at === null ? null : formatSeconds(secondsBetween(at, now));
}

function lastChangeText(view: JsonObject, now: Instant): string {
  const up = instantIn(view, 'lastScaleUp');
  const down = instantIn(view, 'lastScaleDown');
  const last = up === null || (down !== null && down > up) ? down : up;
  return agoText(last, now) ?? '<none>';
}
