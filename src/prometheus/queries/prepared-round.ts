import type { Scaler } from '../../scaler/spec.js';
import type { SourceConfig } from '../data-source/source-config.js';
import { querySuspect, resourceSuspect, type Suspect } from './duplicate-watch.js';
import {
  createRoundPlanner,
  type DueScaler,
  type NeededScaler,
  type PlannedPods,
  type PlannedQuery,
  type PlannedResource,
  type RoundPlan,
  type SuspectOfSource,
} from './round-plan.js';
import { type MetricNeed, metricNeeds, ownQuery, rankingNeed } from './compile.js';

/** What a round needs to know about its due scalers. The same in each round with the same scalers. */
export interface PreparedRound {
  readonly due: readonly DueScaler[];
  /** By the scaler of `due`: 10,000 names would be joined and hashed in each round. */
  readonly needs: ReadonlyMap<Scaler, NeededScaler>;
  readonly queries: readonly (readonly [string, PlannedQuery | PlannedPods])[];
  readonly rankings: readonly (readonly [string, PlannedQuery | PlannedPods])[];
  readonly resources: readonly (readonly [string, PlannedResource])[];
  readonly sourceNames: readonly string[];
  /** Each distinct suspect once, by source. */
  readonly suspects: ReadonlyMap<string, readonly Suspect[]>;
  /** The longest period. */
  readonly periodSeconds: number;
}

/** Prepares rounds, and keeps the last one of each sync period for later rounds with the same scalers. */
export interface RoundPreparation {
  /** Yields after each scaler that is new in the round. Other sources than in the last round change all queries. */
  readonly prepare: (
    due: readonly DueScaler[],
    sources: ReadonlyMap<string, SourceConfig>,
  ) => Generator<void, PreparedRound, void>;
}

/** More periods than a fleet has: a longer list would keep deleted documents in memory. */
const KEPT_PERIODS = 4;

export function createRoundPreparation(): RoundPreparation {
  const keptByPeriod = new Map<number, KeptRounds>();
  let sources: ReadonlyMap<string, SourceConfig> = new Map();

  /** A document is frozen, so its queries are built once. */
  const neededFor = (due: DueScaler, { last, before }: Partial<KeptRounds>): NeededScaler => {
    const { scaler, periodSeconds } = due;
    const known = last?.needs.get(scaler) ?? before?.needs.get(scaler);
    if (known?.periodSeconds === periodSeconds) return known;
    const metrics = metricNeeds(scaler, sources);
    const suspects = metrics.map((need, index) => suspectOf(need, scaler, index));
    return { scaler, periodSeconds, metrics, ranking: rankingNeed(scaler, sources), suspects };
  };
  const keep = (kept: KeptRounds): void => {
    const { periodSeconds } = kept.last;
    keptByPeriod.delete(periodSeconds);
    keptByPeriod.set(periodSeconds, kept);
    const [oldest] = keptByPeriod.keys();
    if (oldest !== undefined && keptByPeriod.size > KEPT_PERIODS) keptByPeriod.delete(oldest);
  };

  return {
    prepare: function* (due, ofRound) {
      if (ofRound !== sources) keptByPeriod.clear();
      sources = ofRound;
      const kept = keptByPeriod.get(longestPeriod(due));
      if (kept !== undefined && areSame(kept.last.due, due)) {
        keep({ last: kept.last, before: undefined });
        return kept.last;
      }
      const planner = createRoundPlanner();
      const needs = new Map<Scaler, NeededScaler>();
      for (const one of due) {
        const needed = neededFor(one, kept ?? {});
        needs.set(one.scaler, needed);
        planner.add(needed);
        yield;
      }
      const round = yield* preparedRound(due, needs, planner.plan());
      keep({ last: round, before: kept === undefined ? undefined : largerOf(kept) });
      return round;
    },
  };
}

/** `before`: the larger one of two that came before; undefined: the last round came twice, or was the first one. */
interface KeptRounds {
  readonly last: PreparedRound;
  readonly before: PreparedRound | undefined;
}

/** Between two rounds of all scalers, there may be several of new scalers alone. */
function largerOf({ last, before }: KeptRounds): PreparedRound {
  return before !== undefined && before.needs.size > last.needs.size ? before : last;
}

function* preparedRound(
  due: readonly DueScaler[],
  needs: ReadonlyMap<Scaler, NeededScaler>,
  plan: RoundPlan,
): Generator<void, PreparedRound, void> {
  const queries = [...plan.queries];
  const rankings = [...plan.rankings];
  const resources = [...plan.resources];
  yield;
  const names = [...queries, ...rankings, ...resources].map(([, { source }]) => source.name);
  yield;
  return {
    due,
    needs,
    queries,
    rankings,
    resources,
    sourceNames: [...new Set(names)],
    suspects: yield* suspectsBySource(needs, plan),
    periodSeconds: longestPeriod(due),
  };
}

function* suspectsBySource(
  needs: ReadonlyMap<Scaler, NeededScaler>,
  plan: RoundPlan,
): Generator<void, ReadonlyMap<string, readonly Suspect[]>, void> {
  const bySource = new Map<string, Map<string, Suspect>>();
  const add = (source: string, suspect: Suspect): void => {
    const suspects = bySource.get(source) ?? new Map<string, Suspect>();
    bySource.set(source, suspects);
    if (!suspects.has(suspect.key)) suspects.set(suspect.key, suspect);
  };
  for (const { source, resource, namespaces } of plan.resources.values())
    add(source.name, resourceSuspect(resource, [...namespaces.keys()]));
  for (const { suspects } of needs.values()) {
    for (const suspect of suspects) if (suspect?.kind === 'query') add(suspect.source, suspect);
    yield;
  }
  return new Map(Array.from(bySource, ([source, suspects]) => [source, [...suspects.values()]]));
}

function suspectOf(need: MetricNeed, scaler: Scaler, index: number): SuspectOfSource | null {
  if (need.kind === 'refused') return null;
  const source = need.source.name;
  if (need.kind === 'resource') return { source, ...resourceSuspect(need.resource, [scaler.namespace]) };
  const type = scaler.spec.metrics[index]?.type;
  return type === undefined ? null : { source, ...querySuspect(ownQuery(need), type) };
}

function longestPeriod(due: readonly DueScaler[]): number {
  return due.reduce((longest, { periodSeconds }) => Math.max(longest, periodSeconds), 0);
}

function areSame(one: readonly DueScaler[], other: readonly DueScaler[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ scaler, periodSeconds }, index) => {
      const same = other[index];
      return same?.scaler === scaler && same.periodSeconds === periodSeconds;
    })
  );
}
