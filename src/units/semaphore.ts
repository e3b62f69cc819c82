interface Semaphore {
  /**
   * Resolves when a permit is free, in the order of the calls. The caller must call the returned function exactly once
   * to release the permit.
   */
  readonly acquire: () => Promise<() => void>;
  readonly held: () => number;
}

export function createSemaphore(permits: number): Semaphore {
  let held = 0;
  const waiting: (() => void)[] = [];

  const release = (): void => {
    const next = waiting.shift();
    if (next === undefined) held -= 1;
    else next();
  };

  return {
    acquire: () => {
      if (held >= permits) return new Promise((resolve) => waiting.push(() => resolve(release)));
      held += 1;
      return Promise.resolve(release);
    },
    held: () => held,
  };
}

/** Maps the items in order, at most `most` at the same time. Returns the results in the order of the items. */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  most: number,
  map: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: most }, work));
  return results;
}
