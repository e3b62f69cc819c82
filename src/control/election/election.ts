import { sleep } from '../../units/clock.js';
import type { SeenLease } from '../../kubernetes/lease.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { withRefusals } from './election-refusal.js';
import {
  acquiredSpec,
  mayAcquire,
  momentOf,
  observeLease,
  retryDelayMs,
  STUCK_SECONDS,
} from './election-rules.js';
import type { LeaseObservation } from './election-rules.js';
import type { Election, Lead } from './leadership.js';
import { untilSteady, watchLoopLag, whyUnsafe } from './loop-lag.js';
import type { LoopLag } from './loop-lag.js';
import { beginTerm, workUntilLost } from './term.js';
import type { Term, TermParts } from './term.js';

export interface ElectionOptions extends TermParts {
  /** Returns whether no change of replicas is in flight. Otherwise the Lease is not released. */
  readonly isIdle: () => boolean;
  readonly onChange: (isLeading: boolean) => void;
}

/**
 * Creates a candidate for a Lease. `run` throws `ElectionRefusedError` if access to the Lease was never allowed. After
 * any other failure, it retries as a follower. Source: reliability.md, W15-W20.
 */
export function createElection(options: ElectionOptions): Election {
  const { clock, log, times, identity, onChange } = options;
  let wasFollower = false;
  const client = withRefusals(options.client, { clock, wasFollower: () => wasFollower });
  const parts: TermParts = { client, clock, log, times, identity };
  let known: LeaseObservation | null = null;
  let term: Term | null = null;
  let epoch = `-/${identity}`;
  let lag: LoopLag | null = null;
  let isFailing = false;

  const lagMs = (): number => lag?.ms() ?? 0;

  const observe = (lease: SeenLease): void => {
    const holder = known?.spec.holderIdentity;
    known = observeLease(known, lease, clock.monotonicMs());
    const { holderIdentity } = known.spec;
    if (holderIdentity !== holder && holderIdentity !== '' && holderIdentity !== identity)
      log.info('standing by', { lease: client.name, holder: holderIdentity });
  };

  const acquire = async (signal: AbortSignal): Promise<Term | null> => {
    const found = await client.read(signal);
    if (found !== null) observe(found);
    if (!mayAcquire(known, { identity, nowMs: clock.monotonicMs(), times })) return null;
    const since = momentOf(clock);
    const spec = acquiredSpec(known?.spec ?? null, { identity, now: since.wall, times });
    const lease = await (found === null ? client.create(spec, signal) : client.update(found, spec, signal));
    return beginTerm(parts, { lease, since });
  };

  const tryToAcquire = async (signal: AbortSignal): Promise<Term | null> => {
    try {
      const acquired = await acquire(signal);
      isFailing = false;
      wasFollower ||= acquired === null;
      return acquired;
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof KubernetesError)) throw error;
      if (error.kind === 'conflict') return null;
      if (!isFailing) log.warn('failed to acquire Lease; standing by', { error: error.message });
      isFailing = true;
      return null;
    }
  };

  const end = (own: Term, lost: string | null): void => {
    if (term === null) return;
    term = null;
    observe(own.lease());
    if (lost !== null) log.warn('leadership lost; standing by', { epoch, why: lost });
    onChange(false);
  };

  const serve = async (own: Term, signal: AbortSignal, lead: Lead): Promise<void> => {
    term = own;
    epoch = own.epoch;
    log.info('leading', { lease: client.name, epoch });
    onChange(true);
    const isHeld = await workUntilLost(
      {
        lead,
        keep: own.keep,
        end: (lost) => end(own, lost),
        onError: (error) => log.error('work of the leader failed: internal error', { error }),
      },
      signal,
    );
    if (!isHeld) return;
    if (options.isIdle()) await own.release();
    else
      log.warn(
        'the Lease is not released, because a change is in flight; followers wait until the Lease expires',
      );
  };

  /** Returns the holder of the Lease when the Lease was last read; null: it has no holder, or has expired. */
  const otherLeader = (): string | null =>
    known === null || mayAcquire(known, { identity: '', nowMs: clock.monotonicMs(), times })
      ? null
      : known.spec.holderIdentity;

  const whyNoWrites = (): string | null => {
    if (term === null) {
      const holder = otherLeader();
      return holder === null ? 'this replica is not the leader' : `another replica is the leader: ${holder}`;
    }
    return whyUnsafe({ isValid: term.isValid(), lagMs: lagMs(), times });
  };

  return {
    identity,
    leader: () => (term === null ? otherLeader() : identity),
    epoch: () => epoch,
    mayWrite: () => whyNoWrites() === null,
    whyNoWrites,
    isLeading: () => term !== null,
    healthProblems: () => {
      const seconds = term?.sinceRenewalSeconds() ?? 0;
      return seconds > times.leaseDurationSeconds + STUCK_SECONDS
        ? [`this replica is the leader, but has not renewed the Lease for ${Math.round(seconds)} s`]
        : [];
    },
    untilSteady: () => untilSteady(clock, lagMs),
    run: async (signal, lead) => {
      lag = watchLoopLag(clock);
      try {
        while (!signal.aborted) {
          const acquired = await tryToAcquire(signal);
          if (acquired !== null) await serve(acquired, signal, lead);
          await sleep(clock, retryDelayMs(clock, times), signal);
        }
      } finally {
        lag.stop();
        lag = null;
      }
    },
  };
}
