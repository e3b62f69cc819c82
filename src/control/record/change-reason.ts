import type { Decision } from '../../decision/decision.js';
import type { Pause } from '../../telemetry/cycle-record.js';

/**
 * Why the count is what it is, where the decision alone does not say it: `7 -> 3: paused by annotation, kept at 3
 * (metrics ask for 9)` under a pause that keeps a count, `resumed: ...` for a change in the first cycle after a pause.
 * Undefined where it is the decision's own reason.
 */
export function changeReason(
  decision: Decision,
  {
    order,
    pause,
    wasPaused,
  }: {
    /** What is to be carried out. */
    readonly order: Decision;
    readonly pause: Pause | null;
    /** In the cycle before. */
    readonly wasPaused: boolean;
  },
): string | undefined {
  const { currentReplicas: from, desiredReplicas: to } = order;
  const text = orderText(decision, pause);
  if (text !== null) return `${from === to ? `stays at ${to}` : `${from} -> ${to}`}: ${text}`;
  return pause === null && wasPaused && from !== to ? `resumed: ${decision.reason}` : undefined;
}

/** Which count a pause keeps and why, and what would be without it; null where it keeps none. */
export function orderText(decision: Decision, pause: Pause | null): string | null {
  if (pause === null || pause.replicas === null) return null;
  const [subject = '', ...facts] = pause.message.split('; ');
  return `${[subject.replace(/^scaling is /, ''), ...facts].join(', ')} (${withoutOrder(decision)})`;
}

function withoutOrder({ recommendedReplicas, desiredReplicas, metrics }: Decision): string {
  if (recommendedReplicas !== null) return `metrics ask for ${recommendedReplicas}`;
  return metrics.length === 0 ? `${desiredReplicas} without the pause` : 'no metric has a value';
}
