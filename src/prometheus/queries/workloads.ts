import { joinPatterns, type PodsPattern } from '../../promql/pods-pattern.js';
import { substitute } from '../../promql/variables.js';
import { mustGet } from '../../units/maps.js';
import type { Answer } from '../answers/answer.js';
import { createBatchSize, createLanes } from './batch-size.js';
import { createMergedQuery, type MergedRound } from './merged-query.js';
import type { TimedAnswer } from '../source/queue.js';

/** Queries many workloads at once. The query must evaluate each pod independently. */
export interface WorkloadQueries {
  /** Sends the queries. Maps the text of each pattern to the answer for its pods. */
  readonly sendForWorkloads: (
    /**
     * Maps the text of a pattern to the pattern. The caller passes the same map object as in the last round if the
     * workloads are the same.
     */
    patterns: ReadonlyMap<string, PodsPattern>,
    options: Pick<MergedRound, 'round' | 'budget'> & {
      readonly query: (text: string) => Promise<TimedAnswer>;
      /** Time limit of each query in seconds. */
      readonly limit: number;
    },
  ) => ReadonlyMap<string, Promise<Answer>>;
}

/** VictoriaMetrics rejects queries above 16 KiB. */
const MAX_QUERY_LENGTH = 12_000;

/** A timeout proves nothing about the cost if the query had less than this share of its usual time limit. */
const LEAST_TIME_SHARE = 0.9;

/** Creates the queries for a string in which only the variable `$pods` has no value yet. */
export function createWorkloadQueries(written: string, onFault: (error: unknown) => void): WorkloadQueries {
  const size = createBatchSize();
  const merged = createMergedQuery({
    noun: 'workloads',
    onTooMany: size.lower,
    learnsFromTimeouts: true,
    onFault,
  });
  const lanes = createLanes();
  let lastRound: number | null = null;
  const texts = new WeakMap<readonly string[], string>();

  const textFor = (patternTexts: readonly string[], patterns: ReadonlyMap<string, PodsPattern>): string => {
    let text = texts.get(patternTexts);
    if (text === undefined) {
      const pods = joinPatterns(patternTexts.map((patternText) => mustGet(patterns, patternText)));
      texts.set(patternTexts, (text = substitute(written, { pods })));
    }
    return text;
  };

  /**
   * Sends a query. Sends it again after a timeout if the engine meanwhile answered a query of at least this size: the
   * query that timed out only waited in the queue of the engine.
   */
  const queryInTime = async (
    count: number,
    { query, limit }: { readonly query: () => Promise<TimedAnswer>; readonly limit: number },
  ): Promise<TimedAnswer> => {
    for (;;) {
      const turn = lanes.enter();
      if (turn !== null) await turn;
      const before = size.answers(count);
      const timed = await query().finally(lanes.leave);
      const { answer, seconds } = timed;
      if (seconds === null || (answer.class === 'failed' && answer.reason !== 'timeout')) return timed;
      const isLate = answer.class === 'failed';
      if (isLate && (timed.limit ?? limit) < LEAST_TIME_SHARE * limit) return { answer, seconds: null };
      const meanwhile = size.answers(count) - before;
      if (isLate && meanwhile > 0) {
        lanes.narrow(meanwhile);
        continue;
      }
      size.learn(count, { seconds, limit, isLate });
      return timed;
    }
  };

  return {
    sendForWorkloads: (patterns, { round, budget, query, limit }) => {
      if (round !== lastRound) {
        size.beginRound();
        lanes.beginRound(round);
      }
      lastRound = round;
      return merged.sendLists(patterns, {
        round,
        budget,
        packKey: size.most(),
        pack: (patternTexts) =>
          inLists(patternTexts, { most: size.most(), room: MAX_QUERY_LENGTH - written.length }),
        queryMembers: (patternTexts) =>
          queryInTime(patternTexts.length, { query: () => query(textFor(patternTexts, patterns)), limit }),
      });
    },
  };
}

/** Divides workloads into a list per query, sorted so that the same workloads always result in the same queries. */
function inLists(
  patternTexts: readonly string[],
  { most, room }: { readonly most: number; readonly room: number },
): string[][] {
  const packs: string[][] = [];
  let length = Infinity;
  for (const patternText of patternTexts.toSorted()) {
    const isFull = (packs.at(-1)?.length ?? most) >= most || length + patternText.length + 1 > room;
    if (isFull) {
      packs.push([]);
      length = 0;
    }
    packs.at(-1)?.push(patternText);
    length += patternText.length + 1;
  }
  return packs;
}
