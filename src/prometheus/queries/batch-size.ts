/** Maximum number of workloads in a query. Such a query costs Prometheus about as much as three small queries. */
const MOST_WORKLOADS = 100;

/** The number of workloads grows only while a query is expected to take at most this share of its time limit. */
const AIMED_SHARE = 1 / 2;
/** The size grows at most by this factor per round, because the cost of larger queries is only extrapolated. */
const MOST_GROWTH = 4;
/**
 * After a timeout of queries for n workloads, only an answer to a query for at least this share of n lowers the maximum
 * number of workloads.
 */
const LEAST_EVIDENCE = 1 / 4;
/** Each further round multiplies the weight of a round in the estimated cost by this factor. */
const MEMORY = 0.5;
/** If a query took this many times as long as a larger query, its time is ignored, because it waited in a queue. */
const WAITED = 1.1;
/** After a query was rejected for its size, twice as many workloads are tried again after this number of rounds. */
const REJECTED_ROUNDS = 20;
/**
 * The time limit of the engine may be shorter than the time limit of promscaler. The assumed limit grows by this factor
 * in each round until a query times out.
 */
const LIMIT_GROWTH = 1.2;

interface TimedQuery {
  readonly seconds: number;
  /** Time limit of the query in seconds. */
  readonly limit: number;
  /** Whether the time limit passed without an answer. */
  readonly isLate: boolean;
}

/**
 * Learns how many workloads one query may contain.
 * A query costs the engine a fixed time and a time for each workload, so the largest queries give the most values per
 * second of engine time. The number is lowered only if queries of this size time out and a smaller query is answered
 * later (`createMergedQuery` sends the halves), because an overloaded engine needs even longer for more and smaller
 * queries. For each size only the fastest answer of a round counts, because the others have waited in a queue. Queries
 * that fail because the source is overloaded do not count.
 */
export interface BatchSize {
  /** Applies the results of the last round. */
  readonly beginRound: () => void;
  readonly most: () => number;
  readonly learn: (count: number, query: TimedQuery) => void;
  /** Returns how many queries for at least `count` workloads were answered in this round. */
  readonly answers: (count: number) => number;
  /** Called if a query for `count` workloads was rejected although queries for fewer workloads were answered. */
  readonly lower: (count: number) => void;
}

export function createBatchSize(): BatchSize {
  let ceiling = MOST_WORKLOADS;
  let ceilingRounds = 0;
  let most = MOST_WORKLOADS;
  /** The size of queries that timed out, if only smaller queries have been answered since; Infinity: there is none. */
  let doubted = Infinity;
  let limit = Infinity;
  const cost = createCost();
  /** Maps a number of workloads to the seconds of its fastest answer in this round. */
  const answered = new Map<number, number>();
  let counts: number[] = [];
  const late = new Set<number>();

  /** Returns the largest number of workloads whose query is expected to take `AIMED_SHARE` of the time limit. */
  const affordable = (): number => {
    const aimed = AIMED_SHARE * limit;
    let count = 0;
    // A query for n times the workloads takes at most n times as long.
    for (const [known, seconds] of answered)
      count = Math.max(count, (known * aimed) / Math.max(seconds, 1e-3));
    const largest = Math.max(...answered.keys());
    return Math.floor(Math.max(count, Math.min(cost.countFor(aimed), MOST_GROWTH * largest)));
  };

  const apply = (): void => {
    cost.learn(answered);
    const largest = Math.max(0, ...answered.keys());
    const largestLate = Math.max(0, ...late);
    if (largest < largestLate && largestLate < doubted) doubted = largestLate;
    else if (largest >= LEAST_EVIDENCE * doubted && largest < doubted) {
      most = Math.max(largest, Math.min(affordable(), doubted - 1));
      doubted = Infinity;
    } else if (largest > 0 && largest >= largestLate) {
      doubted = Infinity;
      most = Math.min(ceiling, Math.max(most, affordable()));
    }
  };

  return {
    most: () => most,
    answers: (count) => counts.filter((each) => each >= count).length,
    beginRound: () => {
      ceilingRounds += 1;
      if (ceilingRounds >= REJECTED_ROUNDS && ceiling < MOST_WORKLOADS) {
        ceilingRounds = 0;
        ceiling = Math.min(MOST_WORKLOADS, ceiling * 2);
      }
      apply();
      limit *= LIMIT_GROWTH;
      answered.clear();
      counts = [];
      late.clear();
    },
    learn: (count, query) => {
      const { seconds, isLate } = query;
      limit = Math.min(limit, isLate ? Math.min(seconds, query.limit) : query.limit);
      if (isLate) late.add(count);
      else {
        counts.push(count);
        answered.set(count, Math.min(seconds, answered.get(count) ?? Infinity));
      }
    },
    lower: (count) => {
      ceiling = Math.min(ceiling, half(count));
      ceilingRounds = 0;
      most = Math.min(most, ceiling);
    },
  };
}

/** Learns the cost of a query by least squares over recent rounds: a fixed time, and a time for each workload. */
function createCost(): {
  readonly learn: (secondsOf: ReadonlyMap<number, number>) => void;
  /** Returns the number of workloads whose query is expected to take `seconds`; 0: not known. */
  readonly countFor: (seconds: number) => number;
} {
  let points = { weight: 0, count: 0, seconds: 0, squares: 0, products: 0 };
  return {
    learn: (secondsOf) => {
      const entries = [...secondsOf].sort(([one], [other]) => one - other);
      let { weight, count, seconds, squares, products } = points;
      [weight, count, seconds] = [weight * MEMORY, count * MEMORY, seconds * MEMORY];
      [squares, products] = [squares * MEMORY, products * MEMORY];
      for (const [index, [each, took]] of entries.entries()) {
        if (entries.slice(index + 1).some(([, longer]) => took > WAITED * longer)) continue;
        weight += 1;
        count += each;
        seconds += took;
        squares += each * each;
        products += each * took;
      }
      points = { weight, count, seconds, squares, products };
    },
    countFor: (aimed) => {
      const { weight, count, seconds, squares, products } = points;
      const spread = weight * squares - count * count;
      if (spread <= 1e-6 * squares * weight) return 0;
      const each = Math.max(0, (weight * products - count * seconds) / spread);
      const fixed = Math.max(0, (seconds - each * count) / weight);
      if (fixed >= aimed) return 0;
      return each === 0 ? MOST_WORKLOADS : (aimed - fixed) / each;
    },
  };
}

function half(count: number): number {
  return Math.max(1, Math.floor(count / 2));
}

/** Limits how many queries are sent at the same time, so that the engine answers each within its time limit. */
export interface Lanes {
  /** Resolves when a query may be sent; null: it may be sent now. The caller must call `leave` once after the query. */
  readonly enter: () => Promise<void> | null;
  readonly leave: () => void;
  /** Called after a timeout. `most`: the number of concurrent queries that were answered in time. */
  readonly narrow: (most: number) => void;
  readonly beginRound: (round: number) => void;
}

/** The number of rounds without a timeout after which twice as many concurrent queries are tried. */
const NARROW_ROUNDS = 8;

export function createLanes(): Lanes {
  let most = Infinity;
  let rounds = 0;
  let offset = 0;
  let running = 0;
  const waiting: (() => void)[] = [];
  const fill = (): void => {
    while (running < most && waiting.length > 0) {
      // Each round starts with another query: otherwise a round that is too short would always miss the same queries.
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

/** The number of slots of a data source by default. A higher limit on concurrent queries has no effect. */
const MOST_LANES = 10;
