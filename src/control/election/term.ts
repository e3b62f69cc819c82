import type { LeaseClient, SeenLease } from '../../kubernetes/lease.js';
import { KubernetesError } from '../../kubernetes/types.js';
import type { Log } from '../../units/log.js';
import { sleep, withDeadline } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import { elapsedMs, momentOf, releasedSpec, renewedSpec } from './election-rules.js';
import type { ElectionTimes, Moment } from './election-rules.js';

/** One term of this process: from taking the Lease until it is lost or released. */
export interface Term {
  readonly epoch: string;
  /** Whether the last renewal is younger than renewDeadline, by both clocks. */
  readonly isValid: () => boolean;
  /** Seconds since the last renewal was begun, on the monotonic clock. */
  readonly sinceRenewalSeconds: () => number;
  /** Renews every retryPeriod. Gives why the term is over, or null where `signal` was aborted first. */
  readonly keep: (signal: AbortSignal) => Promise<string | null>;
  /** Gives the Lease back, so that nobody has to wait for it to expire. Never throws, takes 3 s at most. */
  readonly release: () => Promise<void>;
  /** The Lease as this term last wrote it. */
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
const MAX_RELEASES = 3;

/** The term that begins with this Lease; `since`: when the request was begun by which it was taken. */
export function beginTerm(
  parts: TermParts,
  taken: { readonly lease: SeenLease; readonly since: Moment },
): Term {
  const { client, clock, log, times, identity } = parts;
  const deadlineMs = times.renewDeadlineSeconds * 1000;
  let { lease, since } = taken;
  /** Set while it is not known what the Lease holds: the last update failed, or its answer was lost. */
  let isDoubtful = false;
  let isFailing = false;

  const isValid = (): boolean => elapsedMs(clock, since) < deadlineMs;

  /** One attempt. Gives who else holds the Lease, or null once it is renewed. */
  const renew = async (signal: AbortSignal): Promise<string | null> => {
    const found = isDoubtful ? await client.read(signal) : lease;
    if (found === null) return 'the Lease is gone';
    const holder = found.spec.holderIdentity;
    if (holder !== identity)
      return holder === '' ? 'somebody has released the Lease' : `${holder} holds the Lease`;
    const begun = momentOf(clock);
    isDoubtful = true;
    const renewed = await client.update(found, renewedSpec(found.spec, clock.now(), times), signal);
    [lease, since, isDoubtful] = [renewed, begun, false];
    return null;
  };

  /** Nothing is left to do where somebody else has it by now. */
  const giveBack = async (signal: AbortSignal): Promise<void> => {
    for (let attempts = 1; ; attempts += 1) {
      const found = isDoubtful ? await client.read(signal) : lease;
      if (found?.spec.holderIdentity !== identity) return;
      isDoubtful = true;
      try {
        await client.update(found, releasedSpec(found.spec, clock.now()), signal);
        return;
      } catch (error) {
        if (!isConflict(error) || attempts === MAX_RELEASES) throw error;
      }
    }
  };

  const tellFailure = (error: unknown, signal: AbortSignal): void => {
    if (signal.aborted) return;
    if (!(error instanceof KubernetesError)) throw error;
    if (!isFailing) log.warn('the Lease could not be renewed; it is tried again', { error: error.message });
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
        if (!isValid()) return `not renewed within ${times.renewDeadlineSeconds} s`;
        attemptMs = clock.monotonicMs();
        try {
          const lost = await withDeadline(clock, { ms: endMs - attemptMs, parent: signal }, renew);
          if (lost !== null) return lost;
          isFailing = false;
        } catch (error) {
          tellFailure(error, signal);
        }
      }
    },
    release: async () => {
      try {
        await withDeadline(clock, { ms: RELEASE_MS }, giveBack);
        log.info('the Lease is given back', { lease: client.name });
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        log.warn('the Lease could not be given back; others wait until it expires', { error: message });
      }
    },
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof KubernetesError && error.kind === 'conflict';
}
