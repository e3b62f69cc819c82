import type { PodsPattern } from '../../promql/pods-pattern.js';
import { joinPatterns } from '../../promql/pods-pattern.js';
import { substitute } from '../../promql/variables.js';
import type { Answer } from '../answers/answer.js';
import { askInHalves, type WorkloadAnswers } from './ask-in-halves.js';
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

/** Rounds in which a query is not split after one in which each of its workloads was rejected. */
const UNSPLIT_ROUNDS = 4;

interface Batch {
  readonly workloads: readonly string[];
  readonly query: string;
}

/**
 * Creates the batches of one query, in which all variables but `$pods` have values. If a batch is rejected because of
 * its data, it is split until only the workload that is the cause gets no answer. That workload is queried alone from
 * then on.
 */
export function createPodsBatches(query: string): PodsBatches {
  const size = createBatchSize();
  /** Workloads to be queried alone, with the number of rounds since the last rejection. */
  const alone = new Map<string, number>();
  let unsplitRounds = 0;
  let last: { readonly workloads: ReadonlyMap<string, PodsPattern>; readonly form: string } | null = null;
  let batches: readonly Batch[] = [];

  const textFor = (workloads: readonly string[], patterns: ReadonlyMap<string, PodsPattern>): string => {
    const pods = joinPatterns(workloads.map((workload) => mustFind(patterns, workload)));
    return substitute(query, { pods });
  };

  const pack = (patterns: ReadonlyMap<string, PodsPattern>): readonly Batch[] => {
    const form = `${size.most()} ${[...alone.keys()].join(' ')}`;
    if (last?.workloads === patterns && last.form === form) return batches;
    last = { workloads: patterns, form };
    const together = [...patterns.keys()].filter((workload) => !alone.has(workload));
    const lists = inLists(together, { most: size.most(), room: MAX_QUERY_LENGTH - query.length });
    for (const workload of alone.keys()) lists.push([workload]);
    batches = lists.map((workloads) => ({ workloads, query: textFor(workloads, patterns) }));
    return batches;
  };

  const beginRound = (patterns: ReadonlyMap<string, PodsPattern>): void => {
    unsplitRounds = Math.max(0, unsplitRounds - 1);
    for (const [workload, rounds] of alone) {
      if (!patterns.has(workload) || rounds >= ALONE_ROUNDS) alone.delete(workload);
      else alone.set(workload, rounds + 1);
    }
  };

  const learn = ({ workloads }: Batch, { causes, tooMany }: WorkloadAnswers): void => {
    if (tooMany !== null) size.lower(tooMany);
    // Otherwise a server that rejects everything would get a query for each workload.
    if (workloads.length > 1 && causes.length === workloads.length) unsplitRounds = UNSPLIT_ROUNDS;
    else for (const workload of causes) alone.set(workload, 0);
  };

  return {
    ask: (patterns, { askQuery, limit }) => {
      beginRound(patterns);
      const maySplit = unsplitRounds === 0;
      const askBatch = async (batch: Batch): Promise<WorkloadAnswers> => {
        const ask = async (workloads: readonly string[]): Promise<Answer> => {
          const text = workloads === batch.workloads ? batch.query : textFor(workloads, patterns);
          const { answer, seconds } = await askQuery(text);
          if (seconds !== null) size.learn(workloads.length, { seconds, limit });
          return answer;
        };
        if (maySplit) {
          const answers = await askInHalves(batch.workloads, ask);
          learn(batch, answers);
          return answers;
        }
        const answer = await ask(batch.workloads);
        return { of: () => answer, causes: [], tooMany: null };
      };
      const answers = new Map<string, Promise<WorkloadAnswers>>();
      for (const batch of pack(patterns)) {
        const asked = askBatch(batch);
        for (const workload of batch.workloads) answers.set(workload, asked);
      }
      return (workload) => answers.get(workload)?.then(({ of }) => of(workload)) ?? null;
    },
  };
}

/** Sorted, so that the same workloads always result in the same queries. */
function inLists(
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
