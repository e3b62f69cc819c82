import type { VNode } from 'preact';
import { Time } from '../../ui/time.jsx';
import { splitTimes } from '../model/split-times.js';

interface SentenceProps {
  readonly text: string;
  readonly nowMs: number;
}

/** A sentence of the service, with its times in the zone of the viewer and UTC on hover. */
export function Sentence({ text, nowMs }: SentenceProps): VNode {
  return (
    <span dir="auto">
      {splitTimes(text).map((piece, index) =>
        piece.isTime ? <Time key={index} at={piece.text} nowMs={nowMs} /> : piece.text,
      )}
    </span>
  );
}
