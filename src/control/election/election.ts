import { sleep } from '../../units/clock.js';
import type { SeenLease } from '../../kubernetes/lease.js';
import { KubernetesError } from '../../kubernetes/types.js';
import { withRefusals } from './election-refusal.js';
import { mayTake, momentOf, observeLease, retryDelayMs, takenSpec } from './election-rules.js';
import type { Observation } from './election-rules.js';
import type { Election, Lead } from './leadership.js';
import { watchLoopLag } from './loop-lag.js';
import type { LoopLag } from './loop-lag.js';
import { beginTerm } from './term.js';
import type { Term, TermParts } from './term.js';

export interface ElectionOptions extends TermParts {
  /** Whether no change of replicas is under way: only then the Lease is given back. */
  readonly isIdle: () => boolean;
  /** Called when a term begins and when it is over. */
  readonly onChange: (isLeading: boolean) => void;
}

/**
 * A process that has been late by more must not write: the time between the check and the request would be as long,
 * and others wait just leaseDuration - renewDeadline for it. Source: reliability.md, W18.
 */
const MAX_LAG_MS = 1000;
const STEADY_WAIT_MS = 3000;
const STEADY_LOOK_MS = 250;
/** On top of leaseDuration; a term that is this old has a loop that does not run any more. Source: W20. */
const DEAF_SECONDS = 20;

/**
 * One candidate for a Lease. `run` throws `ElectionRefusedError` where the Lease stays forbidden from the start; every other
 * failure is waited out as a standby. Source: reliability.md, W15-W20.
 */
export function createElection(options: ElectionOptions): Election {
  const { clock, log, times, identity, onChange } = options;
  let hasStoodBy = false;
  const client = withRefusals(options.client, { clock, hasStoodBy: () => hasStoodBy });
  const parts: TermParts = { client, clock, log, times, identity };
  let known: Observation | null = null;
  let term: Term | null = null;
  let epoch = `-/${identity}`;
  let lag: LoopLag | null = null;
  let isFailing = false;

  const isSteady = (): boolean => (lag?.ms() ?? 0) <= MAX_LAG_MS;

  const observe = (lease: SeenLease): void => {
    const holder = known?.spec.holderIdentity;
    known = observeLease(known, lease, clock.monotonicMs());
    const { holderIdentity } = known.spec;
    if (holderIdentity !== holder && holderIdentity !== '' && holderIdentity !== identity)
      log.info('standing by', { lease: client.name, holder: holderIdentity });
  };

  /** One attempt to take the Lease; null where somebody else has it. */
  const take = async (signal: AbortSignal): Promise<Term | null> => {
    const found = await client.read(signal);
    if (found !== null) observe(found);
    if (!mayTake(known, { identity, nowMs: clock.monotonicMs(), times })) return null;
    const since = momentOf(clock);
    const spec = takenSpec(known?.spec ?? null, { identity, now: since.wall, times });
    const lease = await (found === null ? client.create(spec, signal) : client.update(found, spec, signal));
    return beginTerm(parts, { lease, since });
  };

  /** As `take`; null also where it fails. */
  const tryToTake = async (signal: AbortSignal): Promise<Term | null> => {
    try {
      const taken = await take(signal);
      isFailing = false;
      hasStoodBy ||= taken === null;
      return taken;
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof KubernetesError)) throw error;
      if (error.kind === 'conflict') return null;
      if (!isFailing) log.warn('standing by: the Lease cannot be taken', { error: error.message });
      isFailing = true;
      return null;
    }
  };

  const end = (own: Term, lost: string | null): void => {
    if (term === null) return;
    term = null;
    observe(own.lease());
    if (lost !== null) log.warn('leadership is lost; standing by', { epoch, why: lost });
    onChange(false);
  };

  /** From the taken Lease until it is lost or given back, with the work in between. */
  const serve = async (own: Term, signal: AbortSignal, lead: Lead): Promise<void> => {
    term = own;
    epoch = own.epoch;
    log.info('leading', { lease: client.name, epoch });
    onChange(true);
    const ending = new AbortController();
    const failed = new AbortController();
    const work = lead(ending.signal)
      .catch((error: unknown) => log.error('the work of the leader ended by a fault', { error }))
      .finally(() => failed.abort());
    let lost: string | null = 'the Lease may not be renewed';
    try {
      lost = await own.keep(AbortSignal.any([signal, failed.signal]));
    } finally {
      // Lost: from this moment on no write. Stopped: what has begun is brought to its end before the Lease goes.
      if (lost !== null) end(own, lost);
      ending.abort();
      await work;
      end(own, null);
    }
    if (lost !== null) return;
    if (options.isIdle()) await own.release();
    else log.warn('a change is still under way: the Lease is not given back, others wait until it expires');
  };

  return {
    epoch: () => epoch,
    mayWrite: () => term !== null && term.isValid() && isSteady(),
    isLeading: () => term !== null,
    ailments: () => {
      const seconds = term?.sinceRenewalSeconds() ?? 0;
      return seconds > times.leaseDurationSeconds + DEAF_SECONDS
        ? [`leads, but has not renewed its Lease for ${Math.round(seconds)} s`]
        : [];
    },
    untilSteady: async () => {
      const endMs = clock.monotonicMs() + STEADY_WAIT_MS;
      while (!isSteady() && clock.monotonicMs() < endMs) await sleep(clock, STEADY_LOOK_MS);
    },
    run: async (signal, lead) => {
      lag = watchLoopLag(clock);
      try {
        while (!signal.aborted) {
          const taken = await tryToTake(signal);
          if (taken !== null) await serve(taken, signal, lead);
          await sleep(clock, retryDelayMs(clock, times), signal);
        }
      } finally {
        lag.stop();
        lag = null;
      }
    },
  };
}
