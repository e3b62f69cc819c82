import { advanceHolds } from '../../prometheus/recovery-hold.js';
import { toSamples } from '../../prometheus/samples.js';
import type { SourceConfig } from '../../prometheus/source-config.js';
import { scalerKey } from '../../scaler/spec.js';
import type { ObserveMetrics } from '../ports.js';

/**
 * Returns a function that waits for the query results of a scaler, converts them to samples with the pods of that
 * moment, and advances the recovery hold.
 */
export function metricObserver(settings: {
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly recoveryHoldMaxSeconds: number;
}): ObserveMetrics {
  const { sources, recoveryHoldMaxSeconds } = settings;
  return async ({ scaler, memory, answers, now, readPods }) => {
    const results = await answers.of(scalerKey(scaler));
    const working = scaler.spec.metrics.filter((_, index) => results[index]?.class !== 'failed');
    const names = [...new Set(working.map(({ source }) => source))];
    // Read after the results: an earlier age could be that of a server that has restarted since, and would vouch for
    // the results of the new one.
    const ages = await Promise.all(names.map(async (name) => [name, await answers.ageOf(name)] as const));
    const pods = readPods();
    const { samples } = toSamples(scaler, results, { pods, now, sources });
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
