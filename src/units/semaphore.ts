/** Limits how many callers work at the same time. */
export interface Semaphore {
  /** Resolves when a permit is free, in the order of the calls, with the function that releases it: call that once. */
  readonly acquire: () => Promise<() => void>;
  /** The number of permits that are held. */
  readonly held: () => number;
}

/** Returns a semaphore with `permits` free permits. */
export function createSemaphore(permits: number): Semaphore {
  let held = 0;
  const waiting: (() => void)[] = [];
  /** Of the first waiter: `shift` on a long array would cost its length each time. */
  let head = 0;

  const release = (): void => {
    const next = waiting[head];
    if (next === undefined) {
      held -= 1;
      return;
    }
    head += 1;
    if (head === waiting.length) {
      waiting.length = 0;
      head = 0;
    }
    next();
  };

  return {
    acquire: async () => {
      if (held < permits) held += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return release;
    },
    held: () => held,
  };
}
