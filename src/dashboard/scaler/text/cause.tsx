import type { VNode } from 'preact';
import type { ScalerState } from '../../../api/answers.js';
import { Time } from '../../ui/time.jsx';
import { useNow } from '../../ui/use-now.js';
import { Sentence } from './sentence.jsx';

interface CauseProps {
  readonly state: ScalerState;
}

/** Shows why a scaler has its state, and until when if that is known. */
export function Cause({ state: { cause, until } }: CauseProps): VNode | null {
  if (cause === null) return null;
  return (
    <p class="verdict-sentence">
      <Sentence text={cause} />
      {until === null ? null : (
        <>
          {', until '}
          <Time at={until} />
          <Countdown until={until} />
        </>
      )}
    </p>
  );
}

function Countdown({ until }: { readonly until: string }): VNode | null {
  if (!useNow((nowMs) => Date.parse(until) > nowMs)) return null;
  return (
    <>
      {' ('}
      <Time at={until} show="distance" />)
    </>
  );
}
