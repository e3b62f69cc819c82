import { type Instant, instantFromMs, secondsBetween } from '../../units/time.js';
import type { Load } from './load.js';
import type { Measure, QueueSettings } from './settings.js';

/** A queue for load that the ready pods cannot serve at once: first in, first out, and divisible like a fluid. */
export interface Queue {
  /** Simulates a period in which the number of ready pods is constant. */
  readonly advance: (period: Period, visit?: VisitServed) => void;
  /** Returns what an exporter measures: `depth`, `wait` and `ready` at `at`, other measures as means since `from`. */
  readonly read: (measure: Measure, from: Instant, at: Instant) => number | null;
  readonly depth: () => number;
  /** The load that a ready pod serves in a second. */
  readonly capacity: number;
  readonly log: () => QueueLog;
}

interface Period {
  readonly from: Instant;
  readonly to: Instant;
  readonly ready: number;
}

/** Called with the load per second that all ready pods together served until `to`; null: unknown. */
type VisitServed = (to: Instant, served: number | null) => void;

/** What happened in the queue, in steps of equal length. Amounts are load per second times seconds. */
export interface QueueLog {
  readonly start: Instant;
  readonly stepSeconds: number;
  readonly arrived: Float32Array;
  readonly served: Float32Array;
  readonly lost: Float32Array;
  /** Sum of the seconds that the served load had waited. */
  readonly waited: Float32Array;
  /** The longest wait in seconds, of load that was served or still waits. */
  readonly longestWait: Float32Array;
  readonly deepest: Float32Array;
  /** The depth at the end of each step. */
  readonly depth: Float32Array;
}

export interface QueueInput<L = Load> extends QueueSettings {
  /** The load that arrives per second. */
  readonly load: L;
  /** The load that a ready pod serves in a second. */
  readonly capacity: number;
}

/** An amount of load that arrived at a constant rate between two times. */
interface Arrival {
  from: number;
  readonly to: number;
  amount: number;
}

/** A period in which all amounts change linearly. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly ready: number;
  /** The load per second that arrives; null: unknown. */
  readonly load: number | null;
  readonly served: number;
  readonly lost: number;
  readonly depth: readonly [from: number, to: number];
  readonly wait: readonly [from: number, to: number];
}

const LOG_STEP_SECONDS = 15;
const LONGEST_PIECE_MS = LOG_STEP_SECONDS * 1000;
/** Smaller amounts are ignored as rounding errors. */
const LEAST_AMOUNT = 1e-9;

/**
 * Creates a queue. `start` and `end`: the period of the log. `keptSeconds`: the maximum age, in seconds, of the
 * argument `from` of `read`.
 */
export function createQueue(
  { load, capacity, mostDepth, timeoutSeconds }: QueueInput,
  {
    start,
    end,
    keptSeconds,
  }: { readonly start: Instant; readonly end: Instant; readonly keptSeconds: number },
): Queue {
  const line = createLine();
  const { log, add: addToLog } = createLog(start, end);
  const recent: Piece[] = [];
  let oldest = 0;
  // Load that has waited too long is only dropped at the end of a `Piece`, so a piece is at most a tenth of the
  // timeout.
  const timeoutMs = timeoutSeconds * 1000;
  const longestMs = Math.min(LONGEST_PIECE_MS, Math.max(100, timeoutMs / 10));

  /** Returns the time until which all amounts change linearly. */
  const nextChange = (from: number, to: number, growth: number): number => {
    const depth = line.depth();
    const nextStep = start + (Math.floor((from - start) / LONGEST_PIECE_MS) + 1) * LONGEST_PIECE_MS;
    const isEmptying = growth < 0 && depth > 0;
    const isFilling = growth > 0 && depth < mostDepth && mostDepth < Infinity;
    const changeMs = isEmptying
      ? (depth / -growth) * 1000
      : isFilling
        ? ((mostDepth - depth) / growth) * 1000
        : Infinity;
    return Math.min(
      to,
      nextStep,
      from + Math.max(changeMs, 0.001),
      depth > 0 || growth > 0 ? from + longestMs : to,
    );
  };

  const serve = (from: number, to: number, arriving: number | null, ready: number): Piece => {
    const seconds = (to - from) / 1000;
    const rate = ready * capacity;
    const arrived = (arriving ?? 0) * seconds;
    const before = { depth: line.depth(), wait: line.wait(from) };
    const isFull = before.depth >= mostDepth;
    const admitted = isFull ? Math.min(arrived, rate * seconds) : arrived;
    line.add(from, to, admitted);
    const { served, waited, longest } = line.take(from, to, rate);
    const late = line.drop(to - timeoutMs);
    const lost = arrived - admitted + late;
    const wait = line.wait(to);
    addToLog(from, {
      arrived,
      served,
      lost,
      waited,
      longestWait: Math.max(longest, wait),
      depth: line.depth(),
      deepest: Math.max(before.depth, line.depth()),
    });
    return {
      from,
      to,
      ready,
      load: arriving,
      served: served / seconds,
      lost: lost / seconds,
      depth: [before.depth, line.depth()],
      wait: [before.wait, wait],
    };
  };

  const keep = (piece: Piece): void => {
    recent.push(piece);
    while ((recent[oldest]?.to ?? Infinity) < piece.to - keptSeconds * 1000) oldest += 1;
    if (oldest > 1000) oldest -= recent.splice(0, oldest).length;
  };

  return {
    advance: ({ from, to, ready }, visit) => {
      load.pieces(from, to, (pieceStart, pieceEnd, arriving) => {
        for (let time: number = pieceStart; time < pieceEnd;) {
          const until = nextChange(time, pieceEnd, (arriving ?? 0) - ready * capacity);
          const piece = serve(time, until, arriving, ready);
          keep(piece);
          visit?.(instantFromMs(until), arriving === null ? null : piece.served);
          time = until;
        }
      });
    },
    read: (measure, from, at) => readPieces(recent, oldest, { measure, from: Math.min(from, at - 1), at }),
    depth: line.depth,
    capacity,
    log: () => log,
  };
}

interface Line {
  readonly depth: () => number;
  /** Returns how many seconds the oldest load has waited at a time; 0: nothing waits. */
  readonly wait: (time: number) => number;
  readonly add: (from: number, to: number, amount: number) => void;
  /** Serves waiting load, at most `rate` in a second. */
  readonly take: (
    from: number,
    to: number,
    rate: number,
  ) => { readonly served: number; readonly waited: number; readonly longest: number };
  /** Removes the load that arrived before a time, and returns its amount. */
  readonly drop: (before: number) => number;
}

/** Creates the list of the waiting load, the oldest first. */
function createLine(): Line {
  const waiting: Arrival[] = [];
  let first = 0;
  let depth = 0;

  const oldest = (): Arrival | undefined => waiting[first];
  const remove = (arrival: Arrival, amount: number): void => {
    const isAll = amount >= arrival.amount - LEAST_AMOUNT;
    if (isAll) first += 1;
    else {
      arrival.from += (arrival.to - arrival.from) * (amount / arrival.amount);
      arrival.amount -= amount;
    }
    depth -= amount;
    if (first === waiting.length) {
      waiting.length = 0;
      first = 0;
      depth = 0;
    } else if (first > 1000) {
      waiting.splice(0, first);
      first = 0;
    }
  };

  return {
    depth: () => depth,
    wait: (time) => Math.max(0, (time - (oldest()?.from ?? time)) / 1000),
    add: (from, to, amount) => {
      if (amount <= LEAST_AMOUNT) return;
      waiting.push({ from, to, amount });
      depth += amount;
    },
    take: (from, to, rate) => {
      const sums = { served: 0, waited: 0, longest: 0 };
      let left = (rate * (to - from)) / 1000;
      let time = from;
      for (let arrival = oldest(); arrival !== undefined && left > LEAST_AMOUNT; arrival = oldest()) {
        const amount = Math.min(left, arrival.amount);
        const until = time + (amount / rate) * 1000;
        const arrivedUntil = arrival.from + (arrival.to - arrival.from) * (amount / arrival.amount);
        // If the queue is short, load is served while it arrives. Its wait is then 0, not negative.
        const [least, most] = [time - arrival.from, until - arrivedUntil].map((ms) => Math.max(0, ms / 1000));
        sums.served += amount;
        sums.waited += (amount * ((least ?? 0) + (most ?? 0))) / 2;
        sums.longest = Math.max(sums.longest, least ?? 0, most ?? 0);
        remove(arrival, amount);
        left -= amount;
        time = until;
      }
      return sums;
    },
    drop: (before) => {
      let dropped = 0;
      for (let arrival = oldest(); arrival !== undefined && arrival.from < before; arrival = oldest()) {
        const { from, to, amount } = arrival;
        const late = to <= before ? amount : amount * ((before - from) / (to - from));
        dropped += late;
        remove(arrival, late);
        if (to > before) break;
      }
      return dropped;
    },
  };
}

type Sums = Readonly<Record<Exclude<keyof QueueLog, 'start' | 'stepSeconds'>, number>>;

function createLog(
  start: Instant,
  end: Instant,
): { readonly add: (from: number, sums: Sums) => void; readonly log: QueueLog } {
  const steps = Math.max(1, Math.ceil(secondsBetween(start, end) / LOG_STEP_SECONDS));
  const column = (): Float32Array => new Float32Array(steps);
  const log: QueueLog = {
    start,
    stepSeconds: LOG_STEP_SECONDS,
    arrived: column(),
    served: column(),
    lost: column(),
    waited: column(),
    longestWait: column(),
    deepest: column(),
    depth: column(),
  };
  return {
    log,
    add: (from, sums) => {
      const step = Math.floor((from - start) / LONGEST_PIECE_MS);
      if (step < 0 || step >= steps) return;
      for (const name of ['arrived', 'served', 'lost', 'waited'] as const)
        log[name][step] = (log[name][step] ?? 0) + sums[name];
      for (const name of ['longestWait', 'deepest'] as const)
        log[name][step] = Math.max(log[name][step] ?? 0, sums[name]);
      log.depth[step] = sums.depth;
    },
  };
}

function readPieces(
  pieces: readonly Piece[],
  oldest: number,
  { measure, from, at }: { readonly measure: Measure; readonly from: number; readonly at: number },
): number | null {
  const last = pieces.findLastIndex((piece) => piece.from < at);
  const piece = last < oldest ? undefined : pieces[last];
  if (piece === undefined) return null;
  if (measure === 'ready') return piece.ready;
  if (measure === 'depth' || measure === 'wait') {
    if (piece.load === null) return null;
    const [start, end] = piece[measure];
    return start + (end - start) * Math.min(1, (at - piece.from) / (piece.to - piece.from));
  }
  let area = 0;
  let known = 0;
  for (let index = last; index >= oldest; index -= 1) {
    const each = pieces[index];
    if (each === undefined || each.to <= from) break;
    const value = each[measure];
    if (each.load === null || value === null) continue;
    const ms = Math.min(each.to, at) - Math.max(each.from, from);
    area += value * ms;
    known += ms;
  }
  return known <= 0 ? null : area / known;
}
