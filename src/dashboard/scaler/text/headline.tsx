import type { VNode } from 'preact';
import type { ScalerDetail, ScalerState } from '../../../api/answers.js';
import { Time } from '../../ui/time.jsx';
import { useNow } from '../../ui/use-now.js';
import type { Outcome, PastDecision } from '../model/answers.js';
import { verdictOf } from '../model/headline.js';
import { Sentence } from '../../ui/sentence.jsx';

interface HeadlineProps {
  readonly state: ScalerState;
  readonly decision: PastDecision | null;
  readonly outcome: Outcome;
  /** The scaler, if `state` is its current state; null: it is a past state. */
  readonly detail: ScalerDetail | null;
}

/** Shows a state, its end and the result: `Paused until 11:45:41 (in 24 min): stays at 3, not 6`. */
export function Headline({ state, decision, outcome, detail }: HeadlineProps): VNode {
  const { name, until, end, result } = verdictOf(state, decision, outcome, detail);
  return (
    <span dir="auto">
      {name}
      {until === null ? null : <Until at={until} />}
      {end === null ? '' : ` until ${end}`}: <Sentence text={result} />
    </span>
  );
}

/** Shows a time. If the time is in the future, also shows how far it is from now. */
function Until({ at }: { readonly at: string }): VNode {
  const isComing = useNow((nowMs) => Date.parse(at) > nowMs);
  return (
    <>
      {' until '}
      <Time at={at} />
      {isComing ? [' (', <Time at={at} show="distance" />, ')'] : null}
    </>
  );
}

export function Cause({ state: { cause } }: Pick<HeadlineProps, 'state'>): VNode | null {
  return cause === null ? null : (
    <p class="verdict-sentence">
      <Sentence text={cause} />
    </p>
  );
}
