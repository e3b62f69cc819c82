import { type Clock, TURN_MS } from './clock.js';

/** A task that yields to other work every 20 ms. The first 20 ms run in the call that starts it. */
export interface TurnedWork<T> {
  /** Returns the result; null: not finished. Throws the error of the task. */
  readonly result: () => { readonly value: T } | null;
  /** Does the rest now. Never throws. */
  readonly hurry: () => void;
  /** Does the rest now and returns the result. Throws the error of the task. */
  readonly finish: () => T;
  /** Rejects with the error of the task, which is never an unhandled rejection. */
  readonly finished: Promise<T>;
}

/** `steps` yields between steps that take less than a millisecond. */
export function workInTurns<T>(clock: Clock, steps: Iterator<void, T, void>): TurnedWork<T> {
  let outcome: { readonly value: T } | { readonly error: unknown } | null = null;
  let cancelTurn = (): void => undefined;
  const settle = settler<T>();

  const workUntil = (endMs: number): void => {
    try {
      while (outcome === null) {
        const next = steps.next();
        if (next.done === true) {
          outcome = { value: next.value };
          settle.resolve(next.value);
        } else if (clock.monotonicMs() >= endMs) {
          cancelTurn = clock.after(0, workOneTurn);
          return;
        }
      }
    } catch (error) {
      outcome = { error };
      settle.reject(error);
    }
  };
  const workOneTurn = (): void => workUntil(clock.monotonicMs() + TURN_MS);
  const workToEnd = (): void => {
    cancelTurn();
    workUntil(Infinity);
  };
  const result = (): { readonly value: T } | null => {
    if (outcome !== null && 'error' in outcome) throw outcome.error;
    return outcome;
  };

  workOneTurn();
  return {
    result,
    hurry: workToEnd,
    finish: () => {
      workToEnd();
      const known = result();
      if (known === null) throw new Error('the task has no result');
      return known.value;
    },
    finished: settle.promise,
  };
}

interface Settler<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

function settler<T>(): Settler<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
