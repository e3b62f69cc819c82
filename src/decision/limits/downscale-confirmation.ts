import type { DownscaleConfirmation } from '../../scaler/spec.js';
import { addSeconds, latest } from '../../units/time.js';
import { sinceChange } from '../snapshot/snapshot.js';
import type { Recommendation } from '../snapshot/snapshot.js';
import type { Limit, LimitContext } from './limit.js';

/**
 * `downscaleConfirmation`: holds a scale-down until every decision of the last `seconds`, and at least `decisions`
 * consecutive ones, have proposed fewer replicas than the current count. The count then falls to the highest of these
 * proposals. Uses `state.downscaleProposals`. Source: reliability.md, D6.
 */
export const confirmDownscale: Limit = (replicas, context) => {
  const { now, spec, current } = context;
  const asked = spec.downscaleConfirmation;
  if (asked === null || replicas >= current) return null;
  const proposals = nextDownscaleProposals(context, asked);
  const first = proposals[0]?.at ?? now;
  const enoughAt = addSeconds(first, asked.seconds);
  const lacking = asked.decisions - proposals.length;
  // After the clock was set back, the first proposal may be in the future.
  const passed = Math.max(0, Math.floor((now - first) / 1000));
  if (lacking > 0 || enoughAt > now) {
    const count = Math.min(proposals.length, asked.decisions);
    const reason = `the scale-down waits for confirmation: ${count} of ${asked.decisions} decisions in ${Math.min(passed, asked.seconds)} of ${asked.seconds} s${sinceChange(first, context.state)}`;
    const until = latest(enoughAt, addSeconds(now, Math.max(0, lacking) * spec.syncPeriodSeconds));
    return { to: current, reason, until };
  }
  const highest = proposals.reduce((most, proposal) => Math.max(most, proposal.replicas), replicas);
  const reason = `the highest proposal of ${proposals.length} decisions in ${passed} s`;
  return highest === replicas ? null : { to: highest, reason, until: null };
};

type Asking = Pick<LimitContext, 'now' | 'current' | 'recommended' | 'state'>;

/**
 * Returns the latest consecutive proposals of fewer replicas than the current count, including the current proposal,
 * but no more than a confirmation needs. Empty if this decision does not propose fewer replicas. Also empty during a
 * recovery hold, because its values may be too low.
 */
export function nextDownscaleProposals(
  { now, current, recommended, state }: Asking,
  { seconds, decisions }: DownscaleConfirmation,
): readonly Recommendation[] {
  const isHeld = state.holdScaleDownUntil !== null && state.holdScaleDownUntil > now;
  if (recommended >= current || isHeld) return [];
  const earlier = state.downscaleProposals;
  const broken = earlier.findLastIndex(({ replicas }) => replicas >= current);
  const inARow = [...earlier.slice(broken + 1), { at: now, replicas: recommended }];
  const start = addSeconds(now, -seconds);
  // `start` is `seconds` ago. The newest proposal before `start` proves that the whole time is covered, so older ones
  // are not needed.
  const proof = inARow.findLastIndex(({ at }) => at <= start);
  return inARow.slice(Math.max(0, Math.min(proof, inARow.length - decisions)));
}
