export interface WorkQueue<T> {
  readonly add: (item: T) => void;
}

/** Items that are done are kept until then: removing each from a long list would take as long as the list. */
const TRIM_AT = 1024;

/**
 * Calls `work` for each item in the order of `add`, at most `most` at a time, never within `add`. `work` must not
 * reject. An item that waits costs its place in a list; a semaphore costs each waiting caller its own promises, which
 * outlive garbage collections.
 */
export function createWorkQueue<T extends object>(
  most: number,
  work: (item: T) => Promise<void>,
): WorkQueue<T> {
  const waiting: T[] = [];
  /** Index of the first item that waits. */
  let head = 0;
  let workers = 0;

  const take = (): T | undefined => {
    const item = waiting[head];
    head += 1;
    if (head >= waiting.length || head === TRIM_AT) {
      waiting.splice(0, head);
      head = 0;
    }
    return item;
  };

  const workToEnd = async (): Promise<void> => {
    for (let item = take(); item !== undefined; item = take()) await work(item);
    workers -= 1;
  };

  return {
    add: (item) => {
      waiting.push(item);
      if (workers >= most) return;
      workers += 1;
      void Promise.resolve().then(workToEnd);
    },
  };
}
