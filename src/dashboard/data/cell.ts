/** A value whose changes can be observed. */
export interface Cell<T> {
  readonly get: () => T;
  /** Sets the value. If it has changed, calls the listeners. */
  readonly set: (value: T) => void;
  /** Adds a listener. Returns a function that removes it. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** A cell that its users cannot change. */
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
