import { advanceHolds } from '../../prometheus/recovery-hold.js';
import { toSamples } from '../../prometheus/samples.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { scalerKey } from '../../scaler/spec.js';
import type { ObserveMetrics } from '../ports/ports.js';
import type { Admission } from '../rounds/admission.js';

/**
 * Returns a function that waits for the query results of a scaler, converts them to samples with the current pods, and
 * advances the recovery hold.
 */
export function metricObserver(settings: {
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly recoveryHoldMaxSeconds: number;
  /** Spreads cycles that wait for the same response over turns of the event loop. Default: all continue at once. */
  readonly admission?: Admission;
}): ObserveMetrics {
  const { sources, recoveryHoldMaxSeconds, admission } = settings;
  return async ({ scaler, memory, answers, now, readPods }) => {
    const results = await answers.of(scalerKey(scaler));
    const working = scaler.spec.metrics.filter((_, index) => results[index]?.class !== 'failed');
    const names = [...new Set(working.map(({ source }) => source))];
    // Read after the results: the server may have restarted since an earlier read, whose age would then not
    // apply to the new results.
    const ages = await Promise.all(names.map(async (name) => [name, await answers.ageOf(name)] as const));
    await admission?.();
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
