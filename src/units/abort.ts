const fans = new WeakMap<AbortSignal, { readonly listeners: Set<() => void>; readonly tell: () => void }>();

/**
 * Calls `listener` when `signal` is aborted, but not if it was aborted before. Returns the function that unsubscribes
 * it. The signal has one listener for all: Node warns of a leak at the eleventh, but 100 requests that end with a
 * leader's term are none.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let fan = fans.get(signal);
  if (fan === undefined) {
    const listeners = new Set<() => void>();
    const tell = (): void => {
      for (const each of [...listeners]) each();
    };
    fan = { listeners, tell };
    fans.set(signal, fan);
    signal.addEventListener('abort', tell);
  }
  const { listeners, tell } = fan;
  const entry = (): void => listener();
  listeners.add(entry);
  return () => {
    listeners.delete(entry);
    if (listeners.size > 0 || fans.get(signal)?.tell !== tell) return;
    // A signal with a listener is kept in memory by the signals that it follows.
    signal.removeEventListener('abort', tell);
    fans.delete(signal);
  };
}
