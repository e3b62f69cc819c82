import type { Clock } from '../../units/clock.js';

/** A scaler that needs a query. */
export interface QueryOwner {
  readonly namespace: string;
  readonly scaler: string;
}

export interface SlotRequest {
  /** One entry for each namespace that needs the query. Empty: all namespaces, or the service itself, need it. */
  readonly owners: readonly QueryOwner[];
  /** Whether the query is known to be slow. */
  readonly isSlow: boolean;
  /** After this monotonic time in milliseconds, the request gets no slot anymore. */
  readonly untilMs: number;
}

export interface FairSlots<T> {
  readonly add: (request: T) => void;
  readonly accountOf: (namespace: string) => NamespaceAccount;
}

/** Records how much time the queries of a namespace take. */
export interface NamespaceAccount {
  /** The seconds for which queries of the namespace had a slot. Halved every 15 s. */
  usedSeconds: number;
  /** The number of running queries, and how many of them are known to be slow. */
  running: number;
  slowRunning: number;
  /** Moving average of the seconds that a query takes. */
  typicalSeconds: number;
  seenMs: number;
  /** The number of the current round, and the queries and remaining seconds of the namespace in this round. */
  round: number;
  queries: number;
  leftSeconds: number;
}

const HALVING_MS = 15_000;
const FORGET_MS = 600_000;
/** Assumed seconds of a query until a query of the namespace has ended. */
const TYPICAL_SECONDS = 0.05;
const AVERAGED = 0.2;

/** Slow queries get at most half of the slots, unless more than half of the namespaces have slow queries. */
const SLOW_SHARE = 1 / 2;
/** The share of the slots that a single namespace always leaves to the others. */
const OTHERS_SHARE = 1 / 4;

/**
 * Distributes `most` slots to requests. `runWithSlot` is called for each request that gets a slot, but never within
 * `add`, and must not reject. `expire` is called for each request that gets no slot in time.
 * Requests without an owner come first, because their number does not depend on a single namespace. Otherwise the
 * namespace that has recently used the fewest seconds gets the next slot. The scalers of a namespace take turns. If
 * there are several namespaces, queries that are known to be slow share at most half of the slots, and no namespace
 * gets all slots, because a running query keeps its slot until its deadline.
 */
export function createFairSlots<T extends SlotRequest>(options: {
  readonly most: number;
  readonly clock: Clock;
  readonly runWithSlot: (request: T) => Promise<void>;
  readonly expire: (request: T) => void;
}): FairSlots<T> {
  const { most, clock, runWithSlot, expire } = options;
  const namespaces = new Map<string, Namespace<T>>();
  const shared = createTurns<T>();
  let running = 0;
  let slowRunning = 0;
  let waiting = 0;
  let isFilling = false;
  let halvedMs = clock.monotonicMs();
  let sweep: { readonly atMs: number; readonly cancel: () => void } | null = null;

  const accountOf = (name: string): Namespace<T> => {
    let account = namespaces.get(name);
    if (account === undefined) namespaces.set(name, (account = new Namespace<T>()));
    account.seenMs = clock.monotonicMs();
    return account;
  };

  const halve = (): void => {
    const nowMs = clock.monotonicMs();
    if (nowMs - halvedMs < HALVING_MS) return;
    const share = 0.5 ** ((nowMs - halvedMs) / HALVING_MS);
    halvedMs = nowMs;
    for (const [name, account] of namespaces) {
      account.usedSeconds *= share;
      if (nowMs - account.seenMs > FORGET_MS && account.isIdle()) namespaces.delete(name);
    }
  };

  /** Removes and returns the request that gets the next slot; null: no request may have one. */
  const takeNext = (): T | null => {
    const ofAll = shared.take();
    if (ofAll !== null) return ofAll;
    const isAlone = namespaces.size < 2;
    const ownMost = isAlone ? most : Math.max(1, most - Math.ceil(most * OTHERS_SHARE));
    let usual: Namespace<T> | null = null;
    let slow: Namespace<T> | null = null;
    let withSlow = 0;
    for (const account of namespaces.values()) {
      if (account.slow.size() > 0 || account.slowRunning > 0) withSlow += 1;
      if (account.running >= ownMost) continue;
      if (account.usual.size() > 0 && comesBefore(account, usual)) usual = account;
      if (account.slow.size() > 0 && comesBefore(account, slow)) slow = account;
    }
    const share = Math.max(SLOW_SHARE, withSlow / namespaces.size);
    const slowMost = isAlone ? most : Math.max(1, Math.min(most - 1, Math.floor(most * share)));
    if (slow === null || slowRunning >= slowMost) return usual?.usual.take() ?? null;
    // One slow query may always run: otherwise slow queries would wait until no other query waits.
    return usual === null || (slowRunning === 0 && most > 1) ? slow.slow.take() : usual.usual.take();
  };

  const occupy = async (request: T): Promise<void> => {
    const { owners, isSlow } = request;
    const accounts = owners.map(({ namespace }) => accountOf(namespace));
    const step = (count: number): void => {
      running += count;
      if (isSlow && accounts.length > 0) slowRunning += count;
      for (const account of accounts) {
        account.running += count;
        if (isSlow) account.slowRunning += count;
      }
    };
    const startMs = clock.monotonicMs();
    step(1);
    await runWithSlot(request);
    step(-1);
    const seconds = (clock.monotonicMs() - startMs) / 1000;
    for (const account of accounts) {
      account.usedSeconds += seconds / accounts.length;
      account.leftSeconds -= seconds / accounts.length;
      account.typicalSeconds += AVERAGED * (seconds - account.typicalSeconds);
    }
    fill();
  };

  const fill = (): void => {
    isFilling = false;
    halve();
    const nowMs = clock.monotonicMs();
    while (running < most && waiting > 0) {
      const request = takeNext();
      if (request === null) break;
      waiting -= 1;
      if (request.untilMs <= nowMs) expire(request);
      else void occupy(request);
    }
    if (waiting > 0) return;
    sweep?.cancel();
    sweep = null;
  };

  /** Plans the time at which requests that got no slot in time are ended. */
  const sweepAt = (atMs: number): void => {
    if (sweep !== null && sweep.atMs <= atMs) return;
    sweep?.cancel();
    const cancel = clock.after(Math.max(1, atMs - clock.monotonicMs()), () => {
      sweep = null;
      const nowMs = clock.monotonicMs();
      let nextMs = Infinity;
      const isLate = (request: T): boolean => {
        if (request.untilMs > nowMs) nextMs = Math.min(nextMs, request.untilMs);
        return request.untilMs <= nowMs;
      };
      const late = shared.remove(isLate);
      for (const { usual, slow } of namespaces.values())
        late.push(...usual.remove(isLate), ...slow.remove(isLate));
      waiting -= late.length;
      late.forEach(expire);
      if (nextMs < Infinity) sweepAt(nextMs);
    });
    sweep = { atMs, cancel };
  };

  return {
    accountOf,
    add: (request) => {
      const { owners, isSlow, untilMs } = request;
      let payer: { readonly account: Namespace<T>; readonly scaler: string } | null = null;
      for (const { namespace, scaler } of owners) {
        const account = accountOf(namespace);
        if (comesBefore(account, payer?.account ?? null)) payer = { account, scaler };
      }
      if (payer === null) shared.add('', request);
      else (isSlow ? payer.account.slow : payer.account.usual).add(payer.scaler, request);
      waiting += 1;
      sweepAt(untilMs);
      if (isFilling || running >= most) return;
      isFilling = true;
      void Promise.resolve().then(fill);
    },
  };
}

class Namespace<T> implements NamespaceAccount {
  usedSeconds = 0;
  running = 0;
  slowRunning = 0;
  typicalSeconds = TYPICAL_SECONDS;
  seenMs = 0;
  round = -1;
  queries = 0;
  leftSeconds = 0;
  readonly usual = createTurns<T>();
  readonly slow = createTurns<T>();

  isIdle(): boolean {
    return this.running === 0 && this.usual.size() === 0 && this.slow.size() === 0;
  }
}

/** Counts running queries with their typical time. Otherwise a new namespace would get all slots at once. */
function comesBefore<T>(one: Namespace<T>, other: Namespace<T> | null): boolean {
  return other === null || claimOf(one) < claimOf(other);
}

function claimOf<T>({ usedSeconds, running, typicalSeconds }: Namespace<T>): number {
  return usedSeconds + running * typicalSeconds;
}

/** The waiting requests of several scalers. The scalers take turns. */
interface Turns<T> {
  readonly size: () => number;
  readonly add: (scaler: string, request: T) => void;
  readonly take: () => T | null;
  readonly remove: (isRemoved: (request: T) => boolean) => T[];
}

interface Turn<T> {
  readonly scaler: string;
  requests: T[];
}

function createTurns<T>(): Turns<T> {
  const turnOf = new Map<string, Turn<T>>();
  let order: Turn<T>[] = [];
  let size = 0;
  return {
    size: () => size,
    add: (scaler, request) => {
      size += 1;
      const turn = turnOf.get(scaler);
      if (turn !== undefined) {
        turn.requests.push(request);
        return;
      }
      const first = { scaler, requests: [request] };
      turnOf.set(scaler, first);
      order.push(first);
    },
    take: () => {
      const turn = order.shift();
      if (turn === undefined) return null;
      const request = turn.requests.shift();
      if (turn.requests.length > 0) order.push(turn);
      else turnOf.delete(turn.scaler);
      if (request === undefined) return null;
      size -= 1;
      return request;
    },
    remove: (isRemoved) => {
      const removed: T[] = [];
      for (const turn of order) {
        removed.push(...turn.requests.filter(isRemoved));
        turn.requests = turn.requests.filter((request) => !isRemoved(request));
        if (turn.requests.length === 0) turnOf.delete(turn.scaler);
      }
      order = order.filter(({ requests }) => requests.length > 0);
      size -= removed.length;
      return removed;
    },
  };
}
