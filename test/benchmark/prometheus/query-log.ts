/** Queries of the benchmark's documents, as in `scale/documents.ts`. */
export type QueryKind = 'resource' | 'own' | 'shared' | 'other';

export interface KindCost {
  readonly kind: QueryKind;
  readonly queries: number;
  /** Of all of them, in the engine, without the time in its queue. */
  readonly engineSeconds: number;
}

interface LogLine {
  readonly params: { readonly query: string };
  readonly stats: { readonly timings: { readonly evalTotalTime: number } };
}

/** `log`: the query log of Prometheus, a JSON object per line. A line that is not complete yet is ignored. */
export function costOfKinds(log: string): readonly KindCost[] {
  const costs = new Map<QueryKind, { queries: number; engineSeconds: number }>();
  for (const line of log.slice(0, log.lastIndexOf('\n') + 1).split('\n')) {
    if (line === '') continue;
    const { params, stats } = JSON.parse(line) as LogLine;
    const kind = kindOf(params.query);
    const cost = costs.get(kind) ?? { queries: 0, engineSeconds: 0 };
    costs.set(kind, cost);
    cost.queries += 1;
    cost.engineSeconds += stats.timings.evalTotalTime;
  }
  return [...costs].map(([kind, cost]) => ({ kind, ...cost })).toSorted((a, b) => b.queries - a.queries);
}

function kindOf(query: string): QueryKind {
  if (query.startsWith('sum by (namespace, pod, container)')) return 'resource';
  if (query.startsWith('sum by (pod)')) return 'own';
  return query.startsWith('sum by (service, pod)') ? 'shared' : 'other';
}
