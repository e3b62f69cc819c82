import type { Decision } from '../../decision/result/decision.js';
import type { Pause } from '../../telemetry/cycle-record.js';

/**
 * Returns the reason of the count if it differs from the reason of the decision. In a pause with a fixed count: `7 ->
 * 3: paused by annotation, kept at 3 (9 recommended)`. For a change in the first cycle after a pause: `resumed:
 * ...`.
 */
export function changeReason(
  decision: Decision,
  {
    order,
    pause,
    wasPaused,
  }: {
    readonly order: Decision;
    readonly pause: Pause | null;
    readonly wasPaused: boolean;
  },
): string | undefined {
  const { currentReplicas: from, desiredReplicas: to } = order;
  const text = orderText(decision, pause);
  if (text !== null) return `${from === to ? `stays at ${to}` : `${from} -> ${to}`}: ${text}`;
  return pause === null && wasPaused && from !== to ? `resumed: ${decision.reason}` : undefined;
}

/** Returns the fixed count of a pause, its reason, and the count without the pause; null without a fixed count. */
export function orderText(decision: Decision, pause: Pause | null): string | null {
  if (pause === null || pause.replicas === null) return null;
  const [subject = '', ...facts] = pause.facts;
  return `${[subject.replace(/^scaling is /, ''), ...facts].join(', ')} (${withoutOrder(decision)})`;
}

function withoutOrder({ recommendedReplicas, desiredReplicas, metrics }: Decision): string {
  if (recommendedReplicas !== null) return `${recommendedReplicas} recommended`;
  return metrics.length === 0 ? `${desiredReplicas} without the pause` : 'no metric has a value';
}
