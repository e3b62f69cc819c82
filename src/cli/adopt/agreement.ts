import { type JsonObject, countIn, objectIn, textIn } from '../../kubernetes/api/json.js';
import { parseInstant, secondsBetween } from '../../units/time.js';
import { formatSeconds } from '../../units/format.js';
import { whyNoValue, whyUnable } from './service-view.js';

/** How a dry run agrees with its autoscaler. The numbers are those of the service. */
export interface AgreementReport {
  readonly scaler: string;
  readonly beside: string;
  readonly since: string;
  readonly at: string;
  readonly rounds: number;
  readonly same: number;
  readonly largest: {
    readonly at: string;
    readonly desiredReplicas: number;
    readonly theirReplicas: number;
    readonly reason: string;
  } | null;
  /** The last comparison; null: the last cycle was not compared. */
  readonly now: { readonly desiredReplicas: number; readonly theirReplicas: number } | null;
  /** Why the last cycle was not compared; null: it was. */
  readonly notCompared: string | null;
}

/** Returns why no cycle was compared instead of a report. `view`: null: the service does not have the scaler. */
export function readAgreement(key: string, view: JsonObject | null): AgreementReport | string {
  if (view === null) return `the service has no scaler ${key}, or its first cycle has not finished`;
  const agreement = objectIn(view, 'agreement');
  const [beside, since, at] = [textIn(agreement, 'beside'), textIn(agreement, 'since'), textIn(view, 'at')];
  const [rounds, same] = [countIn(agreement, 'rounds'), countIn(agreement, 'same')];
  const shadow = objectIn(view, 'shadow');
  const notCompared = shadow === null ? whyNotCompared(view) : null;
  if (beside === null || since === null || at === null || rounds === null || same === null)
    return notCompared ?? 'the service is older than this command';
  return {
    scaler: key,
    beside,
    since,
    at,
    rounds,
    same,
    largest: readLargest(objectIn(agreement, 'largest')),
    now: readNow(view, shadow),
    notCompared,
  };
}

function readLargest(largest: JsonObject | null): AgreementReport['largest'] {
  const [at, reason] = [textIn(largest, 'at'), textIn(largest, 'reason')];
  const [desiredReplicas, theirReplicas] = [
    countIn(largest, 'desiredReplicas'),
    countIn(largest, 'theirReplicas'),
  ];
  return at === null || reason === null || desiredReplicas === null || theirReplicas === null
    ? null
    : { at, desiredReplicas, theirReplicas, reason };
}

function readNow(view: JsonObject, shadow: JsonObject | null): AgreementReport['now'] {
  const [desiredReplicas, theirReplicas] = [
    countIn(view, 'desiredReplicas'),
    countIn(shadow, 'theirReplicas'),
  ];
  return desiredReplicas === null || theirReplicas === null ? null : { desiredReplicas, theirReplicas };
}

/** Returns what keeps the decision from predicting what the scaler will do after the dry run. */
function whyNotCompared(view: JsonObject): string {
  const state = objectIn(view, 'state');
  const name = textIn(state, 'name');
  if (name === 'Paused' || name === 'Conflict') return `${name}: ${textIn(state, 'cause') ?? ''}`;
  return (
    whyUnable(view) ??
    whyNoValue(view) ??
    'the service has not seen desired replicas of the HPA: it watches HPAs, if it may, and ignores one that has not computed a count (ScalingActive)'
  );
}

/** Returns the report as text. */
export function agreementText(report: AgreementReport): string {
  const { scaler, beside, since, at, rounds, same, largest, now, notCompared } = report;
  const [start, end] = [parseInstant(since), parseInstant(at)];
  const length = start === null || end === null ? '' : `${formatSeconds(secondsBetween(start, end))} `;
  const share = `${same} of ${rounds} rounds (${percent(same, rounds)} %)`;
  const lines = [
    `${beside} and scaler ${scaler}, ${length}since ${since}`,
    `  same count          ${share}`,
    ...(largest === null
      ? []
      : [
          `  largest difference  ${signed(largest.desiredReplicas - largest.theirReplicas)} at ${largest.at}: promscaler ${largest.desiredReplicas}, HPA ${largest.theirReplicas}`,
          `                      ${largest.reason}`,
        ]),
    now === null
      ? `  now                 not compared: ${notCompared ?? ''}`
      : `  now                 promscaler ${now.desiredReplicas}, HPA ${now.theirReplicas}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Rounds down: only full agreement is 100 %. */
function percent(same: number, rounds: number): string {
  return String(Math.floor((1000 * same) / rounds) / 10);
}

function signed(difference: number): string {
  return difference > 0 ? `+${difference}` : String(difference);
}
