/** Counts the cycles in flight per bucket. A bucket is released after its last cycle. */
export interface BusyBuckets {
  readonly track: <T>(bucket: number, cycle: () => Promise<T>) => Promise<T>;
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
    const done = waiting.filter(({ isDone }) => isDone());
    waiting = waiting.filter((one) => !done.includes(one));
    for (const { resolve } of done) resolve();
  };

  return {
    track: async (bucket, cycle) => {
      counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
      try {
        return await cycle();
      } finally {
        end(bucket);
      }
    },
    untilIdle: (bucket) => until(() => !counts.has(bucket)),
    untilAllIdle: () => until(() => counts.size === 0),
    isIdle: () => counts.size === 0,
  };
}
