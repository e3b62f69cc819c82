import type { VNode } from 'preact';
import type { ScalerState } from '../../../api/answers.js';
import { Time } from '../../ui/time.jsx';
import { Sentence } from './sentence.jsx';

interface CauseProps {
  readonly state: ScalerState;
  readonly nowMs: number;
}

/** Shows why a scaler has its state, and until when if that is known. */
export function Cause({ state: { cause, until }, nowMs }: CauseProps): VNode | null {
  if (cause === null) return null;
  return (
    <p class="verdict-sentence">
      <Sentence text={cause} nowMs={nowMs} />
      {until === null ? null : (
        <>
          {', until '}
          <Time at={until} nowMs={nowMs} />
          {Date.parse(until) > nowMs ? [' (', <Time at={until} nowMs={nowMs} show="distance" />, ')'] : null}
        </>
      )}
    </p>
  );
}
