import type { Answer } from './answers/answer.js';
import { columnsOf } from './answers/columns.js';

export type PodRanking =
  /** Maps pod names to values. Pods without series or with NaN are omitted. Values may be infinite or negative. */
  | { readonly kind: 'ranked'; readonly values: ReadonlyMap<string, number> }
  /** The query returned no series, which may be intended: no pod is preferred. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'unusable'; readonly message: string };

/**
 * Returns the value of each pod in the answer to a ranking query. A partial answer ranks no pods, because the missing
 * pods may be the ones to delete first.
 */
export function rankPods(answer: Answer, namespace: string, podNames: readonly string[]): PodRanking {
  if (answer.class === 'missing') return { kind: 'empty' };
  if (answer.class === 'partial')
    return { kind: 'unusable', message: `the answer may be incomplete: ${answer.why}` };
  if (answer.class !== 'value') return { kind: 'unusable', message: answer.message };
  const columns = columnsOf(answer);
  const { namespaces } = columns.layout;
  const candidates = [namespaces.get(namespace), namespaces.get(null)];
  if (candidates.some((series) => series?.pods.has(null) === true))
    return { kind: 'unusable', message: 'a series has no label "pod": aggregate by (pod)' };
  const values = new Map<string, number>();
  for (const name of podNames) {
    const found = candidates.flatMap((series) => series?.pods.get(name) ?? []);
    const [one] = found;
    if (found.length > 1)
      return { kind: 'unusable', message: `${found.length} series for pod "${name}": aggregate by (pod)` };
    const value = one === undefined ? Number.NaN : (columns.values[one] ?? Number.NaN);
    if (!Number.isNaN(value)) values.set(name, value);
  }
  return { kind: 'ranked', values };
}
