import { periodicYield } from '../../units/clock.js';
import { mustGet } from '../../units/maps.js';
import { INTERNAL_ERROR } from '../../units/failure.js';
import type { Answer } from '../answers/answer.js';
import { queryDeadlineSeconds } from '../data-source/source-config.js';
import { queryTimed, type SendOptions } from '../source/queue.js';
import { createCollector, type RoundInput } from './collect-answers.js';
import { type SplitBudget, SPLITS_PER_NAMESPACE, SPLITS_PER_SOURCE } from './merged-query.js';
import type { OpenSource } from './open-source.js';
import type { Plan, PlannedQuery, PlannedQueryOf } from './plan-round.js';

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
    const candidate = {
      kind: 'resource',
      key: query.resource,
      namespaces: [...query.namespaces.keys()],
    } as const;
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
