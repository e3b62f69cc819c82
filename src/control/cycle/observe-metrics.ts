import { advanceHolds } from '../../prometheus/recovery-hold.js';
import { toSamples } from '../../prometheus/samples.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import type { ObserveMetrics } from './ports.js';

/**
 * Returns a function that converts the answers of a scaler to samples with the current pods, and advances the recovery
 * hold.
 */
export function metricObserver(settings: {
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly recoveryHoldMaxSeconds: number;
}): ObserveMetrics {
  const { recoveryHoldMaxSeconds } = settings;
  return ({ scaler, memory, readings, now, pods, sources = settings.sources }) => {
    const { results, ages } = readings;
    const samples = toSamples(scaler, results, { pods, now, sources });
    const { holds, holdScaleDownUntil, holdReason } = advanceHolds(memory.holds, {
      scaler,
      samples,
      answers: results,
      ages,
      sources,
      now,
      maxSeconds: recoveryHoldMaxSeconds,
    });
    return { samples, holds, holdScaleDownUntil, holdReason };
  };
}
