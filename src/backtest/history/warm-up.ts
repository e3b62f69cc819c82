import type { Load } from '../simulation/load.js';
import type { Scaler, ScalingRules } from '../../scaler/spec.js';
import { addSeconds, type Instant, instantFromMs, secondsBetween } from '../../units/time.js';

/** Minimum warm-up: `--recommend` tries longer windows than the windows of the documents. */
const MIN_WARM_UP_SECONDS = 3600;

/**
 * Returns the length of the warm-up: the seconds before the scored time that windows and forecasts need. A multiple of
 * the step.
 */
export function warmUpOf(scalers: readonly Scaler[], stepSeconds: number): number {
  const ofForecasts = scalers.map((scaler) => lookbackSeconds(scaler));
  const wanted = Math.max(MIN_WARM_UP_SECONDS, ...scalers.map(longestWindowSeconds), ...ofForecasts);
  return Math.ceil(wanted / stepSeconds) * stepSeconds;
}

/**
 * Returns the part of the warm-up with recorded values, in seconds before `start`. `observed`: see `observedOfColumn`.
 */
export function knownWarmUpSeconds(
  observed: Load,
  {
    start,
    stepSeconds,
    warmUpSeconds,
  }: { readonly start: Instant; readonly stepSeconds: number; readonly warmUpSeconds: number },
): number {
  const known = knownSince(observed, stepSeconds);
  if (known === null || known >= start) return 0;
  const begin = addSeconds(start, -warmUpSeconds);
  // Values are at multiples of the step, so even a full warm-up may start up to a step after `begin`.
  return known < addSeconds(begin, stepSeconds) ? warmUpSeconds : secondsBetween(known, start);
}

/** Returns the time of the first value; null: there are no values. */
export function knownSince(observed: Load, stepSeconds: number): Instant | null {
  const { times, values } = observed.data;
  const time = times[values.findIndex((value) => !Number.isNaN(value))];
  // Adds half a step, because each value in `observed` starts half a step before its time.
  return time === undefined ? null : addSeconds(instantFromMs(time), stepSeconds / 2);
}

/** Returns for how many seconds earlier decisions affect the decisions of a document. Excludes the forecast. */
export function longestWindowSeconds({ spec }: Scaler): number {
  const { behavior, downscaleConfirmation, fallback } = spec;
  return Math.max(
    spec.downscaleStabilizationSeconds,
    spec.upscaleForbiddenWindowSeconds,
    spec.downscaleForbiddenWindowSeconds,
    downscaleConfirmation?.seconds ?? 0,
    fallback?.afterSeconds ?? 0,
    spec.minReplicas === 0 ? spec.cooldownSeconds : 0,
    ...[behavior?.scaleUp, behavior?.scaleDown].map(windowOfRules),
  );
}

/** Returns how many seconds the forecast looks back; 0: the document has no forecast. */
export function lookbackSeconds({ spec }: Scaler): number {
  return (spec.forecast?.lookbackDays ?? 0) * 86_400;
}

function windowOfRules(rules: ScalingRules | undefined): number {
  if (rules === undefined) return 0;
  return Math.max(
    rules.stabilizationWindowSeconds,
    ...rules.policies.map(({ periodSeconds }) => periodSeconds),
  );
}
