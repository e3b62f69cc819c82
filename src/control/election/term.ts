import type { LeaseClient, SeenLease } from '../../kubernetes/lease.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import type { Log } from '../../units/log.js';
import { sleep, withDeadline } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import { isWithin, momentOf, releasedSpec, renewedSpec } from './election-rules.js';
import type { ElectionTimes, Moment } from './election-rules.js';
import type { Lead } from './leadership.js';
import { errorMessage } from '../../units/failure.js';

export interface Term {
  readonly epoch: string;
  /** Whether the last renewal is less than renewDeadline ago, on the monotonic and on the wall clock. */
  readonly isValid: () => boolean;
  /** Returns the seconds since the last successful renewal was sent, on the monotonic clock. */
  readonly sinceRenewalSeconds: () => number;
  /** Renews the Lease every retryPeriod. Returns why the term has ended; null: `signal` was aborted. */
  readonly keep: (signal: AbortSignal) => Promise<string | null>;
  /** Releases the Lease, so that followers do not wait until it expires. Never throws; takes at most 3 s. */
  readonly release: () => Promise<void>;
  readonly lease: () => SeenLease;
}

export interface TermParts {
  readonly client: LeaseClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly times: ElectionTimes;
  readonly identity: string;
}

const RELEASE_MS = 3000;
const MAX_RELEASE_ATTEMPTS = 3;

/**
 * Creates the term that begins with an acquired Lease. `since` is when the request that acquired the Lease was sent.
 */
export function beginTerm(
  parts: TermParts,
  acquired: { readonly lease: SeenLease; readonly since: Moment },
): Term {
  const { client, clock, log, times, identity } = parts;
  const deadlineMs = times.renewDeadlineSeconds * 1000;
  let { lease, since } = acquired;
  /** Whether the result of the last update is unknown, for example because its response was lost. */
  let isUnsure = false;
  let isFailing = false;

  const isValid = (): boolean => isWithin(clock, since, deadlineMs);

  const renew = async (signal: AbortSignal): Promise<string | null> => {
    const found = isUnsure ? await client.read(signal) : lease;
    if (found === null) return 'the Lease was deleted';
    const holder = found.spec.holderIdentity;
    if (holder !== identity)
      return holder === '' ? 'another client has released the Lease' : `${holder} holds the Lease`;
    const begun = momentOf(clock);
    isUnsure = true;
    const renewed = await client.update(found, renewedSpec(found.spec, clock.now(), times), signal);
    [lease, since, isUnsure] = [renewed, begun, false];
    return null;
  };

  const releaseLease = async (signal: AbortSignal): Promise<void> => {
    for (let attempts = 1; ; attempts += 1) {
      const found = isUnsure ? await client.read(signal) : lease;
      if (found?.spec.holderIdentity !== identity) return;
      isUnsure = true;
      try {
        await client.update(found, releasedSpec(found.spec, clock.now()), signal);
        return;
      } catch (error) {
        if (!isConflict(error) || attempts === MAX_RELEASE_ATTEMPTS) throw error;
      }
    }
  };

  const logFailure = (error: unknown, signal: AbortSignal): void => {
    if (signal.aborted) return;
    if (!(error instanceof KubernetesError)) throw error;
    if (!isFailing) log.warn('failed to renew Lease; retrying', { error: error.message });
    isFailing = true;
  };

  return {
    epoch: `${lease.spec.leaseTransitions}/${identity}`,
    isValid,
    sinceRenewalSeconds: () => (clock.monotonicMs() - since.monotonicMs) / 1000,
    lease: () => lease,
    keep: async (signal) => {
      for (let attemptMs = since.monotonicMs; ;) {
        const endMs = since.monotonicMs + deadlineMs;
        const nextMs = Math.min(attemptMs + times.retryPeriodSeconds * 1000, endMs);
        await sleep(clock, nextMs - clock.monotonicMs(), signal);
        if (signal.aborted) return null;
        if (!isValid()) return `the Lease was not renewed within ${times.renewDeadlineSeconds} s`;
        attemptMs = clock.monotonicMs();
        try {
          const lost = await withDeadline(clock, { ms: endMs - attemptMs, parent: signal }, renew);
          if (lost !== null) return lost;
          isFailing = false;
        } catch (error) {
          logFailure(error, signal);
        }
      }
    },
    release: async () => {
      try {
        await withDeadline(clock, { ms: RELEASE_MS }, releaseLease);
        log.info('Lease released', { lease: client.name });
      } catch (error) {
        const message = errorMessage(error);
        log.warn('failed to release Lease; followers wait until the Lease expires', { error: message });
      }
    },
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof KubernetesError && error.kind === 'conflict';
}

/** The steps of a term, in the order in which they run. */
interface TermSteps {
  readonly lead: Lead;
  /** Keeps the Lease. Returns why it was lost; null: the signal was aborted first. */
  readonly keep: (signal: AbortSignal) => Promise<string | null>;
  /** Forbids all further writes. `lost`: why the Lease was lost; null: the process stops. */
  readonly end: (lost: string | null) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Runs the work of a term until the Lease is lost, the work fails or `signal` is aborted. Returns whether the Lease is
 * still held and may be released. If the Lease is lost, further writes are forbidden immediately. If the process stops,
 * changes in flight finish first.
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
