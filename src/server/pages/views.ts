import { expectLoad, type LoadAhead } from '../../decision/forecast/propose-forecast.js';
import type { MetricSpec } from '../../scaler/spec.js';
import type { Problem } from '../../scaler/problems/problem.js';
import {
  boundsOf,
  desiredReplicasOf,
  pauseToJson,
  reasonOf,
  type CycleRecord,
  type Agreement,
} from '../../telemetry/cycle-record.js';
import { COUNT_COLUMNS, type ScalerPoints } from '../../telemetry/chart-points.js';
import type { HistoryEntry } from '../../telemetry/history.js';
import type { Ledger, LedgerEntry } from '../../telemetry/ledger.js';
import { currentValue, targetValue } from '../../telemetry/scaler-series.js';
import { describeFailure, type Failure, isServerFailure, mayBeDown } from '../../units/failure.js';
import { earliest, formatInstant, instantOrNull, type Instant } from '../../units/time.js';
import type {
  DecisionEntry,
  ForecastLoads,
  HistoryAnswer,
  MetricView,
  ScalerDetail,
  ScalerList,
  ScalerState,
  ScalerView,
} from '../../api/answers.js';

const UNITS = { Utilization: 'percent', AverageValue: 'average', Value: 'total' } as const;

export function viewScaler(status: LedgerEntry): ScalerView {
  const { scaler, record, lastRescale } = status;
  const { decision } = record;
  const { minReplicas, maxReplicas } = boundsOf(record);
  return {
    namespace: scaler.namespace,
    name: scaler.name,
    target: scaler.spec.scaleTargetRef,
    at: formatInstant(record.at),
    state: viewState(status.shownState, status.stateSince),
    currentReplicas: decision?.currentReplicas ?? null,
    desiredReplicas: desiredReplicasOf(record),
    recommendedReplicas: decision?.recommendedReplicas ?? null,
    minReplicas,
    maxReplicas,
    reason: reasonOf(record),
    metrics: viewMetrics(status),
    limits: (decision?.limits ?? []).map(({ limit, reason, until }) => ({
      limit,
      reason,
      until: instantOrNull(until),
    })),
    conditions: status.conditions.map(({ lastTransition, ...condition }) => ({
      ...condition,
      lastTransitionTime: formatInstant(lastTransition),
    })),
    outcome: record.outcome,
    conflictingWriter: record.conflictingWriter ?? null,
    otherScaler: viewOther(record.otherScaler),
    ...(record.targetFailure === undefined ? {} : { targetFailure: record.targetFailure }),
    shadow: record.shadow ?? null,
    agreement: viewAgreement(status.agreement),
    ...viewForecast(status),
    lastScaleUp: instantOrNull(lastRescale.up),
    lastScaleDown: instantOrNull(lastRescale.down),
    paused: record.pause !== null,
    pause: pauseToJson(record.pause),
    dryRun: record.dryRun,
  };
}

function viewOther(other: CycleRecord['otherScaler']): ScalerView['otherScaler'] {
  if (other === undefined) return null;
  const { kind, namespace, name, whyNoCount, second, scaler } = other;
  return {
    kind,
    namespace,
    name,
    ...(whyNoCount === undefined ? {} : { whyNoCount }),
    ...(second === undefined ? {} : { second }),
    ...(scaler === undefined ? {} : { scaler }),
  };
}

/** `isObject`: whether the document is a Scaler object. Returns an empty object if the document was not back-tested. */
export function viewRecommendation(
  { recommendation }: LedgerEntry,
  isObject: boolean,
): Pick<ScalerView, 'recommendation'> {
  if (recommendation === null) return {};
  const { at, from, to, ...rest } = recommendation;
  const times = { at: formatInstant(at), from: formatInstant(from), to: formatInstant(to) };
  return { recommendation: { ...times, ...rest, isObject } };
}

/** Maximum length of a cause, because a page may have ten thousand rows. */
const LONGEST_CAUSE = 300;

export function viewState(
  { name, severity, cause, until }: LedgerEntry['state'],
  since: Instant,
): ScalerState {
  return {
    name,
    severity,
    cause: cause?.slice(0, LONGEST_CAUSE) ?? null,
    since: formatInstant(since),
    until: instantOrNull(until),
  };
}

function viewForecast({ scaler, record }: LedgerEntry): Pick<ScalerView, 'forecast'> {
  const { forecast: settings } = scaler.spec;
  const forecast = record.decision?.forecast;
  if (settings === null || forecast === undefined) return {};
  const { replicas, reactive } = forecast;
  return { forecast: { mode: settings.mode, replicas, reactive } };
}

function viewAgreement(agreement: Agreement | null): ScalerView['agreement'] {
  if (agreement === null) return null;
  const { since, largest, ...counts } = agreement;
  return {
    ...counts,
    since: formatInstant(since),
    largest: largest === null ? null : { ...largest, at: formatInstant(largest.at) },
  };
}

const MOST_PROBLEMS = 100;
/** Maximum length of a message, so that most of the response is left for the rows. */
const LONGEST_MESSAGE = 1000;

/** Sorts errors before warnings. Otherwise, the order stays the same. */
export function errorsFirst(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'));
}

export function viewProblems(
  problems: readonly Problem[],
  rejectedSince: Ledger['rejectedSince'] = () => null,
): ScalerList['problems'] {
  return errorsFirst(problems)
    .slice(0, MOST_PROBLEMS)
    .map(({ severity, code, message, file, place, path, scaler }) => ({
      severity,
      code,
      message: message.slice(0, LONGEST_MESSAGE),
      file,
      line: place?.line ?? null,
      path,
      scaler: scaler ?? null,
      since: instantOrNull(severity === 'error' ? rejectedSince(scaler ?? '') : null),
    }));
}

export function viewScalerDetail(
  status: LedgerEntry,
  decision: unknown,
): Omit<ScalerDetail, 'decision' | 'document' | 'generation' | 'newestGeneration' | 'rejections'> & {
  readonly document: unknown;
  readonly decision: unknown;
} {
  return {
    ...viewScaler(status),
    document: status.scaler.document,
    decision,
    seconds: status.record.seconds,
  };
}

/**
 * Returns, for each entry of `history` (newest first), since when the scaler had the state of the entry. The oldest
 * known state starts with the oldest entry. If all entries have the present state, that state may have started earlier,
 * at `stateSince`.
 */
export function statesSince(
  history: readonly HistoryEntry[],
  { state, stateSince }: Pick<LedgerEntry, 'state' | 'stateSince'>,
): ReadonlyMap<HistoryEntry, Instant> {
  const found = new Map<HistoryEntry, Instant>();
  let [name, since] = ['', stateSince];
  for (const entry of history.toReversed()) {
    const next = entry.state.name;
    if (next !== name) since = entry.firstAt;
    name = next;
    found.set(entry, since);
  }
  const isOne = name === state.name && since === history.at(-1)?.firstAt;
  return isOne ? new Map([...found.keys()].map((entry) => [entry, earliest(stateSince, since)])) : found;
}

export function viewDecision(
  entry: HistoryEntry,
  stateSince: Instant,
  decision: unknown,
): Omit<DecisionEntry, 'decision'> & { readonly decision: unknown } {
  const { firstAt, lastAt, count, outcome, conditions } = entry;
  return {
    firstAt: formatInstant(firstAt),
    lastAt: formatInstant(lastAt),
    count,
    state: viewState(entry.state, stateSince),
    outcome,
    conditions,
    decision,
  };
}

export function viewHistory(history: ScalerPoints, stepSeconds: number | null): HistoryAnswer {
  const columns = history.metrics.map((_, index) => viewMetricColumns(history, index));
  return { ...viewCounts(history, stepSeconds), metrics: columns };
}

/**
 * Returns the recent points with their load and forecast, and then the points of the next hour, which have only a
 * forecast.
 */
export function viewForecastLoads(
  { scaler, record }: Pick<LedgerEntry, 'scaler' | 'record'>,
  { points }: ScalerPoints,
  ahead: LoadAhead | null,
): ForecastLoads {
  const { forecast, metrics } = scaler.spec;
  const first = 2 * metrics.length;
  const minutes = record.decision?.state.forecast?.minutes ?? [];
  const later = (ahead?.later ?? []).map(({ at, ...given }) => {
    const expected =
      forecast === null || ahead === null
        ? null
        : expectLoad({ forecast, minutes, history: ahead.history }, given);
    return { at, load: null, low: null, expected: null, high: null, ...expected };
  });
  const rows = [
    ...points.map(({ at, values }) => ({
      at,
      load: values[first] ?? null,
      low: values[first + 1] ?? null,
      expected: values[first + 2] ?? null,
      high: values[first + 3] ?? null,
    })),
    ...later.filter(({ at, expected }) => expected !== null && at > record.at),
  ];
  return {
    namespace: scaler.namespace,
    name: scaler.name,
    metric: metrics[forecast?.metric ?? 0]?.identity ?? '',
    at: rows.map(({ at }) => formatInstant(at)),
    load: rows.map(({ load }) => load),
    low: rows.map(({ low }) => low),
    expected: rows.map(({ expected }) => expected),
    high: rows.map(({ high }) => high),
  };
}

/** Returns a long history as JSON. `yieldIfDue` yields to other work between two metrics. */
export async function writeHistory(
  history: ScalerPoints,
  stepSeconds: number | null,
  yieldIfDue: () => Promise<void>,
): Promise<string> {
  const columns: string[] = [];
  for (let index = 0; index < history.metrics.length; index += 1) {
    columns.push(JSON.stringify(viewMetricColumns(history, index)));
    await yieldIfDue();
  }
  const head = JSON.stringify(viewCounts(history, stepSeconds)).slice(0, -1);
  return `${head},"metrics":[${columns.join(',')}]}`;
}

function viewCounts(
  { scaler, points, keptFrom }: ScalerPoints,
  stepSeconds: number | null,
): Omit<HistoryAnswer, 'metrics'> {
  const column = (name: (typeof COUNT_COLUMNS)[number]): readonly (number | null)[] => {
    const index = COUNT_COLUMNS.indexOf(name);
    return points.map(({ counts }) => counts[index] ?? null);
  };
  return {
    namespace: scaler.namespace,
    name: scaler.name,
    stepSeconds,
    keptFrom: instantOrNull(keptFrom),
    at: points.map(({ at }) => formatInstant(at)),
    currentReplicas: column('currentReplicas'),
    desiredReplicas: column('desiredReplicas'),
    recommendedReplicas: column('recommendedReplicas'),
    minReplicas: column('minReplicas'),
    maxReplicas: column('maxReplicas'),
    readyPods: column('readyPods'),
  };
}

function viewMetricColumns(
  { metrics, points }: ScalerPoints,
  index: number,
): HistoryAnswer['metrics'][number] {
  const spec = metrics[index];
  if (spec === undefined) throw new RangeError(`there is no metric ${index}`);
  const valuesOf = (index: number): readonly (number | null)[] =>
    points.map(({ values }) => values[index] ?? null);
  return {
    type: spec.type,
    metric: spec.identity,
    unit: metricUnit(spec),
    value: valuesOf(2 * index),
    target: valuesOf(2 * index + 1),
  };
}

function viewError(failure: Failure | null): Pick<MetricView, 'error' | 'errorReason'> {
  return failure === null
    ? { error: null }
    : { error: describeFailure(failure), errorReason: failure.reason };
}

function viewNoAnswer(failure: Failure | null): Pick<MetricView, 'noAnswer'> {
  if (failure?.source === undefined || !isServerFailure(failure.reason)) return {};
  return { noAnswer: { host: failure.host ?? null, isDown: mayBeDown(failure) } };
}

export function metricUnit(spec: MetricSpec): MetricView['unit'] {
  return UNITS[spec.target.type];
}

function viewMetrics({ scaler, record }: LedgerEntry): readonly MetricView[] {
  return scaler.spec.metrics.map((spec, index) => {
    const result = record.decision?.metrics[index];
    return {
      type: spec.type,
      metric: spec.identity,
      unit: metricUnit(spec),
      value: currentValue(spec, result),
      target: targetValue(spec, result),
      proposal: result?.proposal ?? null,
      ...viewError(result?.error ?? null),
      ...viewNoAnswer(result?.error ?? result?.fallback?.error ?? null),
      ...(result?.readAsZero === undefined ? {} : { readAsZero: describeFailure(result.readAsZero) }),
      partial: result?.partial ?? null,
    };
  });
}
