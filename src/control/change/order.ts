import type { Decision } from '../../decision/decision.js';
import type { State } from '../../decision/snapshot.js';
import type { Pause } from '../../telemetry/cycle-record.js';
import type { Instant } from '../../units/time.js';
import { withChange, withoutChange } from '../memory/state-after-change.js';

/**
 * What is to be carried out: the decision itself, or, under a pause that keeps a count, the way to that count, whatever
 * was decided and whatever the bounds are: it is a person's order. It counts for windows and policies as any change of
 * ours. A 0 of an order is a 0 of ours, also where the target was there already: it wakes up when the pause is over.
 */
export function orderOf(
  decision: Decision,
  { pause, before, now }: { readonly pause: Pause | null; readonly before: State; readonly now: Instant },
): Decision {
  const replicas = pause?.replicas ?? null;
  if (replicas === null) return decision;
  const change = replicas - decision.currentReplicas;
  const state = {
    ...withoutChange(decision.state, before, decision.currentReplicas),
    zeroedBySelf: replicas === 0,
  };
  if (change === 0) return { ...decision, desiredReplicas: replicas, action: 'none', state };
  const scaleEvents = [...state.scaleEvents, { at: now, change }];
  return {
    ...decision,
    desiredReplicas: replicas,
    action: change > 0 ? 'scale-up' : 'scale-down',
    state: withChange({ ...state, scaleEvents }, change, now),
  };
}
