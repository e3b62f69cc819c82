/** A part of a sentence: plain text, or an RFC 3339 time in UTC. */
export interface TextPiece {
  readonly text: string;
  readonly isTime: boolean;
}

const TIME = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z/g;

/** Splits a sentence at its times, so that the times can be shown in the time zone of the reader. */
export function splitTimes(sentence: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const match of sentence.matchAll(TIME)) {
    const [text] = match;
    if (Number.isNaN(Date.parse(text))) continue;
    if (match.index > end) pieces.push({ text: sentence.slice(end, match.index), isTime: false });
    pieces.push({ text, isTime: true });
    end = match.index + text.length;
  }
  if (end < sentence.length) pieces.push({ text: sentence.slice(end), isTime: false });
  return pieces;
}

/** Returns a sentence in which `format` has replaced each time (Unix time in ms). */
export function replaceTimes(sentence: string, format: (ms: number) => string): string {
  return splitTimes(sentence)
    .map(({ text, isTime }) => (isTime ? format(Date.parse(text)) : text))
    .join('');
}
