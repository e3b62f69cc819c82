import type { ReportedCycle } from '../../api/answers.js';
import { activeHold } from '../../decision/result/condition.js';
import { POD_START_OF } from '../../control/memory/pod-starts.js';
import { usageWhenFull } from '../../decision/forecast/load.js';
import { ceilingOf, whyNoCeiling } from '../../decision/limits/ceiling.js';
import { type JudgedMetric, proposeAll } from '../../decision/proposals/propose.js';
import { headlineOf } from '../../decision/headline.js';
import { describeVersions } from '../../decision/rejection.js';
import type { Remedy } from '../../decision/snippet.js';
import { podStartSeconds } from '../../decision/proposals/context.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import {
  scalerKey,
  type AutoCapacity,
  isOfResource,
  type LabelSelector,
  type MetricSpec,
} from '../../scaler/spec.js';
import { formatInstant, type Instant, parseInstant, secondsBetween } from '../../units/time.js';
import { type Explanation, otherReason, pausedChange, splitRejections } from './explanation.js';
import { activationLines, limitLines, restrictionLines } from './limit-lines.js';
import { isHeldBack } from '../../telemetry/cycle-record.js';
import { alignColumns } from '../output/lines.js';
import { countOf, formatSeconds, listSome } from '../../units/format.js';
import { explainMetric } from '../../decision/explain-metric.js';
import { describeValue } from '../../decision/explain-proposal.js';
import type { MetricResult } from '../../decision/result/decision.js';
import { groupBy } from '../../units/maps.js';

export function explainLines(explanation: Explanation): readonly string[] {
  const metrics = proposeAll(explanation.snapshot);
  return [
    ...headLines(explanation),
    '',
    ...(explanation.decision.metrics.length === 0
      ? ['Metrics: none evaluated']
      : ['Metrics', ...metrics.flatMap((metric) => metricLines(metric, explanation.snapshot))]),
    '',
    ...activationLines(explanation, metrics),
    ...capacityLines(explanation.snapshot),
    ...forecastLines(explanation),
    ...limitLines(explanation),
    '',
    ...restrictionLines(explanation),
    '',
    explanation.status === null
      ? 'Conditions'
      : 'Conditions, each with its status and the time since the status last changed',
    ...conditionLines(explanation),
    '',
    ...changeLines(explanation),
  ];
}

/** Returns the lines for what the user can do, which come last, directly above the prompt. Empty: there are none. */
export function remedyLines(remedies: readonly Remedy[]): readonly string[] {
  if (remedies.length === 0) return [];
  const lines = remedies.flatMap(({ text, snippet }) => {
    if (snippet === null) return [`  ${text}`];
    const { kind, text: copied, graphUrl } = snippet;
    if (kind === 'command') return [`  ${text}:`, `    ${copied}`];
    return [`  ${text}: ${copied}`, ...(graphUrl === undefined ? [] : [`    ${graphUrl}`])];
  });
  return ['', 'What to do', ...lines];
}

function headLines({ snapshot, decision, status, now }: Explanation): readonly string[] {
  const { scaler, target } = snapshot;
  const { scaleTargetRef: ref } = scaler.spec;
  const { currentReplicas, minReplicas, maxReplicas } = decision;
  const ago = secondsBetween(snapshot.now, now);
  const paused = pausedChange(status);
  const held = heldBack(status, paused !== null && paused.from === paused.to);
  const kind = status?.outcome.kind ?? null;
  const { change, limit } = headlineOf(decision, {
    from: null,
    to: null,
    ...status?.outcome,
    ...paused,
    kind,
  });
  const decided = paused === null ? limit : `the pause keeps ${countOf(paused.to, 'replica')}`;
  const why = held?.reason ?? [...conflictOf(status), ...(decided === null ? [] : [decided])].join('; ');
  const actual =
    target.statusReplicas === currentReplicas ? '' : `, status.replicas ${target.statusReplicas}`;
  return [
    `${scalerKey(scaler)}  ${change}${why === '' ? '' : `: ${why}`}  (${ref.kind} ${ref.name}, bounds ${minReplicas} to ${maxReplicas}${actual})`,
    `decided at ${formatInstant(snapshot.now)}${ago < 1 ? '' : `, ${formatSeconds(ago)} ago`}: ${otherReason(status) ?? decision.reason}`,
    ...stateLines(status, now),
    ...versionLines(status),
    ...(held === null ? [] : [`not applied: ${held.message}`]),
    ...(paused === null ? [] : [`without the pause: ${decision.reason}`]),
  ];
}

function stateLines(status: ReportedCycle | null, now: Instant): readonly string[] {
  const state = status?.state;
  if (state === undefined) return [];
  const { name, cause } = state;
  const [since, until] = [parseInstant(state.since ?? ''), parseInstant(state.until ?? '')];
  const lasted = since === null ? 0 : secondsBetween(since, now);
  const left = until === null ? 0 : secondsBetween(now, until);
  const times = [
    ...(lasted >= 1 ? [`for ${formatSeconds(lasted)}`] : []),
    ...(left >= 1 ? [`${formatSeconds(left)} left`] : []),
  ].join(', ');
  return [`state: ${name}${times === '' ? '' : ` ${times}`}${cause === null ? '' : `: ${cause}`}`];
}

/** If the decision does not use the newest version of the document, returns which version it uses and why. */
function versionLines(status: ReportedCycle | null): readonly string[] {
  if (status === null) return [];
  const { generation = null, newestGeneration = null } = status;
  const { rejected, unusedObject } = splitRejections(status);
  const unused =
    unusedObject.length === 0
      ? []
      : [
          'document: the decision uses a file; the Scaler object with the same name is ignored:',
          ...unusedObject.map(({ message }) => `  ${message}`),
        ];
  const versions = describeVersions({ generation, newestGeneration }, rejected.length > 0);
  if (rejected.length > 0 && versions !== null)
    return [`document: ${versions}:`, ...rejected.map(({ message }) => `  ${message}`), ...unused];
  if (generation === null) return unused;
  return [`document: ${versions ?? `generation ${generation}`}`];
}

/**
 * Returns the hold that prevented the change or would prevent a change; null: there is none. `isKept`: the target
 * already has the count that a pause sets, so the pause prevents nothing.
 */
function heldBack(
  status: ReportedCycle | null,
  isKept: boolean,
): Pick<ReportedCycle['conditions'][number], 'reason' | 'message'> | null {
  const held = activeHold(status?.conditions ?? []);
  if (status === null || held === undefined) return null;
  if (isKept && held.reason === 'Paused') return null;
  const { kind, message } = status.outcome;
  // The condition `Held` names the pause. A pause with a fixed count prevents nothing; the dry run prevents the patch.
  if (kind === 'dry-run' && held.reason === 'Paused') return { reason: 'DryRun', message };
  return isHeldBack(status.outcome) ? held : null;
}

/** Returns the conflict of a decision that keeps the count, so that the conflict prevents no change; empty: none. */
function conflictOf(status: ReportedCycle | null): readonly string[] {
  const held = activeHold(status?.conditions ?? []);
  return held?.reason === 'ConflictingScaler' ? [`${held.reason}, so nothing is patched`] : [];
}

/** Returns the lines about `maxReplicasFrom` and `podStart`; empty if the document uses neither. */
function capacityLines(snapshot: Snapshot): readonly string[] {
  const lines = [...ceilingLines(snapshot), ...podStartLines(snapshot)];
  return lines.length === 0 ? [] : [...lines, ''];
}

/** Returns the ceiling of `maxReplicasFrom`, even if the ceiling has not limited the decision. */
function ceilingLines(snapshot: Snapshot): readonly string[] {
  const { maxReplicasFrom } = snapshot.scaler.spec;
  if (maxReplicasFrom === null) return [];
  const { query, source } = maxReplicasFrom;
  const name = `${oneLine(query)}${source === 'default' ? '' : ` (source ${source})`}`;
  const ceiling = ceilingOf(snapshot);
  const why = ceiling === null ? whyNoCeiling(snapshot.maxReplicasFrom) : ceiling.error;
  const value =
    ceiling === null
      ? `none, so only maxReplicas limits the replicas; query ${name}`
      : `${ceiling.replicas}${ceiling.error === null ? '' : ' (last known value)'} from ${name}`;
  return [`Ceiling: ${value}${why === null ? '' : `: ${why}`}`];
}

function podStartLines(snapshot: Snapshot): readonly string[] {
  const { podStart } = snapshot.scaler.spec;
  if (podStart === null) return [];
  const seconds = podStartSeconds(snapshot);
  const origin = podStart.seconds === null ? POD_START_OF : 'set by the document';
  return [`Pod start: ${seconds === null ? 'not known yet' : `${seconds} s, ${origin}`}`];
}

/** Returns what the forecast proposes, and its settings; empty: the document has no forecast. */
function forecastLines({ snapshot, decision }: Explanation): readonly string[] {
  const { forecast: settings, metrics } = snapshot.scaler.spec;
  if (settings === null) return [];
  const { mode, lookbackDays, quantile, fillPercent, leadSeconds, timeZone, budgetPercent } = settings;
  const { forecast } = decision;
  const metric = metrics[settings.metric];
  const text =
    forecast === undefined
      ? 'none, because no metric was evaluated'
      : `${forecast.replicas ?? 'none'}: ${forecast.why}`;
  const spent =
    forecast === undefined
      ? ''
      : ` (${forecast.spentPercent} % spent); without the forecast: ${countOf(forecast.reactive, 'replica')}`;
  return [
    `Forecast (${mode}): ${text}`,
    `  of ${metric?.identity ?? 'no metric'}: lookback ${lookbackDays}d, quantile ${quantile}${metric === undefined ? '' : `, pods at ${usageWhenFull(metric, fillPercent)}`}, lead ${leadSeconds === null ? 'auto' : formatSeconds(leadSeconds)}, time zone ${timeZone}`,
    `  budget for additional replicas: ${budgetPercent} %${spent}`,
    '',
  ];
}

function conditionLines({ decision, status, now }: Explanation): readonly string[] {
  const conditions: ReportedCycle['conditions'] = status?.conditions ?? decision.conditions;
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

function changeLines({ snapshot, status, now }: Explanation): readonly string[] {
  const { lastScaleUp, lastScaleDown } =
    status === null
      ? snapshot.state
      : {
          lastScaleUp: parseInstant(status.lastScaleUp ?? ''),
          lastScaleDown: parseInstant(status.lastScaleDown ?? ''),
        };
  const when = (instant: Instant | null): string =>
    instant === null
      ? 'none by this scaler'
      : `${formatInstant(instant)} (${formatSeconds(secondsBetween(instant, now))} ago)`;
  const writer = status?.conflictingWriter ?? null;
  return [
    ...(status === null ? [] : [`Outcome: ${outcomeText(status.outcome)}`]),
    ...(writer === null ? [] : [`Conflicting writer: ${writer.message}`]),
    `Last scale-up: ${when(lastScaleUp)}; last scale-down: ${when(lastScaleDown)}`,
  ];
}

function outcomeText({ kind, from, to, message }: ReportedCycle['outcome']): string {
  const change = from === null || to === null || from === to ? '' : ` ${from} -> ${to}`;
  const text = kind === 'none' ? 'no change' : `${kind}${change}`;
  return message === '' ? text : `${text}: ${message}`;
}

function metricLines(metric: JudgedMetric, snapshot: Snapshot): readonly string[] {
  const { spec, result } = metric;
  const proposal = result.proposal === null ? 'no proposal' : `proposes ${result.proposal}`;
  const { answer, arithmetic } = explainMetric(metric, snapshot);
  return [
    `  ${spec.identity} (${spec.type}): ${describeValue(metric, snapshot)} - ${proposal}`,
    labeled('query', queryText(spec)),
    ...checkTexts(spec).map((text) => labeled('check', text)),
    ...partLines(spec),
    labeled('answer', answer),
    ...podLines(result),
    ...(result.saturation === undefined ? [] : [labeled('step', result.saturation.why)]),
    ...(arithmetic === null ? [] : [labeled('count', arithmetic)]),
  ];
}

function labeled(label: string, text: string): string {
  return `    ${label.padEnd(7)} ${text}`;
}

function queryText(spec: MetricSpec): string {
  const source = spec.source === 'default' ? '' : ` (source ${spec.source})`;
  if (isOfResource(spec)) {
    const what = spec.type === 'Resource' ? spec.name : `${spec.name} of container ${spec.container}`;
    return `the resource query of source ${spec.source} for ${what}`;
  }
  const selector = spec.selector.length === 0 ? '' : `, series with ${selectorText(spec.selector)}`;
  return `${oneLine(spec.query)}${selector}${source}`;
}

function checkTexts(spec: MetricSpec): readonly string[] {
  if (spec.type !== 'Object' && spec.type !== 'External') return [];
  const { guard, freshness } = spec;
  return [
    ...(guard === null ? [] : [`${oneLine(guard)} must be true`]),
    ...(freshness === null
      ? []
      : [`${oneLine(freshness.query)} must be at most ${freshness.maxAgeSeconds} s in the past`]),
  ];
}

/**
 * Returns a line for each additional query that the decision uses besides the query of the metric, such as `backlog`.
 */
function partLines(spec: MetricSpec): readonly string[] {
  if (spec.type === 'Resource' && spec.saturation !== undefined)
    return [labeled('served', oneLine(spec.saturation.servedQuery))];
  if (spec.type !== 'Object' && spec.type !== 'External') return [];
  const { backlog, capacityQuery, autoCapacity } = spec;
  return [
    ...(backlog === undefined
      ? []
      : [labeled('backlog', `${oneLine(backlog.query)}, to process in ${backlog.drainSeconds} s`)]),
    ...(capacityQuery === undefined ? [] : [labeled('per pod', oneLine(capacityQuery))]),
    ...(autoCapacity === undefined ? [] : [labeled('per pod', autoText(autoCapacity))]),
  ];
}

function autoText({ mode, servedQuery, errorsQuery }: AutoCapacity): string {
  const errors = errorsQuery === undefined ? '' : `, except while there are errors: ${oneLine(errorsQuery)}`;
  return `auto, mode ${mode}: the highest value of ${oneLine(servedQuery)} per ready pod in 3 days${errors}`;
}

function oneLine(query: string): string {
  return query.replace(/\s+/g, ' ').trim();
}

function selectorText(selector: LabelSelector): string {
  return selector
    .map(({ key, operator, values }) => {
      if (operator === 'Exists') return key;
      if (operator === 'DoesNotExist') return `no ${key}`;
      const [only] = values;
      if (operator === 'In' && values.length === 1 && only !== undefined) return `${key}=${only}`;
      return `${key} ${operator === 'In' ? 'in' : 'not in'} (${values.join(', ')})`;
    })
    .join(', ');
}

function podLines({ pods, podReasons }: MetricResult): readonly string[] {
  const groups = ['ready', 'unready', 'missing', 'ignored'] as const;
  if (groups.every((group) => pods[group].length === 0)) return [];
  const counts = groups.flatMap((group) =>
    group === 'ready' || pods[group].length > 0 ? [`${pods[group].length} ${group}`] : [],
  );
  const aside = groups.flatMap((group) =>
    group === 'ready'
      ? []
      : [...groupBy(pods[group], (name) => podReasons[name] ?? 'reason not known')].map(
          ([why, names]) => `${group}, ${why}: ${listSome(names)}`,
        ),
  );
  return [labeled('pods', counts.join(', ')), ...aside.map((line) => labeled('', line))];
}
