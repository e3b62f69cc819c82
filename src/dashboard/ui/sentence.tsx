import type { VNode } from 'preact';
import { splitTimes } from '../../units/split-times.js';
import { Time } from './time.jsx';

interface SentenceProps {
  readonly text: string;
}

/**
 * Shows a sentence of the service. Its times are in the time zone of the viewer, and on hover also in UTC. `5 -> 10` is
 * an arrow, and does not break into two lines.
 */
export function Sentence({ text }: SentenceProps): VNode {
  return (
    <span class="sentence" dir="auto">
      {splitTimes(text).map((piece, index) =>
        piece.isTime ? (
          <Time key={index} at={piece.text} />
        ) : (
          piece.text.replaceAll(' -> ', '\u00a0\u2192\u00a0')
        ),
      )}
    </span>
  );
}
