import type { Awaitable } from '../../units/awaitable.js';

/** Counts the cycles in flight per bucket. A bucket is released after its last cycle. */
export interface BusyBuckets {
  readonly track: <T>(bucket: number, cycle: () => Awaitable<T>) => Awaitable<T>;
  readonly untilIdle: (bucket: number) => Promise<void>;
  readonly untilAllIdle: () => Promise<void>;
  readonly isIdle: () => boolean;
}

export function createBusyBuckets(): BusyBuckets {
  const counts = new Map<number, number>();
  let waiting: { readonly isDone: () => boolean; readonly resolve: () => void }[] = [];

  const until = (isDone: () => boolean): Promise<void> =>
    isDone() ? Promise.resolve() : new Promise((resolve) => waiting.push({ isDone, resolve }));

  const end = (bucket: number): void => {
    const count = (counts.get(bucket) ?? 0) - 1;
    if (count > 0) counts.set(bucket, count);
    else counts.delete(bucket);
    if (waiting.length === 0) return;
    const done = waiting.filter(({ isDone }) => isDone());
    waiting = waiting.filter((one) => !done.includes(one));
    for (const { resolve } of done) resolve();
  };

  return {
    track: (bucket, cycle) => {
      counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
      let isRunning = false;
      try {
        const result = cycle();
        if (!(result instanceof Promise)) return result;
        isRunning = true;
        return result.finally(() => end(bucket));
      } finally {
        if (!isRunning) end(bucket);
      }
    },
    untilIdle: (bucket) => until(() => !counts.has(bucket)),
    untilAllIdle: () => until(() => counts.size === 0),
    isIdle: () => counts.size === 0,
  };
}
