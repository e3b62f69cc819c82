import { onAbort } from './abort.js';
import { type Clock, DeadlineError } from './clock.js';

const NO_LISTENERS: readonly (() => void)[] = [];

export type StopSignal = AbortSignal | LightSignal;

/** The part of an AbortSignal that a request needs, without its events. */
export class LightSignal {
  aborted = false;
  reason: unknown = undefined;
  /** Of one listener or a few. */
  #listeners: readonly (() => void)[] = NO_LISTENERS;

  /** Returns a function that unsubscribes. */
  onStop(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      const others = this.#listeners.filter((one) => one !== listener);
      this.#listeners = others.length === 0 ? NO_LISTENERS : others;
    };
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
  }
}

/** Like `onAbort`, for both kinds of signal. */
export function onStop(signal: StopSignal, listener: () => void): () => void {
  return signal instanceof AbortSignal ? onAbort(signal, listener) : signal.onStop(listener);
}

/**
 * Aborts itself with a `DeadlineError` after `ms`, or with the reason of `parent` when `parent` is aborted. `end` must be
 * called: it leaves no timer or listener. For work that runs thousands of times in a round: an AbortSignal for each query,
 * and what Node.js attaches to it, take a tenth of the CPU time of the query.
 */
export class LightDeadline extends LightSignal {
  readonly #cancel: () => void;
  readonly #forget: (() => void) | null;

  constructor(
    clock: Clock,
    { ms, parent }: { readonly ms: number; readonly parent?: AbortSignal | undefined },
  ) {
    super();
    const follow = (): void => this.abort(parent?.reason);
    if (parent?.aborted === true) follow();
    this.#forget = parent === undefined ? null : onAbort(parent, follow);
    this.#cancel = clock.after(ms, () => this.abort(new DeadlineError(ms)));
  }

  end(): void {
    this.#cancel();
    this.#forget?.();
  }
}

/** Runs `work` with an AbortSignal that is aborted with `signal`, for libraries that need one. */
export async function withAbortSignal<T>(
  signal: StopSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (signal instanceof AbortSignal) return work(signal);
  const controller = new AbortController();
  const follow = (): void => controller.abort(signal.reason);
  if (signal.aborted) follow();
  const forget = signal.onStop(follow);
  try {
    return await work(controller.signal);
  } finally {
    forget();
  }
}
