import { advanceHolds } from '../../prometheus/recovery-hold.js';
import { toSamples } from '../../prometheus/samples.js';
import type { Answer } from '../../prometheus/answers/answer.js';
import type { RoundAnswers } from '../../prometheus/planner.js';
import type { SourceAge } from '../../prometheus/source-age.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { scalerKey } from '../../scaler/spec.js';
import type { MetricSpec } from '../../scaler/spec.js';
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
  const readAges = ageReader();
  return async ({ scaler, memory, answers, now, readPods }) => {
    const results = await answers.of(scalerKey(scaler));
    // Read after the results: the server may have restarted since an earlier read, whose age would then not
    // apply to the new results.
    const ages = await readAges(workingSources(scaler.spec.metrics, results), answers);
    const turn = admission?.() ?? null;
    if (turn !== null) await turn;
    const pods = readPods();
    const { samples } = toSamples(scaler, results, { pods, now, sources });
    const { holds, holdScaleDownUntil, holdReason } = advanceHolds(memory.holds, {
      scaler,
      samples,
      ages,
      sources,
      now,
      maxSeconds: recoveryHoldMaxSeconds,
    });
    return { pods, samples, holds, holdScaleDownUntil, holdReason };
  };
}

/** Names of the sources that have answered, each once. */
function workingSources(metrics: readonly MetricSpec[], results: readonly Answer[]): readonly string[] {
  const names: string[] = [];
  let index = 0;
  for (const { source } of metrics)
    if (results[index++]?.class !== 'failed' && !names.includes(source)) names.push(source);
  return names;
}

type Ages = ReadonlyMap<string, SourceAge>;

const NO_AGES: Ages = new Map();

/** Scalers that share a reading of the age of their only source share the result. `ageOf` never rejects. */
function ageReader(): (names: readonly string[], answers: RoundAnswers) => Promise<Ages> {
  let last: { readonly name: string; readonly age: SourceAge; readonly ages: Ages } | null = null;
  return async (names, answers) => {
    const [name] = names;
    if (name === undefined) return NO_AGES;
    if (names.length === 1) {
      const age = await answers.ageOf(name);
      if (last?.name !== name || last.age !== age) last = { name, age, ages: new Map([[name, age]]) };
      return last.ages;
    }
    // All are asked before the first is awaited.
    const asked = names.map((each) => [each, answers.ageOf(each)] as const);
    const ages = new Map<string, SourceAge>();
    for (const [each, age] of asked) ages.set(each, await age);
    return ages;
  };
}
