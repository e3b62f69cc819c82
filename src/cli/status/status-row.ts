import { type JsonObject, countIn, objectIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import { secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { instantIn } from '../explain/read-status.js';
import { formatSeconds } from '../../units/format-seconds.js';
import { formatAmount } from '../../units/format-amount.js';

/** If a cell is too long, the end of its head is cut off. */
export interface Cell {
  readonly head: string;
  /** Such as the value behind the name of a metric. */
  readonly tail: string;
  /** Characters of the head that are shown with the tail. */
  readonly leastHead: number;
  /** Replaces the cell where the tail does not fit either. */
  readonly least: string;
}

/** `short` shows the first item and how many others there are. */
interface Forms {
  readonly full: Cell;
  readonly short: Cell;
}

export interface StatusRow {
  readonly namespace: string;
  readonly name: string;
  readonly target: string;
  /** Full: two metrics, like `kubectl get hpa`. */
  readonly metrics: Forms;
  readonly min: string;
  readonly max: string;
  readonly replicas: string;
  readonly desired: string;
  /** Failures, holds and limits, with the remaining time, such as `stabilization 4m10s`; `-`: none. */
  readonly state: Forms;
  readonly lastChange: string;
  /** The same with end times instead of remaining times. */
  readonly stateKey: string;
  readonly isFailing: boolean;
  readonly isChanging: boolean;
}

const UNKNOWN = '<unknown>';

/** `view` is an item of `GET /api/v1/scalers`. Unknown values are `<unknown>`, as in kubectl. */
export function statusRow(view: JsonObject, now: Instant): StatusRow {
  const target = objectIn(view, 'target');
  const states = readStates(view);
  const [current, desired] = [countIn(view, 'currentReplicas'), countIn(view, 'desiredReplicas')];
  return {
    namespace: textIn(view, 'namespace') ?? '',
    name: textIn(view, 'name') ?? '',
    target: `${textIn(target, 'kind') ?? ''}/${textIn(target, 'name') ?? ''}`,
    metrics: metricsForms(objectsIn(view, 'metrics')),
    min: numberText(countIn(view, 'minReplicas')),
    max: numberText(countIn(view, 'maxReplicas')),
    replicas: numberText(current),
    desired: numberText(desired),
    state: stateForms(states, now),
    lastChange: lastChangeText(view, now),
    stateKey: states.map(({ what, until }) => `${what} ${until ?? ''}`).join(', '),
    isFailing: failingConditions(view).length > 0,
    isChanging: current !== desired,
  };
}

function numberText(number: number | null): string {
  return number === null ? UNKNOWN : String(number);
}

/** Characters of the name of a metric that are always shown. */
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
  const name = identity.slice(identity.lastIndexOf('/') + 1);
  const write = (value: unknown): string => {
    if (typeof value !== 'number') return UNKNOWN;
    return unit === 'percent' ? `${value}%` : formatAmount(value, name);
  };
  const average = unit === 'average' ? ' (avg)' : '';
  return { name: identity, values: `: ${write(metric['value'])}/${write(metric['target'])}${average}` };
}

const LEAST_STATE = 'FailedG...'.length;

function stateForms(states: readonly State[], now: Instant): Forms {
  const [first] = states;
  const text = states.map((state) => stateText(state, now)).join(', ');
  const more = states.length > 1 ? ` +${states.length - 1}` : '';
  const time = first === undefined ? '' : stateText(first, now).slice(first.what.length);
  const least = first?.what ?? '-';
  const shared = {
    leastHead: LEAST_STATE,
    least: least.length <= LEAST_STATE ? least : `${least.slice(0, LEAST_STATE - 3)}...`,
  };
  return {
    full: { ...shared, head: text === '' ? '-' : text, tail: '' },
    short: { ...shared, head: first?.what ?? '-', tail: `${time}${more}` },
  };
}

interface State {
  readonly what: string;
  readonly until: Instant | null;
}

/** Order: failures, reasons that prevent the patch, limits in the order applied. */
function readStates(view: JsonObject): readonly State[] {
  const held = objectsIn(view, 'conditions').filter(
    (condition) => textIn(condition, 'type') === 'Held' && textIn(condition, 'status') === 'True',
  );
  return [
    ...[...failingConditions(view), ...shortfalls(view)].map((condition) => ({
      what: textIn(condition, 'reason') ?? '',
      until: null,
    })),
    ...held.map((condition) => heldBy(textIn(condition, 'reason') ?? '', view)),
    ...(objectIn(view, 'conflictingWriter') === null ? [] : [{ what: 'ConflictingWriter', until: null }]),
    ...objectsIn(view, 'limits').map((limit) => ({
      what: textIn(limit, 'limit') ?? '',
      until: instantIn(limit, 'until'),
    })),
  ];
}

/** Returns `Paused`, `Paused scale-up` or `Paused at 3` with its end. Other reasons are unchanged. */
function heldBy(reason: string, view: JsonObject): State {
  const pause = objectIn(view, 'pause');
  if (reason !== 'Paused' || pause === null)
    return { what: `${reason}${shadowText(view, reason)}`, until: null };
  const [direction, replicas] = [textIn(pause, 'direction'), countIn(pause, 'replicas')];
  const what = [
    reason,
    ...(direction === null || direction === 'both' ? [] : [direction]),
    ...(replicas === null ? [] : [`at ${replicas}`]),
  ].join(' ');
  return { what, until: instantIn(pause, 'until') };
}

/** Returns the difference to the HPA of the same target in a dry run, such as ` +2 to HPA`. */
function shadowText(view: JsonObject, reason: string): string {
  const difference = objectIn(view, 'shadow')?.['difference'];
  if (typeof difference !== 'number' || reason !== 'DryRun') return '';
  return ` ${difference > 0 ? '+' : ''}${difference} to HPA`;
}

/** Returns conditions TargetReached that are False, except because pods are starting. */
function shortfalls(view: JsonObject): readonly JsonObject[] {
  return objectsIn(view, 'conditions').filter(
    (condition) =>
      textIn(condition, 'type') === 'TargetReached' &&
      textIn(condition, 'status') === 'False' &&
      textIn(condition, 'reason') !== 'Starting',
  );
}

/** A forbidden window also makes AbleToScale False. That is no failure: the window is listed as a limit. */
function failingConditions(view: JsonObject): readonly JsonObject[] {
  return objectsIn(view, 'conditions').filter((condition) => {
    const [type, reason] = [textIn(condition, 'type'), textIn(condition, 'reason') ?? ''];
    if (textIn(condition, 'status') !== 'False' || reason.startsWith('Backoff')) return false;
    return type === 'AbleToScale' || type === 'ScalingActive';
  });
}

function stateText({ what, until }: State, now: Instant): string {
  const left = until === null ? 0 : secondsBetween(now, until);
  return left > 0 ? `${what} ${formatSeconds(left)}` : what;
}

function lastChangeText(view: JsonObject, now: Instant): string {
  const up = instantIn(view, 'lastScaleUp');
  const down = instantIn(view, 'lastScaleDown');
  const last = up === null || (down !== null && down > up) ? down : up;
  return last === null ? '<none>' : formatSeconds(secondsBetween(last, now));
}
