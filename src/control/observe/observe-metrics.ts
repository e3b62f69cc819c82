import { advanceHolds } from '../../prometheus/recovery-hold.js';
import { toSamples } from '../../prometheus/samples.js';
import type { SourceConfig } from '../../prometheus/source-config.js';
import { scalerKey } from '../../scaler/spec.js';
import type { ObserveMetrics } from '../ports.js';

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
    const answered = await answers.of(scalerKey(scaler));
    const answering = scaler.spec.metrics.filter((_, index) => answered[index]?.class !== 'failed');
    const names = [...new Set(answering.map(({ source }) => source))];
    // After the answers: a server that is killed and back between the two would vouch for what its successor answers.
    const ages = await Promise.all(names.map(async (name) => [name, await answers.ageOf(name)] as const));
    const pods = readPods();
    const { samples } = toSamples(scaler, answered, { pods, now, sources });
    const { holds, holdScaleDownUntil, holdReason } = advanceHolds(memory.holds, {
      scaler,
      samples,
      ages: new Map(ages),
      sources,
      now,
      maxSeconds: recoveryHoldMaxSeconds,
    });
    return { pods, samples, holds, holdScaleDownUntil, holdReason };
  };
}
