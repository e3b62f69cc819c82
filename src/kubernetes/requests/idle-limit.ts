import { onAbort } from '../../units/abort.js';
import type { Clock } from '../../units/clock.js';

const IDLE_MS = 150_000;

export class IdleError extends Error {
  override name = 'IdleError';
}

/**
 * Runs `work` with a signal that is aborted when `idleMs` reaches 150 s, and then throws `IdleError`. A hung server
 * keeps its connection open, so only the absence of events shows the problem. Source: reliability.md, K12 and K14.
 */
export async function withIdleLimit(
  {
    clock,
    signal,
    idleMs,
  }: { readonly clock: Clock; readonly signal: AbortSignal; readonly idleMs: () => number },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const idle = new IdleError('no event');
  let cancel = (): void => undefined;
  const arm = (): void => {
    const leftMs = IDLE_MS - idleMs();
    if (leftMs <= 0) controller.abort(idle);
    else cancel = clock.after(leftMs, arm);
  };
  const follow = (): void => controller.abort(signal.reason);
  if (signal.aborted) follow();
  const forget = onAbort(signal, follow);
  arm();
  try {
    await work(controller.signal);
  } catch (error) {
    if (controller.signal.reason !== idle) throw error;
  } finally {
    cancel();
    forget();
  }
  if (controller.signal.reason === idle) throw idle;
}
