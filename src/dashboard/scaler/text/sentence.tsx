import type { VNode } from 'preact';
import { Time } from '../../ui/time.jsx';
import { splitTimes } from '../../../units/split-times.js';

interface SentenceProps {
  readonly text: string;
}

/** Shows a sentence of the service. Its times are in the time zone of the viewer, and on hover also in UTC. */
export function Sentence({ text }: SentenceProps): VNode {
  return (
    <span dir="auto">
      {splitTimes(text).map((piece, index) =>
        piece.isTime ? <Time key={index} at={piece.text} /> : piece.text,
      )}
    </span>
  );
}
