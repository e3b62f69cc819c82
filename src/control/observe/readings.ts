import type { Answer } from '../../prometheus/answers/answer.js';
import type { RoundAnswers } from '../../prometheus/planner.js';
import type { SourceAge } from '../../prometheus/source-age.js';
import type { MetricSpec } from '../../scaler/spec.js';

/** Returns the names of the sources that have answered, each once. */
export function answeringSources(
  metrics: readonly MetricSpec[],
  results: readonly Answer[],
): readonly string[] {
  const names: string[] = [];
  let index = 0;
  for (const { source } of metrics)
    if (results[index++]?.class !== 'failed' && !names.includes(source)) names.push(source);
  return names;
}

/** Never rejects. */
export async function readAges(
  names: Iterable<string>,
  answers: RoundAnswers,
): Promise<ReadonlyMap<string, SourceAge>> {
  // All are asked before the first is awaited.
  const asked = Array.from(names, (name) => [name, answers.ageOf(name)] as const);
  const ages = new Map<string, SourceAge>();
  for (const [name, age] of asked) ages.set(name, await age);
  return ages;
}
