import { advanceHolds } from '../prometheus/recovery-hold.js';
import { toSamples } from '../prometheus/samples.js';
import type { SourceConfig } from '../prometheus/source-config.js';
import { scalerKey } from '../scaler/spec.js';
import type { Instant } from '../units/time.js';
import type { ObserveMetrics } from './ports.js';

/**
 * Waits for the scaler's answers and makes samples of them, read against the pods as they are by then; then the
 * recovery hold that follows from the samples.
 */
export function metricObserver(settings: {
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly recoveryHoldMaxSeconds: number;
}): ObserveMetrics {
  const { sources, recoveryHoldMaxSeconds } = settings;
  return async ({ scaler, memory, answers, now, readPods }) => {
    const asked = [...new Set(scaler.spec.metrics.map(({ source }) => source))];
    const [answered, startTimes] = await Promise.all([
      answers.of(scalerKey(scaler)),
      Promise.all(asked.map(async (name) => [name, await answers.startTime(name)] as const)),
    ]);
    const pods = readPods();
    const { samples } = toSamples(scaler, answered, { pods, now, sources });
    const { holds, holdScaleDownUntil, holdReason } = advanceHolds(memory.holds, {
      scaler,
      samples,
      startTimes: new Map<string, Instant | null>(startTimes),
      sources,
      now,
      maxSeconds: recoveryHoldMaxSeconds,
    });
    return { pods, samples, holds, holdScaleDownUntil, holdReason };
  };
}
