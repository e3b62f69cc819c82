import { type Scaler, scalerKey } from '../scaler/spec.js';
import type { Clock } from '../units/clock.js';
import type { Answer } from './answers/answer.js';
import { createPrometheusClient, type PrometheusClient } from './client/client.js';
import {
  createDuplicateWatch,
  type DuplicateWatch,
  querySuspect,
  resourceSuspect,
  type Suspect,
} from './duplicate-watch.js';
import { applyChecks, type MetricChecks } from './metric-checks.js';
import { createQueryQueue, type QueryQueue, type QueryReport } from './query-queue.js';
import { createRefusedQueries, type RefusedQueries } from './refused-queries.js';
import {
  type DueScaler,
  type Needs,
  type NeededScaler,
  type PlannedQuery,
  type PlannedResource,
  planRound,
  type RoundPlan,
  type SuspectOfSource,
} from './round-plan.js';
import { createRecognition, type Recognition } from './recognition.js';
import { createResourceBatches, type ResourceBatches } from './resource-batches.js';
import { metricNeeds, queryKey, rankingNeed, type MetricNeed } from './scaler-queries.js';
import { createSourceAges, type SourceAge, type SourceAges, UNKNOWN_AGE } from './source-age.js';
import type { SourceConfig } from './data-source/source-config.js';

export interface RoundAnswers {
  /**
   * Returns the answers for a due scaler, in the order of `spec.metrics`. Waits only for the queries of that scaler.
   * Rejects only for a scaler that is not due.
   */
  readonly of: (scalerKey: string) => Promise<readonly Answer[]>;
  /**
   * Returns the answer to the query that ranks the pods of a due scaler; null if its document has no such query. The
   * query is sent after the metrics of the round, and only the caller waits for it. Unset: the source ranks no pods.
   * Never rejects.
   */
  readonly ranking?: (scalerKey: string) => Promise<Answer | null>;
  /**
   * Returns which metrics of a due scaler count duplicate series, as sentences, by the last check; null: no check has
   * found any. Unset: the source does not check.
   */
  readonly duplicates?: (scalerKey: string) => readonly string[] | null;
  /** Returns the age of a source's data, read after this call. Never rejects. */
  readonly ageOf: (source: string) => Promise<SourceAge>;
}

interface MetricSource {
  /**
   * Sends each distinct query of the due scalers once. All are sent at the same time, within the limits of the sources.
   */
  readonly startRound: (due: readonly DueScaler[], signal: AbortSignal) => RoundAnswers;
}

export interface MetricSourceOptions {
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly clock: Clock;
  readonly onQuery: (report: QueryReport) => void;
  /** Called once, with a corrected config, if the server of a source is not what its config assumes. */
  readonly onRecognized?: (config: SourceConfig) => void;
  /** Whether to check for duplicate series; default: false. */
  readonly seeksDuplicates?: boolean;
  /** Called after each round with the largest number of copies of any series of a source. */
  readonly onDuplicates?: (source: string, times: number) => void;
  readonly createClient?: (config: SourceConfig, clock: Clock) => PrometheusClient;
}

const RECOGNIZE_SECONDS = 2;
const LOOK_SECONDS = 10;
interface KnownSource {
  readonly queue: QueryQueue;
  readonly recognition: Recognition;
  readonly ages: SourceAges;
  readonly duplicates: DuplicateWatch | null;
  /** By flavor, resource and query. */
  readonly batches: Map<string, ResourceBatches>;
  readonly refused: RefusedQueries;
}

export function createMetricSource(options: MetricSourceOptions): MetricSource {
  const { sources, clock, onQuery, createClient = createPrometheusClient } = options;
  const { onRecognized = () => undefined, onDuplicates = () => undefined, seeksDuplicates = false } = options;
  const known = new Map<string, KnownSource>();
  for (const [name, config] of sources) {
    const client = createClient(config, clock);
    const queue = createQueryQueue({ config, client, clock, onQuery });
    const recognition = createRecognition({ config, client, onRecognized });
    known.set(name, {
      queue,
      recognition,
      duplicates: seeksDuplicates ? createDuplicateWatch({ config: recognition.config, clock }) : null,
      ages: createSourceAges({ queue, clock }),
      batches: new Map(),
      refused: createRefusedQueries(clock),
    });
  }
  /** A document is frozen, so its queries are built once. */
  const needsOf = new WeakMap<Scaler, Needs>();
  let rounds = 0;

  return {
    startRound: (due, signal) => {
      rounds += 1;
      const needed = due.map(({ scaler, periodSeconds }) => {
        let needs = needsOf.get(scaler);
        if (needs === undefined) {
          const metrics = metricNeeds(scaler, sources);
          const suspects = metrics.map((need, index) => suspectOf(need, scaler, index));
          needs = { metrics, ranking: rankingNeed(scaler, sources), suspects };
          needsOf.set(scaler, needs);
        }
        return { scaler, periodSeconds, ...needs };
      });
      const plan = planRound(needed);
      for (const [name, { duplicates }] of known)
        if (duplicates !== null) onDuplicates(name, duplicates.highestCount());
      return runRound({ plan, needed, known, signal, round: rounds });
    },
  };
}

type ResourceBatch = (namespace: string) => Promise<Answer>;

interface RoundInput {
  readonly plan: RoundPlan;
  readonly needed: readonly NeededScaler[];
  readonly known: ReadonlyMap<string, KnownSource>;
  readonly signal: AbortSignal;
  readonly round: number;
}

function runRound(input: RoundInput): RoundAnswers {
  const { plan, needed, known, signal, round } = input;
  const recognizing = new Map<string, Promise<void> | null>();
  const sources = [...plan.queries.values(), ...plan.rankings.values(), ...plan.resources.values()];
  for (const name of new Set(sources.map(({ source }) => source.name)))
    recognizing.set(name, mustGet(known, name).recognition.begin({ seconds: RECOGNIZE_SECONDS, signal }));
  const byResource = new Map<string, ResourceBatch>();
  const askResource = ([key, { source, resource, namespaces, seconds }]: [string, PlannedResource]): void => {
    const { queue, batches, recognition, duplicates } = mustGet(known, source.name);
    const ask = (query: string): Promise<Answer> => queue.ask(query, { seconds, signal, round });
    const begin = (): ResourceBatch => {
      const recognized = recognition.config();
      const config = duplicates?.adaptConfig(recognized) ?? recognized;
      const form = `${config.flavor}\n${resource}\n${config.resourceQueries[resource] ?? ''}`;
      let batch = batches.get(form);
      if (batch === undefined) batches.set(form, (batch = createResourceBatches(config, resource)));
      return batch.ask(namespaces, ask);
    };
    const look = (): Promise<void> | null =>
      duplicates?.firstCheck(resourceSuspect(resource, [...namespaces.keys()]), ask) ?? null;
    const recognized = recognizing.get(source.name) ?? null;
    const waiting = recognized === null ? look() : recognized.then(look);
    const begun = waiting === null ? begin() : waiting.then(begin);
    byResource.set(key, async (namespace) => (await begun)(namespace));
  };
  const byQuery = new Map<string, Promise<Answer>>();
  const askQuery = ([key, { source, query, periodSeconds, seconds }]: [string, PlannedQuery]): void => {
    const { queue, refused } = mustGet(known, source.name);
    const ask = (): Promise<Answer> => queue.ask(query, { seconds, signal, round });
    const waiting = recognizing.get(source.name) ?? null;
    const asking = (): Promise<Answer> => (waiting === null ? ask() : waiting.then(ask));
    byQuery.set(key, refused.ask(query, periodSeconds, asking));
  };
  const asks = [
    ...Array.from(plan.resources, (entry) => () => askResource(entry)),
    ...Array.from(plan.queries, (entry) => () => askQuery(entry)),
  ];
  const last = Array.from(plan.rankings, (entry) => () => askQuery(entry));
  for (const ask of [...rotate(asks, round), ...rotate(last, round)]) ask();
  // The queries of a source may change once its server is recognized, so the check waits for that.
  checkDuplicates(input, (source) => (recognizing.get(source) ?? null) === null);
  const needsByScaler = new Map<string, NeededScaler>();
  for (const one of needed) needsByScaler.set(scalerKey(one.scaler), one);
  const periodSeconds = needed.reduce((longest, one) => Math.max(longest, one.periodSeconds), 0);

  const answerOf = (need: MetricNeed, scaler: Scaler): Promise<Answer> => {
    if (need.kind === 'refused') return Promise.resolve(need.answer);
    const { source } = need;
    if (need.kind === 'resource') return mustGet(byResource, need.key)(scaler.namespace);
    const answer = mustGet(byQuery, need.key);
    if (need.checks === null) return answer;
    return checkedAnswer(answer, need.checks, (query) => mustGet(byQuery, queryKey(source, query)));
  };

  return {
    of: async (key) => {
      const { scaler, metrics } = mustGet(needsByScaler, key);
      return Promise.all(metrics.map((need) => answerOf(need, scaler)));
    },
    ranking: async (key) => {
      const known = needsByScaler.get(key);
      return known === undefined || known.ranking === null ? null : answerOf(known.ranking, known.scaler);
    },
    duplicates: (key) => {
      const { scaler, suspects } = mustGet(needsByScaler, key);
      const told = suspects.flatMap((suspect, index) => {
        const words =
          suspect === null
            ? null
            : mustGet(known, suspect.source).duplicates?.describe(suspect, scaler.namespace);
        return words == null
          ? []
          : [words === '' ? '' : `metric "${scaler.spec.metrics[index]?.identity ?? ''}": ${words}`];
      });
      return told.length === 0 ? null : told.filter((words) => words !== '');
    },
    ageOf: async (source) => {
      const ages = known.get(source)?.ages;
      return ages === undefined ? UNKNOWN_AGE : ages.read({ periodSeconds, signal, round });
    },
  };
}

/** Checks at most one suspect per source and round. */
function checkDuplicates(
  { plan, needed, known, signal, round }: RoundInput,
  isKnown: (source: string) => boolean,
): void {
  const bySource = new Map<string, Suspect[]>();
  const add = (source: string, suspect: Suspect): void => {
    const suspects = bySource.get(source);
    if (suspects === undefined) bySource.set(source, [suspect]);
    else suspects.push(suspect);
  };
  for (const { source, resource, namespaces } of plan.resources.values())
    add(source.name, resourceSuspect(resource, [...namespaces.keys()]));
  for (const { suspects } of needed)
    for (const suspect of suspects) if (suspect?.kind === 'query') add(suspect.source, suspect);
  for (const [name, suspects] of bySource) {
    if (!isKnown(name)) continue;
    const { queue, duplicates } = mustGet(known, name);
    duplicates?.checkOne(suspects, (query) => queue.ask(query, { seconds: LOOK_SECONDS, signal, round }));
  }
}

function suspectOf(need: MetricNeed, scaler: Scaler, index: number): SuspectOfSource | null {
  if (need.kind === 'refused') return null;
  const source = need.source.name;
  if (need.kind === 'resource') return { source, ...resourceSuspect(need.resource, [scaler.namespace]) };
  const type = scaler.spec.metrics[index]?.type;
  return type === undefined ? null : { source, ...querySuspect(need.query, type) };
}

async function checkedAnswer(
  asked: Promise<Answer>,
  checks: MetricChecks,
  answerTo: (query: string) => Promise<Answer>,
): Promise<Answer> {
  const [answer, guard, freshness] = await Promise.all([
    asked,
    checks.guard === null ? null : answerTo(checks.guard),
    checks.freshness === null ? null : answerTo(checks.freshness.query),
  ]);
  return applyChecks(checks, { answer, guard, freshness });
}

/**
 * Starts with a different query in each round. Otherwise the same queries would always miss a round that is too short,
 * and the same query would always be the one that tests a failing source.
 */
function rotate<T>(list: readonly T[], round: number): readonly T[] {
  if (list.length === 0) return list;
  const start = Math.floor((round * 0.618_033_988_749_895 * list.length) % list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

function mustGet<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`${String(key)} is not part of this round`);
  return value;
}
