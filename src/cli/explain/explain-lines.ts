import type { Sample } from '../../decision/snapshot.js';
import { scalerKey } from '../../scaler/spec.js';
import { formatInstant, secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { Explained, ExplainedStatus, ToldCondition } from './explained.js';
import { holdLines, limitLines } from './limit-lines.js';
import { metricLines } from './metric-lines.js';
import { alignColumns, formatSeconds } from './words.js';

/** One decision as a person reads it, from the question to the outcome. A line each, without line ends. */
export function explainLines(explained: Explained): readonly string[] {
  return [
    ...headLines(explained),
    '',
    ...allMetricLines(explained),
    '',
    ...limitLines(explained.decision),
    '',
    ...holdLines(explained),
    '',
    'Conditions',
    ...conditionLines(explained),
    '',
    ...changeLines(explained),
  ];
}

function headLines({ snapshot, decision, status, now }: Explained): readonly string[] {
  const { scaler, target } = snapshot;
  const { kind, name } = scaler.spec.scaleTargetRef;
  const { currentReplicas, desiredReplicas, minReplicas, maxReplicas } = decision;
  const ago = secondsBetween(snapshot.now, now);
  const decided =
    currentReplicas === desiredReplicas
      ? `stays at ${currentReplicas}`
      : `${currentReplicas} -> ${desiredReplicas}`;
  const reason = status?.reason ?? null;
  const ordered = ORDER.exec(reason ?? '')?.[1];
  const there = target.statusReplicas === currentReplicas ? '' : `, ${target.statusReplicas} there now`;
  return [
    `${scalerKey(scaler)}  ${ordered ?? decided}  (${kind} ${name}, bounds ${minReplicas} to ${maxReplicas}${there})`,
    `decided at ${formatInstant(snapshot.now)}${ago < 1 ? '' : `, ${formatSeconds(ago)} ago`}: ${reason ?? decision.reason}`,
    ...(ordered === undefined ? [] : [`without the pause: ${decision.reason}`]),
  ];
}

/** The change, or none, that a pause has made. */
const ORDER = /^(stays at \d+|\d+ -> \d+): paused by /;

const NOT_ASKED: Sample = { form: 'error', kind: 'failed', error: 'there is no sample for this metric' };

function allMetricLines({ snapshot, decision }: Explained): readonly string[] {
  if (decision.metrics.length === 0) return ['Metrics: none was looked at, the replica count alone decided'];
  const lines = snapshot.scaler.spec.metrics.flatMap((spec, index) => {
    const result = decision.metrics[index];
    if (result === undefined) return [];
    return metricLines({ spec, sample: snapshot.samples[index] ?? NOT_ASKED, result }, snapshot);
  });
  return ['Metrics', ...lines];
}

function conditionLines({ decision, status, now }: Explained): readonly string[] {
  const conditions: readonly ToldCondition[] = status?.conditions ?? decision.conditions;
  const rows = conditions.map((condition) => {
    const { type, reason, message, lastTransitionTime } = condition;
    const since = lastTransitionTime === undefined ? [] : [sinceText(lastTransitionTime, now)];
    return [`  ${type}`, condition.status, ...since, `${reason}${message === '' ? '' : `: ${message}`}`];
  });
  return alignColumns(rows);
}

function sinceText(time: string, now: Instant): string {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? '' : `for ${formatSeconds((now - ms) / 1000)}`;
}

function changeLines({ snapshot, status, now }: Explained): readonly string[] {
  const last = status ?? snapshot.state;
  const when = (instant: Instant | null): string =>
    instant === null
      ? 'none known'
      : `${formatInstant(instant)} (${formatSeconds(secondsBetween(instant, now))} ago)`;
  return [
    ...(status === null ? [] : [`Outcome: ${outcomeText(status.outcome)}`]),
    ...writerLines(status),
    `Last scale-up: ${when(last.lastScaleUp)}; last scale-down: ${when(last.lastScaleDown)}`,
  ];
}

function writerLines(status: ExplainedStatus | null): readonly string[] {
  const message = status?.conflictingWriter ?? null;
  return message === null ? [] : [`Conflicting writer: ${message}`];
}

function outcomeText({ kind, from, to, message }: ExplainedStatus['outcome']): string {
  const change = from === null || to === null || from === to ? '' : ` ${from} -> ${to}`;
  const words = kind === 'none' ? 'nothing to change' : `${kind}${change}`;
  return message === '' ? words : `${words}: ${message}`;
}
