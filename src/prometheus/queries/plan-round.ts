import type { PodsPattern } from '../../promql/pods-pattern.js';
import type { Scaler } from '../../scaler/spec.js';
import { type Clock, periodicYield } from '../../units/clock.js';
import { groupBy } from '../../units/maps.js';
import { INTERNAL_ERROR } from '../../units/failure.js';
import type { SourceConfig } from '../data-source/source-config.js';
import type { QueryOwner } from '../source/fair-slots.js';
import { type DuplicateCandidate, resourceCandidate } from './duplicates.js';
import { createNamespaceQueries, type NamespaceQueries } from './namespaces.js';
import { type ScalerQueries, compileScaler, type CompiledQuery } from './compile-queries.js';
import { createWorkloadQueries, type WorkloadQueries } from './workloads.js';

/** The queries of a round, each distinct query once. All scalers of a plan have the same sync period. */
export interface Plan {
  readonly periodSeconds: number;
  /** The data sources for which the queries were compiled. */
  readonly sources: Sources;
  readonly scalers: readonly ScalerQueries[];
  readonly queriesOf: ReadonlyMap<Scaler, ScalerQueries>;
  readonly queries: readonly PlannedQuery[];
  /** Queries that rank pods, except those that are also queries of metrics. */
  readonly rankings: readonly PlannedQuery[];
  /** Maps the key of an answer to the indexes of the scalers that need the answer for their decision. */
  readonly waiting: ReadonlyMap<string, readonly number[]>;
  /** Maps the name of a data source to the queries that are checked for duplicates. Each query occurs once. */
  readonly candidates: ReadonlyMap<string, readonly DuplicateCandidate[]>;
}

type Sources = ReadonlyMap<string, SourceConfig>;

/** Has the same kinds as `CompiledQuery`. */
export type PlannedQuery =
  | {
      readonly kind: 'alone';
      readonly source: SourceConfig;
      readonly text: string;
      /** The key of the answer. */
      readonly key: string;
      /** Maps a namespace to one of its scalers that need the query. */
      readonly owners: Map<string, QueryOwner>;
    }
  | {
      readonly kind: 'byNamespace';
      readonly source: SourceConfig;
      readonly resource: string;
      /** Maps a namespace to the number of scalers that need this resource. */
      readonly namespaces: Map<string, number>;
      readonly keys: Map<string, string>;
      readonly merged: NamespaceQueries;
    }
  | {
      readonly kind: 'byPod';
      readonly source: SourceConfig;
      /** Maps the text of a pattern to the pattern. */
      readonly patterns: Map<string, PodsPattern>;
      readonly keys: Map<string, string>;
      readonly owners: Map<string, QueryOwner>;
      readonly merged: WorkloadQueries;
    };

export type PlannedQueryOf<K extends PlannedQuery['kind']> = Extract<PlannedQuery, { readonly kind: K }>;

export interface RoundPlanner {
  /** Compiles the queries of these scalers and forgets other queries. Yields to the event loop every 20 ms. */
  readonly compile: (scalers: readonly Scaler[], sources: Sources) => Promise<void>;
  /**
   * Returns a plan that has the due scalers, which must have the same sync period. If they are at least half of the
   * compiled scalers with that period, it is the plan of all of these, which is the same object until the scalers or
   * `sources` change: another plan for 10,000 scalers takes 0.2 s of CPU, and other queries, whose labels are parsed
   * again. If `sources` is another map object, all queries are compiled again.
   */
  readonly planFor: (due: readonly Scaler[], sources: Sources) => Promise<Plan>;
}

export function createRoundPlanner(clock: Clock, onFault: (error: unknown) => void): RoundPlanner {
  let compiled: ReadonlyMap<Scaler, ScalerQueries> = new Map();
  let sources: Sources = new Map();
  /** Maps a sync period in seconds to the plan of the scalers with that period. */
  let plans: ReadonlyMap<number, Plan> = new Map();
  const memory: Memory = { namespaces: new Map(), workloads: new Map(), onFault };

  /** If compiling one scaler fails with an internal error, the others are still compiled. */
  const compileOne = (scaler: Scaler): ScalerQueries => {
    try {
      return compileScaler(scaler, sources);
    } catch (error) {
      onFault(error);
      const metrics = scaler.spec.metrics.map(() => ({ kind: 'refused', answer: INTERNAL_ERROR }) as const);
      return { scaler, metrics, ceiling: null, awaited: [], ranking: null };
    }
  };
  const compile = async (scalers: Iterable<Scaler>, current: Sources): Promise<void> => {
    const known = current === sources ? compiled : new Map<Scaler, ScalerQueries>();
    sources = current;
    const next = new Map<Scaler, ScalerQueries>();
    const yieldIfDue = periodicYield(clock);
    for (const scaler of scalers) {
      next.set(scaler, known.get(scaler) ?? compileOne(scaler));
      await yieldIfDue();
    }
    compiled = next;
    plans = new Map(
      Array.from(groupBy(next.values(), periodOf), ([period, queries]) => [
        period,
        planQueries(queries, { memory, sources: current }),
      ]),
    );
    forgetOthers(memory, plans.values());
  };

  return {
    compile,
    planFor: async (due, current) => {
      if (current !== sources) await compile(compiled.keys(), current);
      const plan = plans.get(due[0]?.spec.syncPeriodSeconds ?? 0);
      const isMost = plan !== undefined && 2 * due.length >= plan.scalers.length;
      if (isMost && due.every((scaler) => compiled.has(scaler))) return plan;
      return planQueries(
        due.map((scaler) => compiled.get(scaler) ?? compileOne(scaler)),
        { memory, sources },
      );
    },
  };
}

function periodOf({ scaler }: ScalerQueries): number {
  return scaler.spec.syncPeriodSeconds;
}

/** The merged queries by `mergedKey`. They remember earlier rounds. */
interface Memory {
  readonly namespaces: Map<string, NamespaceQueries>;
  readonly workloads: Map<string, WorkloadQueries>;
  readonly onFault: (error: unknown) => void;
}

function forgetOthers(memory: Memory, plans: Iterable<Plan>): void {
  const used = new Set<unknown>();
  for (const { queries, rankings } of plans)
    for (const query of [...queries, ...rankings]) if (query.kind !== 'alone') used.add(query.merged);
  for (const learned of [memory.namespaces, memory.workloads])
    for (const [key, merged] of learned) if (!used.has(merged)) learned.delete(key);
}

function planQueries(
  scalers: readonly ScalerQueries[],
  { memory, sources }: { readonly memory: Memory; readonly sources: Sources },
): Plan {
  const queries = new Map<string, PlannedQuery>();
  const waiting = new Map<string, number[]>();
  for (const [index, { scaler, awaited }] of scalers.entries())
    for (const query of awaited) {
      addQuery(queries, query, { scaler, memory });
      const indexes = waiting.get(query.key);
      if (indexes === undefined) waiting.set(query.key, [index]);
      else indexes.push(index);
    }
  const rankings = new Map<string, PlannedQuery>();
  for (const { scaler, ranking } of scalers)
    if (ranking !== null && ranking.kind !== 'refused' && !waiting.has(ranking.key))
      addQuery(rankings, ranking, { scaler, memory });
  return {
    periodSeconds: scalers[0] === undefined ? 0 : periodOf(scalers[0]),
    sources,
    scalers,
    queriesOf: new Map(scalers.map((one) => [one.scaler, one])),
    queries: [...queries.values()],
    rankings: [...rankings.values()],
    waiting,
    candidates: candidatesBySource(scalers, queries.values()),
  };
}

function addQuery(
  queries: Map<string, PlannedQuery>,
  query: CompiledQuery,
  { scaler, memory }: { readonly scaler: Scaler; readonly memory: Memory },
): void {
  const { namespace, name } = scaler;
  const key = query.kind === 'alone' ? query.key : query.mergedKey;
  let planned = queries.get(key);
  if (planned === undefined) queries.set(key, (planned = emptyQuery(query, memory)));
  if (planned.kind !== 'byNamespace' && !planned.owners.has(namespace))
    planned.owners.set(namespace, { namespace, scaler: name });
  if (query.kind === 'byNamespace' && planned.kind === 'byNamespace') {
    planned.namespaces.set(namespace, (planned.namespaces.get(namespace) ?? 0) + 1);
    planned.keys.set(namespace, query.key);
  } else if (query.kind === 'byPod' && planned.kind === 'byPod') {
    planned.patterns.set(query.pods, query.pattern);
    planned.keys.set(query.pods, query.key);
  }
}

function emptyQuery(query: CompiledQuery, memory: Memory): PlannedQuery {
  const { kind, source } = query;
  const { onFault } = memory;
  if (kind === 'alone') return { kind, source, text: query.text, key: query.key, owners: new Map() };
  const { mergedKey: key } = query;
  if (kind === 'byNamespace') {
    const { resource } = query;
    const merged = memory.namespaces.get(key) ?? createNamespaceQueries(resource, onFault);
    memory.namespaces.set(key, merged);
    return { kind, source, resource, namespaces: new Map(), keys: new Map(), merged };
  }
  const merged = memory.workloads.get(key) ?? createWorkloadQueries(query.text, onFault);
  memory.workloads.set(key, merged);
  return { kind, source, patterns: new Map(), keys: new Map(), owners: new Map(), merged };
}

function candidatesBySource(
  scalers: readonly ScalerQueries[],
  queries: Iterable<PlannedQuery>,
): ReadonlyMap<string, readonly DuplicateCandidate[]> {
  const bySource = new Map<string, Map<string, DuplicateCandidate>>();
  const add = ({ name }: SourceConfig, candidate: DuplicateCandidate): void => {
    const candidates = bySource.get(name) ?? new Map<string, DuplicateCandidate>();
    bySource.set(name, candidates);
    if (!candidates.has(candidate.key)) candidates.set(candidate.key, candidate);
  };
  for (const query of queries)
    if (query.kind === 'byNamespace')
      add(query.source, resourceCandidate(query.resource, query.namespaces.keys()));
  for (const { scaler, metrics } of scalers)
    for (const [index, { type }] of scaler.spec.metrics.entries()) {
      const query = metrics[index];
      if (query === undefined || query.kind === 'refused' || query.kind === 'byNamespace') continue;
      add(query.source, { kind: 'query', key: query.key, query, type });
    }
  return new Map(Array.from(bySource, ([source, candidates]) => [source, [...candidates.values()]]));
}
