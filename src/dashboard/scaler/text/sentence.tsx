import type { VNode } from 'preact';
import { Time } from '../../ui/time.jsx';
import { splitTimes } from '../model/split-times.js';

interface SentenceProps {
  readonly text: string;
  readonly nowMs: number;
}

/** Shows a sentence of the service with its times in the time zone of the viewer, and in UTC on hover. */
export function Sentence({ text, nowMs }: SentenceProps): VNode {
  return (
    <span dir="auto">
      {splitTimes(text).map((piece, index) =>
        piece.isTime ? <Time key={index} at={piece.text} nowMs={nowMs} /> : piece.text,
      )}
    </span>
  );
}
