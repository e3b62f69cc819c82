const subscriptions = new WeakMap<
  AbortSignal,
  { readonly listeners: Set<() => void>; readonly notify: () => void }
>();

/**
 * Calls `listener` when `signal` is aborted, but not if it is aborted already. Returns a function that unsubscribes.
 * All callers share one listener of the signal: Node.js warns of a leak at eleven listeners, but one term of a leader
 * may have 100 requests.
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
    // Removes the listener, because signals keep every dependent signal that has a listener in memory.
    signal.removeEventListener('abort', notify);
    subscriptions.delete(signal);
  };
}

/** Resolves when `signal` is aborted, or immediately if it is aborted already. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => onAbort(signal, resolve));
}
