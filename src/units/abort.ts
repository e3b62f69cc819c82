const subscriptions = new WeakMap<
  AbortSignal,
  { readonly listeners: Set<() => void>; readonly notify: () => void }
>();

/**
 * Calls `listener` when `signal` is aborted, but not if it was aborted before. Returns the function that unsubscribes
 * it. The signal has one listener for all: Node warns of a leak at the eleventh, but 100 requests that end with a
 * leader's term are none.
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
    // A signal with a listener is kept in memory by the signals that it follows.
    signal.removeEventListener('abort', notify);
    subscriptions.delete(signal);
  };
}
