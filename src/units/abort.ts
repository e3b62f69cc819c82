const fans = new WeakMap<AbortSignal, { readonly listeners: Set<() => void>; readonly tell: () => void }>();

/**
 * Calls `listener` when `signal` is aborted; not where it was before. The answer takes the listener back. However many
 * listen, the signal has one listener: Node takes the eleventh for a leak and warns, but 100 requests under way that all
 * end with the term of a leader are none.
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
    // A signal with a listener is kept in memory by those that it follows.
    signal.removeEventListener('abort', tell);
    fans.delete(signal);
  };
}
