import type { PodsPattern } from '../../promql/pods-pattern.js';
import { joinPatterns } from '../../promql/pods-pattern.js';
import { substitute } from '../../promql/variables.js';
import type { Answer } from '../answers/answer.js';
import type { TimedAnswer } from './answer-kinds.js';
import { createBatchSize } from './batch-size.js';
import { createMergedQuery, type MergedRound } from './merged-query.js';

/** Queries many workloads at once with a query that evaluates each pod on its own. */
export interface PodsBatches {
  /**
   * Returns a function that returns the answer with the pods of a workload, by the text of its pattern; null: it is not
   * one of `workloads`.
   */
  readonly ask: (
    /** By their text. The same map in the next round means the same workloads. */
    workloads: ReadonlyMap<string, PodsPattern>,
    options: Pick<MergedRound, 'round' | 'budget'> & {
      readonly askQuery: (query: string) => Promise<TimedAnswer>;
      /** Of each query, in seconds. */
      readonly limit: number;
    },
  ) => (workload: string) => Promise<Answer> | null;
}

/** VictoriaMetrics rejects queries above 16 KiB. */
const MAX_QUERY_LENGTH = 12_000;

/** Creates the batches of one query, in which all variables but `$pods` have values. */
export function createPodsBatches(query: string, onFault: (error: unknown) => void): PodsBatches {
  const size = createBatchSize();
  const merged = createMergedQuery({ noun: 'workloads', onTooMany: size.lower, onFault });
  const texts = new WeakMap<readonly string[], string>();

  const textFor = (workloads: readonly string[], patterns: ReadonlyMap<string, PodsPattern>): string => {
    let text = texts.get(workloads);
    if (text === undefined) {
      const pods = joinPatterns(workloads.map((workload) => mustFind(patterns, workload)));
      texts.set(workloads, (text = substitute(query, { pods })));
    }
    return text;
  };

  return {
    ask: (patterns, { round, budget, askQuery, limit }) =>
      merged.ask(patterns, {
        round,
        budget,
        packKey: size.most(),
        pack: (workloads) => inLists(workloads, { most: size.most(), room: MAX_QUERY_LENGTH - query.length }),
        ask: async (workloads) => {
          const timed = await askQuery(textFor(workloads, patterns));
          if (timed.seconds !== null) size.learn(workloads.length, { seconds: timed.seconds, limit });
          return timed;
        },
      }),
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
