import type { PodsPattern } from '../../promql/pods-pattern.js';
import { joinPatterns } from '../../promql/pods-pattern.js';
import { substitute } from '../../promql/variables.js';
import type { Answer } from '../answers/answer.js';
import { createBatchSize } from './batch-size.js';

/** The answer to a query, and how long the server took; null: the query was not sent. */
export interface TimedAnswer {
  readonly answer: Answer;
  readonly seconds: number | null;
}

/** Queries many workloads at once with a query that evaluates each pod on its own. */
export interface PodsBatches {
  /**
   * Returns a function that returns the answer with the pods of a workload, by the text of its pattern; null: it is not
   * one of `workloads`.
   */
  readonly ask: (
    /** By their text. The same map in the next round means the same workloads. */
    workloads: ReadonlyMap<string, PodsPattern>,
    options: {
      readonly askQuery: (query: string) => Promise<TimedAnswer>;
      /** Of each query, in seconds. */
      readonly limit: number;
    },
  ) => (workload: string) => Promise<Answer> | null;
}

/** VictoriaMetrics rejects queries above 16 KiB. */
const MAX_QUERY_LENGTH = 12_000;

/** Rounds after which a workload whose own query was rejected is queried together with others again. */
const ALONE_ROUNDS = 40;

interface Batch {
  readonly workloads: readonly string[];
  readonly query: string;
}

/**
 * Creates the batches of one query, in which all variables but `$pods` have values. If a query is rejected because of
 * its data, such as too many series, it is split until only the workload that causes it gets no answer, and that
 * workload is queried alone from then on.
 */
export function createPodsBatches(query: string): PodsBatches {
  const size = createBatchSize();
  /** Workloads to be queried alone, with the number of rounds since the last rejection. */
  const alone = new Map<string, number>();
  let last: { readonly workloads: ReadonlyMap<string, PodsPattern>; readonly form: string } | null = null;
  let batches: readonly Batch[] = [];

  const batchOf = (workloads: readonly string[], patterns: ReadonlyMap<string, PodsPattern>): Batch => {
    const asked = workloads.map((workload) => mustFind(patterns, workload));
    return { workloads, query: substitute(query, { pods: joinPatterns(asked) }) };
  };

  const pack = (patterns: ReadonlyMap<string, PodsPattern>): readonly Batch[] => {
    const form = `${size.most()} ${[...alone.keys()].join(' ')}`;
    if (last?.workloads === patterns && last.form === form) return batches;
    last = { workloads: patterns, form };
    const lists = packsOf(
      [...patterns.keys()].filter((workload) => !alone.has(workload)),
      { most: size.most(), room: MAX_QUERY_LENGTH - query.length },
    );
    for (const workload of alone.keys()) lists.push([workload]);
    batches = lists.map((workloads) => batchOf(workloads, patterns));
    return batches;
  };

  /** Counts the rounds of workloads that are queried alone. */
  const release = (patterns: ReadonlyMap<string, PodsPattern>): void => {
    for (const [workload, rounds] of alone) {
      if (!patterns.has(workload) || rounds >= ALONE_ROUNDS) alone.delete(workload);
      else alone.set(workload, rounds + 1);
    }
  };

  const ask: PodsBatches['ask'] = (patterns, { askQuery, limit }) => {
    const askOnce = async ({ workloads, query: text }: Batch): Promise<Answer> => {
      const { answer, seconds } = await askQuery(text);
      if (seconds !== null) size.learn(workloads.length, { seconds, limit });
      return answer;
    };
    const askBatch = async (batch: Batch): Promise<BatchAnswers> => {
      const { workloads } = batch;
      const answer = await askOnce(batch);
      const [first = ''] = workloads;
      const isOne = workloads.length === 1;
      if (isOne && dependsOnData(answer)) alone.set(first, 0);
      if (isOne || !(dependsOnData(answer) || (isBadQuery(answer) && (await isAccepted(first)))))
        return { of: () => answer, isCauseFound: isOne && dependsOnData(answer) };
      return split(batch);
    };
    /** Whether the server accepts the query for one workload, so that it rejects the number of them. */
    const isAccepted = async (workload: string): Promise<boolean> =>
      !isBadQuery(await askOnce(batchOf([workload], patterns)));
    const split = async ({ workloads }: Batch): Promise<BatchAnswers> => {
      const middle = Math.ceil(workloads.length / 2);
      const some = workloads.slice(0, middle);
      const [left, right] = await Promise.all([
        askBatch(batchOf(some, patterns)),
        askBatch(batchOf(workloads.slice(middle), patterns)),
      ]);
      const isCauseFound = left.isCauseFound || right.isCauseFound;
      if (!isCauseFound) size.lower(workloads.length);
      const isLeft = new Set(some);
      return { of: (workload) => (isLeft.has(workload) ? left : right).of(workload), isCauseFound };
    };
    release(patterns);
    const answers = new Map<string, Promise<BatchAnswers>>();
    for (const batch of pack(patterns)) {
      const asked = askBatch(batch);
      for (const workload of batch.workloads) answers.set(workload, asked);
    }
    return (workload) => answers.get(workload)?.then(({ of }) => of(workload)) ?? null;
  };
  return { ask };
}

interface BatchAnswers {
  readonly of: (workload: string) => Answer;
  /** Whether a workload was rejected on its own. */
  readonly isCauseFound: boolean;
}

/** Whether the data of one workload may be the cause, such as too many series or two series with the same labels. */
function dependsOnData(answer: Answer): boolean {
  if (answer.class === 'invalid') return true;
  return answer.class === 'failed' && (answer.reason === 'execution' || answer.reason === 'too_large');
}

function isBadQuery(answer: Answer): boolean {
  return answer.class === 'failed' && answer.reason === 'bad_query';
}

/** Sorted, so that the same workloads always result in the same queries. */
function packsOf(
  workloads: readonly string[],
  { most, room }: { readonly most: number; readonly room: number },
): string[][] {
  const packs: string[][] = [];
  let length = Infinity;
  for (const workload of workloads.toSorted()) {
    const isFull = (packs.at(-1)?.length ?? most) >= most || length + workload.length + 1 > room;
    if (isFull) {
      packs.push([]);
      length = 0;
    }
    packs.at(-1)?.push(workload);
    length += workload.length + 1;
  }
  return packs;
}

function mustFind<T>(map: ReadonlyMap<string, T>, workload: string): T {
  const found = map.get(workload);
  if (found === undefined) throw new Error(`the pods ${workload} are not part of any query`);
  return found;
}
