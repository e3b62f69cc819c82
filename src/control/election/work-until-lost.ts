import type { Lead } from './leadership.js';

/** The steps of a term, in the order in which they run. */
interface TermSteps {
  readonly lead: Lead;
  /** Keeps the Lease. Returns why it was lost, or null if the signal was aborted first. */
  readonly keep: (signal: AbortSignal) => Promise<string | null>;
  /** Forbids all further writes. `lost`: why the Lease was lost, null after a stop. */
  readonly end: (lost: string | null) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Runs the work of a term until the Lease is lost, the work fails or `signal` is aborted. Returns whether the Lease is
 * still held, so that it may be released. A lost Lease forbids all further writes at once; on a stop, changes in flight
 * finish first.
 */
export async function workUntilLost(
  { lead, keep, end, onError }: TermSteps,
  signal: AbortSignal,
): Promise<boolean> {
  const ending = new AbortController();
  const failed = new AbortController();
  const work = lead(ending.signal)
    .catch(onError)
    .finally(() => failed.abort());
  let lost: string | null = 'renewal of the Lease is forbidden';
  try {
    lost = await keep(AbortSignal.any([signal, failed.signal]));
  } finally {
    if (lost !== null) end(lost);
    ending.abort();
    await work;
    end(null);
  }
  return lost === null;
}
