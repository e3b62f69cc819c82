const subscriptions = new WeakMap<
  AbortSignal,
  { readonly listeners: Set<() => void>; readonly notify: () => void }
>();

/**
 * Calls `listener` when `signal` is aborted, but not if it already is. Returns a function that unsubscribes. All
 * callers share one listener of the signal: Node.js warns of a leak at eleven, but one term of a leader may have 100
 * requests.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let subscription = subscriptions.get(signal);
  if (subscription === undefined) {
    const listeners = new Set<() => void>();
    const notify = (): void => {
      for (const each of [...listeners]) each();
    };
    subscription = { listeners, notify };
    subscriptions.set(signal, subscription);
    signal.addEventListener('abort', notify);
  }
  const { listeners, notify } = subscription;
  const entry = (): void => listener();
  listeners.add(entry);
  return () => {
    listeners.delete(entry);
    if (listeners.size > 0 || subscriptions.get(signal)?.notify !== notify) return;
    // Removed, because as long as a signal has a listener, it is kept in memory by the signals that it follows.
    signal.removeEventListener('abort', notify);
    subscriptions.delete(signal);
  };
}

/** Resolves when `signal` is aborted, or immediately if it already is. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => onAbort(signal, resolve));
}
