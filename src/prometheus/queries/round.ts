import type { Scaler } from '../../scaler/spec.js';
import { type Clock, periodicYield, type ReadyQueue } from '../../units/clock.js';
import { INTERNAL_ERROR } from '../../units/failure.js';
import { mustGet } from '../../units/maps.js';
import type { Answer } from '../answers/answer.js';
import { queryDeadlineSeconds } from '../data-source/source-config.js';
import { ageKey, type SourceAge, UNKNOWN_AGE, urlIndexOf } from '../source/age.js';
import { queryTimed, type SendOptions } from '../source/queue.js';
import { applyChecks } from './checks.js';
import { type MetricQuery, ownKey, type ScalerQueries } from './compile-queries.js';
import { resourceCandidate } from './duplicates.js';
import { type ArrivedAnswers, createFollowUps, type FollowUpInput, type FollowUps } from './follow-ups.js';
import { type SplitBudget, SPLITS_PER_NAMESPACE, SPLITS_PER_SOURCE } from './merged-query.js';
import type { OpenSource } from './open-source.js';
import type { Plan, PlannedQuery, PlannedQueryOf } from './plan-round.js';

export interface Readings {
  /** In the order of `spec.metrics`. */
  readonly answers: readonly Answer[];
  /** The answer to the query of `maxReplicasFrom`; unset: the document has none. */
  readonly ceiling?: Answer;
  /** Maps `ageKey` to the age of each server that answered. */
  readonly ages: ReadonlyMap<string, SourceAge>;
  /** Monotonic time at which the round began. */
  readonly sinceMs: number;
}

export type OnReady = (scaler: Scaler, readings: Readings, followUps: FollowUps) => void;

export interface RoundInput extends FollowUpInput {
  readonly clock: Clock;
  /** Monotonic time in milliseconds at which the round began. */
  readonly startMs: number;
  readonly ready: ReadyQueue;
  /** Called once for each scaler of the plan. Must not throw. */
  readonly onReady: OnReady;
  /** Called with an internal error. The queries that it affects have no value. */
  readonly onFault: (error: unknown) => void;
}

const DUPLICATES_SECONDS = 10;
/** Share of the time of a round for queries. The remaining time is for reading source ages and for deciding. */
const SHARE_FOR_QUERIES = 0.8;

/**
 * Sends each query of a plan once, and calls `onReady` for each scaler when it has all its answers. Resolves when all
 * queries are queued, not when they are answered. Yields to the event loop every 20 ms.
 */
export async function sendRound(plan: Plan, round: RoundInput): Promise<void> {
  const { sources, clock, signal, number, startMs, onFault } = round;
  const recognizing = recognizeSources(plan, round);
  const budgetOf = createBudgets();
  const answers = createCollector(plan, round);

  const optionsFor = (query: PlannedQuery): SendOptions => {
    const seconds = queryDeadlineSeconds(query.source, plan.periodSeconds);
    const untilMs = startMs + Math.max(seconds, SHARE_FOR_QUERIES * plan.periodSeconds) * 1000;
    const options = { seconds, signal, round: number, untilMs };
    if (query.kind === 'byNamespace') return options;
    return { ...options, owners: [...query.owners.values()], periodSeconds: plan.periodSeconds };
  };
  const sendByNamespace = async (
    query: PlannedQueryOf<'byNamespace'>,
    { queue, duplicates, configFor }: OpenSource,
  ): Promise<SentAnswers> => {
    const options = optionsFor(query);
    const candidate = resourceCandidate(query.resource, query.namespaces.keys());
    const check = duplicates?.firstCheck(candidate, (text) => queue.query(text, options)) ?? null;
    if (check !== null) await check;
    return query.merged.sendForNamespaces(query.namespaces, {
      round: number,
      budget: budgetOf(query.source.name, null),
      source: configFor(query.source),
      query: (text) => queryTimed(queue, text, options),
      now: clock.now(),
    });
  };
  const sendByPod = (query: PlannedQueryOf<'byPod'>, { queue }: OpenSource): SentAnswers => {
    const options = optionsFor(query);
    const [namespace = null, ...others] = query.owners.keys();
    return query.merged.sendForWorkloads(query.patterns, {
      round: number,
      budget: budgetOf(query.source.name, others.length === 0 ? namespace : null),
      query: (text) => queryTimed(queue, text, options),
      limit: options.seconds,
    });
  };
  const sendPlanned = async (query: PlannedQuery): Promise<void> => {
    const recognized = recognizing.get(query.source.name) ?? null;
    if (recognized !== null) await recognized;
    const open = mustGet(sources, query.source.name);
    if (query.kind === 'alone') {
      answers.store(query.key, await open.queue.query(query.text, optionsFor(query)));
      return;
    }
    const sent = query.kind === 'byNamespace' ? await sendByNamespace(query, open) : sendByPod(query, open);
    await Promise.all(
      Array.from(sent, async ([member, answer]) => answers.store(mustGet(query.keys, member), await answer)),
    );
  };

  const yieldIfDue = periodicYield(clock);
  for (const query of [...rotate(plan.queries, number), ...rotate(plan.rankings, number)]) {
    sendPlanned(query).catch((error: unknown) => {
      onFault(error);
      for (const key of query.kind === 'alone' ? [query.key] : query.keys.values())
        answers.store(key, INTERNAL_ERROR);
    });
    await yieldIfDue();
  }
  checkDuplicates(plan, round, (source) => (recognizing.get(source) ?? null) === null);
}

/** Maps a namespace, or the pattern of the pods of a workload, to its answer. */
type SentAnswers = ReadonlyMap<string, Promise<Answer>>;

/**
 * Starts the recognition of the servers. Only the first round waits for it. Until it succeeds, later rounds use the
 * queries of the config.
 */
function recognizeSources(
  { queries, rankings }: Plan,
  { sources, signal }: RoundInput,
): ReadonlyMap<string, Promise<void> | null> {
  const names = new Set([...queries, ...rankings].map(({ source }) => source.name));
  return new Map(Array.from(names, (name) => [name, mustGet(sources, name).recognize(signal)]));
}

/**
 * Returns the list rotated by a number that differs in each round. Otherwise a round that is too short would always
 * miss the same queries, and a failing source would always get the same query first.
 */
function rotate<T>(list: readonly T[], round: number): readonly T[] {
  if (list.length === 0) return list;
  const start = Math.floor((round * 0.618_033_988_749_895 * list.length) % list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

/**
 * Returns a function that returns the budget for the queries of a namespace. `namespace` is null for a query of several
 * namespaces.
 */
function createBudgets(): (source: string, namespace: string | null) => SplitBudget {
  const bySource = new Map<string, { left: number }>();
  const budgets = new Map<string, SplitBudget>();
  return (name, namespace) => {
    const source = bySource.get(name) ?? { left: SPLITS_PER_SOURCE };
    bySource.set(name, source);
    const key = `${name}\n${namespace ?? ''}`;
    const budget = budgets.get(key) ?? { left: SPLITS_PER_NAMESPACE, source };
    budgets.set(key, budget);
    return budget;
  };
}

/** Checks at most one query of each source in a round. */
function checkDuplicates(
  { candidates }: Plan,
  { sources, signal, number: round }: RoundInput,
  isRecognized: (source: string) => boolean,
): void {
  for (const [name, ofSource] of candidates) {
    // The check waits until the server is recognized, because the queries of the source may change then.
    if (!isRecognized(name)) continue;
    const { queue, duplicates } = mustGet(sources, name);
    duplicates?.checkOne(ofSource, (text) =>
      queue.query(text, { seconds: DUPLICATES_SECONDS, signal, round }),
    );
  }
}

interface Collector extends ArrivedAnswers {
  /** Stores the answer under this key, unless there already is one. */
  readonly store: (key: string, answer: Answer) => void;
}

/** Collects the answers of a round. Calls `onReady` once for each scaler, when its last answer has arrived. */
export function createCollector(plan: Plan, round: RoundInput): Collector {
  const { sources, signal, startMs, ready, onReady, onFault } = round;
  const answers = new Map<string, Answer>();
  const missing = plan.scalers.map(({ awaited }) => awaited.length);
  const listeners = new Map<string, ((answer: Answer) => void)[]>();
  let answered: ScalerQueries[] = [];

  const addAnswered = (scaler: ScalerQueries | undefined): void => {
    if (scaler === undefined) return;
    answered.push(scaler);
    if (answered.length === 1) void Promise.resolve().then(finishAnswered);
  };
  /**
   * Reads the ages of the servers after the answers: a server may have restarted between an earlier read and the
   * answer, and the age would be wrong. Scalers whose last answers arrive together share a read.
   */
  const finishAnswered = async (): Promise<void> => {
    const scalers = answered;
    answered = [];
    const ages = new Map<string, SourceAge>();
    let readings = scalers.map((scaler) => readingsOf(scaler, ages));
    try {
      await readAges(scalers, readings, ages);
    } catch (error) {
      onFault(error);
      readings = scalers.map(({ scaler }) => withoutValues(scaler, startMs));
    }
    for (const [index, some] of readings.entries()) {
      const scaler = scalers[index]?.scaler;
      if (scaler !== undefined) ready.add(() => onReady(scaler, some, followUps));
    }
  };
  const readingsOf = (
    { scaler, metrics, ceiling }: ScalerQueries,
    ages: ReadonlyMap<string, SourceAge>,
  ): Readings => {
    try {
      const checked = metrics.map((metric) => checkedAnswer(metric, answers));
      const readings = { answers: checked, ages, sinceMs: startMs };
      return ceiling === null ? readings : { ...readings, ceiling: checkedAnswer(ceiling, answers) };
    } catch (error) {
      onFault(error);
      return withoutValues(scaler, startMs);
    }
  };
  /** Adds the age of each server that answered to `ages`. */
  const readAges = async (
    scalers: readonly ScalerQueries[],
    readings: readonly Readings[],
    ages: Map<string, SourceAge>,
  ): Promise<void> => {
    const reads = new Map<string, Promise<SourceAge>>();
    for (const [index, { scaler }] of scalers.entries())
      for (const [position, { source }] of scaler.spec.metrics.entries()) {
        const answer = readings[index]?.answers[position];
        const key = ageKey(source, answer);
        if (answer?.class === 'failed' || reads.has(key)) continue;
        const read = sources.get(source)?.ages.read(signal, urlIndexOf(answer));
        reads.set(key, read ?? Promise.resolve(UNKNOWN_AGE));
      }
    await Promise.all(Array.from(reads, async ([key, age]) => ages.set(key, await age)));
  };

  for (const scaler of plan.scalers) if (scaler.awaited.length === 0) addAnswered(scaler);
  const arrived: ArrivedAnswers = {
    get: (key) => answers.get(key),
    wait: (key) => {
      const known = answers.get(key);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => listeners.set(key, [...(listeners.get(key) ?? []), resolve]));
    },
  };
  const followUps = createFollowUps(plan, round, arrived);
  return {
    ...arrived,
    store: (key, answer) => {
      if (answers.has(key)) return;
      answers.set(key, answer);
      for (const index of plan.waiting.get(key) ?? []) {
        const left = (missing[index] ?? 0) - 1;
        missing[index] = left;
        if (left === 0) addAnswered(plan.scalers[index]);
      }
      for (const resolve of listeners.get(key) ?? []) resolve(answer);
    },
  };
}

/** Returns the readings after an internal error. A scaler without readings would never be due again. */
export function withoutValues({ spec }: Scaler, sinceMs: number): Readings {
  const readings = { answers: spec.metrics.map(() => INTERNAL_ERROR), ages: new Map(), sinceMs };
  return spec.maxReplicasFrom === null ? readings : { ...readings, ceiling: INTERNAL_ERROR };
}

/** Returns the answer to the query of a metric after its checks. */
function checkedAnswer(metric: MetricQuery, answers: ReadonlyMap<string, Answer>): Answer {
  if (metric.kind === 'refused') return metric.answer;
  const answer = mustGet(answers, metric.key);
  if (answer.class === 'failed' || metric.kind === 'byPod' || metric.checks === null) return answer;
  const { source, checks } = metric;
  const others = Object.entries(checks.queries).map(
    ([name, text]) => [name, mustGet(answers, ownKey(source, text))] as const,
  );
  return applyChecks(checks, answer, Object.fromEntries(others));
}
