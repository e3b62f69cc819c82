/** A value with change listeners. */
export interface Cell<T> {
  readonly get: () => T;
  /** Calls the listeners unless the value is unchanged. */
  readonly set: (value: T) => void;
  /** Returns a function that unsubscribes. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** A cell without `set`. */
export type ReadableCell<T> = Omit<Cell<T>, 'set'>;

export function createCell<T>(initial: T): Cell<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(value, next)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
