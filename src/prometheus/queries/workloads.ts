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

/** Of its time limit: a query that had less, because the round ended, says nothing about the cost of a query. */
const LEAST_TIME_SHARE = 0.9;

/** Creates the batches of one query, in which all variables but `$pods` have values. */
export function createPodsBatches(query: string, onFault: (error: unknown) => void): PodsBatches {
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

  const textFor = (workloads: readonly string[], patterns: ReadonlyMap<string, PodsPattern>): string => {
    let text = texts.get(workloads);
    if (text === undefined) {
      const pods = joinPatterns(workloads.map((workload) => mustFind(patterns, workload)));
      texts.set(workloads, (text = substitute(query, { pods })));
    }
    return text;
  };

  /**
   * Asks again after a timeout if queries of this size or larger ones were answered meanwhile: it has waited in the queue
   * of the engine.
   */
  const askInTime = async (
    count: number,
    { ask, limit }: { readonly ask: () => Promise<TimedAnswer>; readonly limit: number },
  ): Promise<TimedAnswer> => {
    for (;;) {
      const turn = lanes.enter();
      if (turn !== null) await turn;
      const before = size.answers(count);
      const timed = await ask().finally(lanes.leave);
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
    ask: (patterns, { round, budget, askQuery, limit }) => {
      if (round !== lastRound) {
        size.beginRound();
        lanes.beginRound(round);
      }
      lastRound = round;
      return merged.ask(patterns, {
        round,
        budget,
        packKey: size.most(),
        pack: (workloads) => inLists(workloads, { most: size.most(), room: MAX_QUERY_LENGTH - query.length }),
        ask: (workloads) =>
          askInTime(workloads.length, { ask: () => askQuery(textFor(workloads, patterns)), limit }),
      });
    },
  };
}

/** Limits how many queries are sent at once to as many as the engine answers within their time limit. */
interface Lanes {
  /** Resolves when a query may be sent; null: now. `leave` must be called once after it. */
  readonly enter: () => Promise<void> | null;
  readonly leave: () => void;
  /** Only `most` queries were answered within the time limit of one that was sent with them. */
  readonly narrow: (most: number) => void;
  readonly beginRound: (round: number) => void;
}

/** Rounds after which twice as many are tried. */
const NARROW_ROUNDS = 8;

function createLanes(): Lanes {
  let most = Infinity;
  let rounds = 0;
  let offset = 0;
  let running = 0;
  const waiting: (() => void)[] = [];
  const fill = (): void => {
    while (running < most && waiting.length > 0) {
      // Otherwise the same ones would miss each round that is too short.
      const [next] = waiting.splice(offset % waiting.length, 1);
      running += 1;
      next?.();
    }
  };
  return {
    enter: () => {
      if (running >= most) return new Promise((resolve) => void waiting.push(resolve));
      running += 1;
      return null;
    },
    leave: () => {
      running -= 1;
      fill();
    },
    narrow: (answered) => {
      most = Math.min(most, answered);
      rounds = 0;
    },
    beginRound: (round) => {
      offset = round;
      rounds += 1;
      if (rounds < NARROW_ROUNDS) return;
      rounds = 0;
      most *= 2;
      if (most > MOST_LANES) most = Infinity;
      fill();
    },
  };
}

/** As many as a data source has slots by default: more are not sent at once anyway. */
const MOST_LANES = 10;

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
