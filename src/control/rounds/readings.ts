import type { Answer } from '../../prometheus/answers/answer.js';
import type { RoundAnswers } from '../../prometheus/metric-source.js';
import { ageKey, type SourceAge, urlIndexOf } from '../../prometheus/source/age.js';
import type { MetricSpec } from '../../scaler/spec.js';

/** The servers that have answered, by `ageKey`. */
export type AnsweringServers = Map<
  string,
  { readonly source: string; readonly urlIndex: number | undefined }
>;

/** Adds the servers that have answered. */
export function addServers(
  servers: AnsweringServers,
  metrics: readonly MetricSpec[],
  results: readonly Answer[],
): AnsweringServers {
  let index = 0;
  for (const { source } of metrics) {
    const answer = results[index++];
    if (answer?.class === 'failed') continue;
    const key = ageKey(source, answer);
    if (!servers.has(key)) servers.set(key, { source, urlIndex: urlIndexOf(answer) });
  }
  return servers;
}

export async function readAges(
  servers: AnsweringServers,
  answers: RoundAnswers,
): Promise<ReadonlyMap<string, SourceAge>> {
  const asked = Array.from(
    servers,
    async ([key, { source, urlIndex }]) => [key, await answers.ageOf(source, urlIndex)] as const,
  );
  return new Map(await Promise.all(asked));
}
