import type { ScalerState } from '../../../api/answers.js';
import type { Outcome, PastDecision } from './answers.js';

/** Returns the state and the result for the count, such as `AtMaximum: stays at 10, not 17`. */
export function headlineOf(
  { name }: ScalerState,
  decision: PastDecision | null,
  { kind, from, to }: Outcome,
): string {
  if (decision === null) return `${name}: no decision`;
  const { currentReplicas, desiredReplicas, recommendedReplicas } = decision;
  const before = from ?? currentReplicas;
  const after = to ?? desiredReplicas;
  const isChanged = kind === 'patched' || kind === 'replaced';
  const result = isChanged ? after : before;
  // A change that was not carried out is of more interest than the recommendation behind it.
  const wanted = after === result ? (recommendedReplicas ?? result) : after;
  const change = before === result ? `stays at ${result}` : `scaled from ${before} to ${result}`;
  return `${name}: ${change}${wanted === result ? '' : `, not ${wanted}`}`;
}
