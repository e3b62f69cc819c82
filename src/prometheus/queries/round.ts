import type { Scaler } from '../../scaler/spec.js';
import { type Clock, type ReadyQueue, periodicYield } from '../../units/clock.js';
import { type Answer, INTERNAL_ERROR } from '../answers/answer.js';
import { ageKey, type SourceAge, UNKNOWN_AGE, urlIndexOf } from '../source/age.js';
import type { QueryQueue, SendOptions } from '../source/queue.js';
import { applyChecks } from './checks.js';
import { type MetricQuery, ownKey, type ScalerQueries } from './compile-queries.js';
import { resourceCandidate } from './duplicate-watch.js';
import {
  type ArrivedAnswers,
  createFollowUps,
  type FollowUpInput,
  type FollowUps,
  mustGet,
  queryConfig,
  queryDeadlineSeconds,
} from './follow-ups.js';
import {
  type SplitBudget,
  SPLITS_PER_NAMESPACE,
  SPLITS_PER_SOURCE,
  type TimedAnswer,
} from './merged-query.js';
import type { Plan, PlannedQuery, PlannedQueryOf } from './plan-round.js';

export interface Readings {
  /** In the order of `spec.metrics`. */
  readonly answers: readonly Answer[];
  /** The answer to the query of `maxReplicasFrom`; unset: the document has none. */
  readonly ceiling?: Answer;
  /** Maps `ageKey` to the age of each server that answered. It is complete once all answers have arrived. */
  readonly ages: ReadonlyMap<string, SourceAge>;
  /** Monotonic time at which the round began. */
  readonly sinceMs: number;
}

export interface RoundInput extends FollowUpInput {
  readonly clock: Clock;
  /** Monotonic time in milliseconds at which the round began. */
  readonly startMs: number;
  readonly ready: ReadyQueue;
  /** Called once for each scaler of the round. Must not throw. */
  readonly onReady: OnReady;
  /** Called with an internal error. The queries that it affects have no value. */
  readonly onFault: (error: unknown) => void;
}

export type OnReady = (scaler: Scaler, readings: Readings, followUps: FollowUps) => void;

const RECOGNIZE_SECONDS = 2;
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
  const answers = createCollector(plan, {
    sinceMs: startMs,
    readAge: (source, urlIndex) =>
      sources.get(source)?.ages.read(signal, urlIndex) ?? Promise.resolve(UNKNOWN_AGE),
    ready: round.ready,
    onReady: (scaler, readings) => round.onReady(scaler, readings, followUps),
    onFault,
  });
  const followUps = createFollowUps(plan, round, answers);

  const optionsFor = (query: PlannedQuery): SendOptions => {
    const seconds = queryDeadlineSeconds(query.source, plan.periodSeconds);
    const untilMs = startMs + Math.max(seconds, SHARE_FOR_QUERIES * plan.periodSeconds) * 1000;
    const options = { seconds, signal, round: number, untilMs };
    if (query.kind === 'namespaces') return options;
    return { ...options, owners: [...query.owners.values()], periodSeconds: plan.periodSeconds };
  };
  const sendForNamespaces = async (query: PlannedQueryOf<'namespaces'>) => {
    const { name } = query.source;
    const source = mustGet(sources, name);
    const { queue, duplicates } = source;
    const options = optionsFor(query);
    const candidate = resourceCandidate(query.resource, [...query.namespaces.keys()]);
    const check = duplicates?.firstCheck(candidate, (text) => queue.query(text, options)) ?? null;
    if (check !== null) await check;
    return query.merged.sendForNamespaces(query.namespaces, {
      round: number,
      budget: budgetOf(name, null),
      source: queryConfig(source, query.source),
      enqueue: (text) => queryTimed(queue, text, options),
      now: clock.now(),
    });
  };
  const sendForWorkloads = (query: PlannedQueryOf<'workloads'>) => {
    const { name } = query.source;
    const { queue } = mustGet(sources, name);
    const options = optionsFor(query);
    const [namespace = null, ...others] = query.owners.keys();
    return query.merged.sendForWorkloads(query.patterns, {
      round: number,
      budget: budgetOf(name, others.length === 0 ? namespace : null),
      enqueue: (text) => queryTimed(queue, text, options),
      limit: options.seconds,
    });
  };
  const send = async (query: PlannedQuery): Promise<void> => {
    const recognized = recognizing.get(query.source.name) ?? null;
    if (recognized !== null) await recognized;
    if (query.kind === 'own') {
      const { queue } = mustGet(sources, query.source.name);
      answers.take(query.key, await queue.query(query.text, optionsFor(query)));
      return;
    }
    const { keys } = query;
    const sent = query.kind === 'namespaces' ? await sendForNamespaces(query) : sendForWorkloads(query);
    await Promise.all(
      Array.from(sent, async ([member, answer]) => answers.take(mustGet(keys, member), await answer)),
    );
  };

  const yieldIfDue = periodicYield(clock);
  for (const query of [...rotate(plan.queries, number), ...rotate(plan.rankings, number)]) {
    send(query).catch((error: unknown) => {
      onFault(error);
      for (const key of query.kind === 'own' ? [query.key] : query.keys.values())
        answers.take(key, INTERNAL_ERROR);
    });
    await yieldIfDue();
  }
  checkDuplicates(plan, round, (source) => (recognizing.get(source) ?? null) === null);
}

/**
 * Starts the recognition of the servers. Only the first round waits for it. Until it succeeds, later rounds use the
 * queries of the config.
 */
function recognizeSources(
  { queries, rankings }: Plan,
  { sources, signal }: RoundInput,
): ReadonlyMap<string, Promise<void> | null> {
  const names = new Set([...queries, ...rankings].map(({ source }) => source.name));
  const begin = (name: string): Promise<void> | null =>
    mustGet(sources, name).recognition.begin({ seconds: RECOGNIZE_SECONDS, signal });
  return new Map(Array.from(names, (name) => [name, begin(name)]));
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

/** Returns a function for the budget of the queries of a namespace; `namespace` null: of several namespaces. */
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

async function queryTimed(
  { query }: Pick<QueryQueue, 'query'>,
  text: string,
  options: SendOptions,
): Promise<TimedAnswer> {
  let time: Omit<TimedAnswer, 'answer'> = { seconds: null, limit: null };
  const onSeconds: SendOptions['onSeconds'] = (seconds, limit) => (time = { seconds, limit });
  const answer = await query(text, { ...options, onSeconds });
  return { answer, ...time };
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
  readonly take: (key: string, answer: Answer) => void;
}

/** Collects the answers of a round. Calls `onReady` once for each scaler, when its last answer has arrived. */
export function createCollector(
  plan: Plan,
  parts: {
    readonly sinceMs: number;
    readonly readAge: (source: string, urlIndex: number | undefined) => Promise<SourceAge>;
    readonly ready: ReadyQueue;
    /** Must not throw. */
    readonly onReady: (scaler: Scaler, readings: Readings) => void;
    readonly onFault: (error: unknown) => void;
  },
): Collector {
  const { sinceMs, readAge, ready, onReady, onFault } = parts;
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
    let checked = scalers.map((scaler) => checkedAnswers(scaler, answers, onFault));
    const ceilings = scalers.map(({ ceiling }) =>
      ceiling === null ? null : checkedAnswer(ceiling, answers),
    );
    let ages: Readings['ages'] = new Map();
    try {
      ages = await agesOf(scalers, checked, readAge);
    } catch (error) {
      onFault(error);
      checked = scalers.map(({ metrics }) => metrics.map(() => INTERNAL_ERROR));
    }
    for (const [index, { scaler }] of scalers.entries()) {
      const ceiling = ceilings[index] ?? null;
      const readings = { answers: checked[index] ?? [], ages, sinceMs };
      ready.add(() => onReady(scaler, ceiling === null ? readings : { ...readings, ceiling }));
    }
  };

  for (const scaler of plan.scalers) if (scaler.awaited.length === 0) addAnswered(scaler);
  return {
    take: (key, answer) => {
      if (answers.has(key)) return;
      answers.set(key, answer);
      for (const index of plan.waiting.get(key) ?? []) {
        const left = (missing[index] ?? 0) - 1;
        missing[index] = left;
        if (left === 0) addAnswered(plan.scalers[index]);
      }
      for (const resolve of listeners.get(key) ?? []) resolve(answer);
    },
    get: (key) => answers.get(key),
    wait: (key) => {
      const known = answers.get(key);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => listeners.set(key, [...(listeners.get(key) ?? []), resolve]));
    },
  };
}

/** Returns the answer for each metric after its checks, in the order of the metrics. */
function checkedAnswers(
  { metrics }: ScalerQueries,
  answers: ReadonlyMap<string, Answer>,
  onFault: (error: unknown) => void,
): readonly Answer[] {
  try {
    return metrics.map((metric) => checkedAnswer(metric, answers));
  } catch (error) {
    onFault(error);
    return metrics.map(() => INTERNAL_ERROR);
  }
}

function checkedAnswer(metric: MetricQuery, answers: ReadonlyMap<string, Answer>): Answer {
  if (metric.kind === 'refused') return metric.answer;
  const answerTo = (key: string): Answer => {
    const answer = answers.get(key);
    if (answer === undefined) throw new Error(`${key} is not part of this round`);
    return answer;
  };
  const answer = answerTo(metric.key);
  if (answer.class === 'failed' || metric.kind === 'workloads' || metric.checks === null) return answer;
  const { source, checks } = metric;
  const { guard, freshness, backlog, capacity, served } = checks;
  return applyChecks(checks, {
    answer,
    guard: guard === null ? null : answerTo(ownKey(source, guard)),
    freshness: freshness === null ? null : answerTo(ownKey(source, freshness.query)),
    ...(backlog === undefined ? {} : { backlog: answerTo(ownKey(source, backlog)) }),
    ...(capacity === undefined ? {} : { capacity: answerTo(ownKey(source, capacity)) }),
    ...(served === undefined ? {} : { served: answerTo(ownKey(source, served)) }),
  });
}

/** Reads the age of each server that answered. */
async function agesOf(
  scalers: readonly ScalerQueries[],
  answers: readonly (readonly Answer[])[],
  readAge: (source: string, urlIndex: number | undefined) => Promise<SourceAge>,
): Promise<ReadonlyMap<string, SourceAge>> {
  const ages = new Map<string, Promise<SourceAge>>();
  for (const [index, { scaler }] of scalers.entries())
    for (const [position, { source }] of scaler.spec.metrics.entries()) {
      const answer = answers[index]?.[position];
      const key = ageKey(source, answer);
      if (answer?.class !== 'failed' && !ages.has(key)) ages.set(key, readAge(source, urlIndexOf(answer)));
    }
  return new Map(await Promise.all(Array.from(ages, async ([key, age]) => [key, await age] as const)));
}
