import { describeFailure, type Failure } from '../../units/failure.js';
import { formatMilli } from '../../units/quantity.js';
import type { Milli } from '../../units/quantity.js';
import { formatInstant, instantOrNull } from '../../units/time.js';
import type { Decision, FallbackUse, LimitStep, MetricResult, PastDecision } from './decision.js';
import { writableSample } from '../snapshot/judge-sample.js';
import { errorKindOf } from '../snapshot/snapshot.js';
import type {
  ForecastState,
  LoadHistory,
  MeasuredCapacity,
  Pod,
  Recommendation,
  Sample,
  Saturation,
  ScaleEvent,
  Snapshot,
  State,
} from '../snapshot/snapshot.js';

/** Returns the snapshot as JSON. `parseSnapshot` reads it, and the decision on the parsed snapshot is the same. */
export function snapshotToJson(snapshot: Snapshot): Readonly<Record<string, unknown>> {
  const { spec } = snapshot.scaler;
  const hasLimits = spec.forecast !== null || spec.metrics.some((metric) => 'saturation' in metric);
  return {
    scaler: snapshot.scaler.document,
    now: formatInstant(snapshot.now),
    target: snapshot.target,
    pods: snapshot.pods.map((pod) => podToJson(pod, hasLimits)),
    samples: snapshot.samples.map((sample) => sampleToJson(writableSample(sample))),
    ...(snapshot.maxReplicasFrom === undefined
      ? {}
      : { maxReplicasFrom: sampleToJson(writableSample(snapshot.maxReplicasFrom)) }),
    podStartSeconds: snapshot.podStartSeconds,
    ...(snapshot.loadHistory === undefined ? {} : { loadHistory: historyToJson(snapshot.loadHistory) }),
    state: stateToJson(snapshot.state),
  };
}

/** Returns the decision as JSON. A past decision has no `state`. */
export function decisionToJson(decision: Decision | PastDecision): Readonly<Record<string, unknown>> {
  const { currentReplicas, desiredReplicas, action, reason, cooldown, ...rest } = decision;
  return {
    currentReplicas,
    desiredReplicas,
    action,
    reason,
    ...rest,
    metrics: decision.metrics.map(metricToJson),
    limits: decision.limits.map(stepToJson),
    ...(cooldown === undefined ? {} : { cooldown: { ...cooldown, until: formatInstant(cooldown.until) } }),
    ...('state' in decision ? { state: stateToJson(decision.state) } : {}),
  };
}

function metricToJson({
  fallback,
  readAsZero,
  measuredCapacity,
  ...result
}: MetricResult): Readonly<Record<string, unknown>> {
  const { error } = result;
  return {
    ...result,
    error: error === null ? null : describeFailure(error),
    ...(readAsZero === undefined ? {} : { readAsZero: describeFailure(readAsZero) }),
    ...(fallback === undefined ? {} : { fallback: fallbackToJson(fallback) }),
    ...(measuredCapacity === undefined ? {} : { measuredCapacity: measuredToJson(measuredCapacity) }),
  };
}

function fallbackToJson(fallback: FallbackUse): Readonly<Record<string, unknown>> {
  return { ...fallback, since: formatInstant(fallback.since), error: describeFailure(fallback.error) };
}

function stepToJson(step: LimitStep): Readonly<Record<string, unknown>> {
  return { ...step, until: instantOrNull(step.until) };
}

/**
 * Lists the fields explicitly: pods from the watch have other fields, too, and `parseSnapshot` rejects unknown fields.
 * Limits are written only for a document that uses them.
 */
function podToJson(pod: Pod, hasLimits: boolean): Readonly<Record<keyof Pod, unknown>> {
  return {
    name: pod.name,
    phase: pod.phase,
    deleting: pod.deleting,
    ready: pod.ready,
    startTime: instantOrNull(pod.startTime),
    readyChangedAt: instantOrNull(pod.readyChangedAt),
    requests: mapToJson(pod.requests, quantitiesToJson),
    podRequests: pod.podRequests === null ? undefined : quantitiesToJson(pod.podRequests),
    cpuLimit: !hasLimits || pod.cpuLimit === undefined ? undefined : formatMilli(pod.cpuLimit),
  };
}

function quantitiesToJson(quantities: ReadonlyMap<string, Milli>): Readonly<Record<string, unknown>> {
  return mapToJson(quantities, formatMilli);
}

/**
 * Writes the fields in the order in which `parseSnapshot` reads them, so that the JSON of a replayed decision is
 * identical.
 */
function measuredToJson(measured: MeasuredCapacity): Readonly<Record<string, unknown>> {
  const { value, low, high, days, at, drift } = measured;
  const numbers = { value, low, high, days, at: formatInstant(at) };
  if (drift === undefined) return numbers;
  const { since, before, oldestPod } = drift;
  return {
    ...numbers,
    drift: { since: formatInstant(since), before, oldestPod: instantOrNull(oldestPod) },
  };
}

function sampleToJson(sample: Sample): Readonly<Record<string, unknown>> {
  if (sample.form === 'error') return failureToJson(sample.failure);
  const partial = sample.partial === null ? {} : { partial: sample.partial };
  const at = formatInstant(sample.at);
  switch (sample.form) {
    case 'values': {
      const { values, backlog, capacity, measuredCapacity: measured } = sample;
      const measuredCapacity = measured === undefined ? undefined : measuredToJson(measured);
      return { at, values, backlog, capacity, measuredCapacity, ...partial };
    }
    case 'pods': {
      const { windowSeconds, values } = sample;
      const pods = Object.fromEntries(sample.pods.map((pod, index) => [pod, values[index]]));
      return { at, windowSeconds, pods, ...partial };
    }
    case 'containers': {
      const { windowSeconds, learnedIntervalSeconds, starts, values, served } = sample;
      const containers = Object.fromEntries(
        sample.pods.map((pod, index) => {
          const [start = 0, end = 0] = starts.slice(index, index + 2);
          const names = sample.containers.slice(start, end);
          return [pod, Object.fromEntries(names.map((name, offset) => [name, values[start + offset]]))];
        }),
      );
      return { at, windowSeconds, learnedIntervalSeconds, containers, served, ...partial };
    }
    default:
      return sample satisfies never;
  }
}

function failureToJson(failure: Failure): Readonly<Record<string, unknown>> {
  const kind = errorKindOf(failure);
  const isKnown = kind === 'failed' && failure.reason !== 'unknown';
  return {
    error: failure.since === undefined ? describeFailure(failure) : failure.message,
    kind,
    reason: isKnown ? failure.reason : undefined,
    since: failure.since === undefined ? undefined : formatInstant(failure.since),
  };
}

function stateToJson(state: State): Readonly<Record<string, unknown>> {
  const recommendations = state.recommendations?.map(recommendationToJson);
  const downscaleProposals = state.downscaleProposals.map(recommendationToJson);
  return {
    lastScaleUp: instantOrNull(state.lastScaleUp),
    lastScaleDown: instantOrNull(state.lastScaleDown),
    // Without `recommendations`, the next decision would be the first of the scaler. An empty list does not have that
    // effect.
    ...(recommendations === undefined ? {} : { recommendations }),
    scaleEvents: state.scaleEvents.map(eventToJson),
    ...(downscaleProposals.length === 0 ? {} : { downscaleProposals }),
    ...(state.holdScaleDownUntil === null
      ? {}
      : { holdScaleDownUntil: formatInstant(state.holdScaleDownUntil) }),
    ...(state.holdReason === null ? {} : { holdReason: state.holdReason }),
    failingSince: mapToJson(state.failingSince, formatInstant),
    zeroedBySelf: state.zeroedBySelf,
    inactiveSince: instantOrNull(state.inactiveSince),
    ...(state.maxReplicasFrom === undefined ? {} : { maxReplicasFrom: state.maxReplicasFrom }),
    ...(state.saturation === undefined ? {} : { saturation: saturationToJson(state.saturation) }),
    ...(state.forecast === undefined ? {} : { forecast: forecastToJson(state.forecast) }),
    ...(state.documentChangedAt === undefined
      ? {}
      : { documentChangedAt: formatInstant(state.documentChangedAt) }),
    ...(state.firstCountAt === undefined ? {} : { firstCountAt: formatInstant(state.firstCountAt) }),
  };
}

function historyToJson(history: LoadHistory): Readonly<Record<string, unknown>> {
  const seasons = history.seasons.map((season) => ({ ...season, at: formatInstant(season.at) }));
  return { ...history, seasons };
}

function forecastToJson(state: ForecastState): Readonly<Record<string, unknown>> {
  const { replicas, lastScaleUp, lastScaleDown, scaleEvents } = state.reactive;
  return {
    at: formatInstant(state.at),
    minutes: state.minutes.map((minute) => ({ ...minute, at: formatInstant(minute.at) })),
    reactive: {
      replicas,
      lastScaleUp: instantOrNull(lastScaleUp),
      lastScaleDown: instantOrNull(lastScaleDown),
      scaleEvents: scaleEvents.map(eventToJson),
    },
    proposals: state.proposals.map(recommendationToJson),
    spent: state.spent.map((part) => ({ ...part, from: formatInstant(part.from) })),
    raises: state.raises.map((raise) => ({
      ...raise,
      from: formatInstant(raise.from),
      until: formatInstant(raise.until),
    })),
  };
}

function eventToJson({ at, change, earliest }: ScaleEvent): Readonly<Record<string, unknown>> {
  const first = earliest === undefined ? {} : { earliest: formatInstant(earliest) };
  return { at: formatInstant(at), change, ...first };
}

function saturationToJson({ since, served, step }: Saturation): Readonly<Record<string, unknown>> {
  const ofStep = step === null ? {} : { stepAt: formatInstant(step.at), stepTo: step.to };
  return { since: instantOrNull(since), served, ...ofStep };
}

function recommendationToJson({ at, replicas }: Recommendation): Readonly<Record<string, unknown>> {
  return { at: formatInstant(at), replicas };
}

function mapToJson<T>(
  map: ReadonlyMap<string, T>,
  write: (value: T) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...map].map(([name, value]) => [name, write(value)]));
}
