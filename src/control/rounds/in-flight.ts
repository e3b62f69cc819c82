/** Counts work in flight. A set of promises would cost two more promises for each of 10,000 cycles. */
export interface InFlight {
  readonly begin: () => void;
  readonly end: () => void;
  /** Resolves once all work that had begun before this call, and any other until then, has ended. */
  readonly untilNone: () => Promise<void>;
}

export function createInFlight(): InFlight {
  let count = 0;
  let waiting: (() => void)[] = [];
  return {
    begin: () => {
      count += 1;
    },
    end: () => {
      count -= 1;
      if (count > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    untilNone: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
