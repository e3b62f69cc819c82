import type { Answer } from './answer.js';
import { indexByPod } from './series-index.js';

/** What a ranking query says of a scaler's pods. */
export type PodRanking =
  /** By pod. A pod without a series, or with NaN, is not in it; infinite and negative values are values here. */
  | { readonly kind: 'ranked'; readonly values: ReadonlyMap<string, number> }
  /** No series at all, which a query may well mean: no pod is to go before the others. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'unusable'; readonly message: string };

/**
 * The values of pods in the answer of a ranking query. An answer that may lack data ranks nobody: what is missing could
 * be just the pods that should go first.
 */
export function rankPods(answer: Answer, namespace: string, podNames: readonly string[]): PodRanking {
  if (answer.class === 'missing') return { kind: 'empty' };
  if (answer.class === 'partial')
    return { kind: 'unusable', message: `a part of it may lack: ${answer.why}` };
  if (answer.class !== 'value') return { kind: 'unusable', message: answer.message };
  const index = indexByPod(answer.series);
  const places = [index.get(namespace), index.get(null)];
  if (places.some((place) => place?.has(null) === true))
    return { kind: 'unusable', message: 'a series has no label "pod": aggregate by (pod)' };
  const values = new Map<string, number>();
  for (const name of podNames) {
    const series = places.flatMap((place) => place?.get(name) ?? []);
    if (series.length > 1)
      return { kind: 'unusable', message: `${series.length} series for pod "${name}": aggregate by (pod)` };
    const value = series[0]?.value ?? Number.NaN;
    if (!Number.isNaN(value)) values.set(name, value);
  }
  return { kind: 'ranked', values };
}
