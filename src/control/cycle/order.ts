import type { Decision } from '../../decision/result/decision.js';
import type { State } from '../../decision/snapshot/snapshot.js';
import type { Pause } from '../../telemetry/cycle-record.js';
import type { Instant } from '../../units/time.js';
import { withChange, withoutChange } from '../memory/state-after-change.js';

/**
 * Returns the decision to carry out: the decision itself or, in a pause with a fixed count, the change to that count.
 * The fixed count overrides the bounds, and the change counts for windows and policies. A fixed 0 sets `zeroedBySelf`,
 * even if the target is already at 0, so that the target is scaled up again after the pause.
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
