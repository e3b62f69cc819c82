import { type JsonObject, countIn, objectIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import { secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { instantIn } from '../explain/read-status.js';
import { formatSeconds } from '../../units/format-seconds.js';
import { formatAmount } from '../../units/format-amount.js';

export interface StatusRow {
  readonly namespace: string;
  readonly name: string;
  readonly target: string;
  /** Longest form first: two metrics with names, one metric with its name, values only. */
  readonly metrics: readonly string[];
  readonly min: string;
  readonly max: string;
  readonly replicas: string;
  readonly desired: string;
  /** Holds with the remaining time, such as `stabilization 4m10s`; `-`: none. Longest form first. */
  readonly held: readonly string[];
  readonly lastChange: string;
  /** Like `held`, with end times instead of remaining times. */
  readonly heldBy: string;
  readonly isFailing: boolean;
  readonly isChanging: boolean;
}

const UNKNOWN = '<unknown>';

/** `view` is an item of `GET /api/v1/scalers`. Unknown values are `<unknown>`, as in kubectl. */
export function statusRow(view: JsonObject, now: Instant): StatusRow {
  const target = objectIn(view, 'target');
  const holds = readHolds(view);
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
    held: heldForms(holds, now),
    lastChange: lastChangeText(view, now),
    heldBy: holds.map(({ what, until }) => `${what} ${until ?? ''}`).join(', '),
    isFailing: failingConditions(view).length > 0,
    isChanging: current !== desired,
  };
}

function numberText(number: number | null): string {
  return number === null ? UNKNOWN : String(number);
}

/** Like `kubectl get hpa`: two metrics, and how many others there are. */
const SHOWN_METRICS = 2;

function metricsForms(metrics: readonly JsonObject[]): readonly string[] {
  const texts = metrics.map(metricText);
  const upTo = (count: number, form: 'full' | 'values'): string => {
    const shown = texts
      .slice(0, count)
      .map((text) => text[form])
      .join(', ');
    return texts.length > count ? `${shown} + ${texts.length - count} more` : shown;
  };
  return [upTo(SHOWN_METRICS, 'full'), upTo(1, 'full'), upTo(SHOWN_METRICS, 'values'), upTo(1, 'values')];
}

interface MetricText {
  readonly full: string;
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
  const values = `${write(metric['value'])}/${write(metric['target'])}`;
  return { full: `${identity}: ${values}${unit === 'average' ? ' (avg)' : ''}`, values };
}

/** Returns three forms: all holds; the first hold and how many others there are; the same without the time. */
function heldForms(holds: readonly Hold[], now: Instant): readonly string[] {
  const [first] = holds;
  if (first === undefined) return ['-'];
  const more = holds.length === 1 ? '' : ` +${holds.length - 1}`;
  return [
    holds.map((hold) => holdText(hold, now)).join(', '),
    `${holdText(first, now)}${more}`,
    `${first.what}${more}`,
  ];
}

interface Hold {
  readonly what: string;
  readonly until: Instant | null;
}

/** Order: failures, reasons that prevent the patch, limits in the order applied. */
function readHolds(view: JsonObject): readonly Hold[] {
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
function heldBy(reason: string, view: JsonObject): Hold {
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

function holdText({ what, until }: Hold, now: Instant): string {
  const left = until === null ? 0 : secondsBetween(now, until);
  return left > 0 ? `${what} ${formatSeconds(left)}` : what;
}

function lastChangeText(view: JsonObject, now: Instant): string {
  const up = instantIn(view, 'lastScaleUp');
  const down = instantIn(view, 'lastScaleDown');
  const last = up === null || (down !== null && down > up) ? down : up;
  return last === null ? '<none>' : formatSeconds(secondsBetween(last, now));
}
