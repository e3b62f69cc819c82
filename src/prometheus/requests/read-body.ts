import type { Readable } from 'node:stream';
import { createJsonMeter } from '../../units/json-bounds.js';
import { type AnswerLimits, DEFAULT_LIMITS, sayBytes } from '../answers/answer-limits.js';

export class TooLargeError extends Error {}

interface BodyBounds {
  /** Bytes of all answers that are being received. */
  readonly unread?: { bytes: number };
  readonly limits?: AnswerLimits;
}

/** The JSON of a larger answer is counted as it arrives, even if the caller checks the bounds of small ones. */
const MAX_UNCHECKED_BYTES = 4 * 1024 * 1024;

/** Counts the body as it arrives. Throws `TooLargeError` if it exceeds a bound. */
export function readBody(
  stream: Readable,
  { unread = { bytes: 0 }, limits = DEFAULT_LIMITS }: BodyBounds,
  checksBounds = false,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const meter = createJsonMeter(limits.json);
    let bytes = 0;
    let counted = 0;
    let hasJson = false;
    let isSettled = false;
    const settle = (error: Error | null): void => {
      isSettled = true;
      unread.bytes -= bytes;
      bytes = 0;
      if (error === null) resolve(joined(pieces));
      else reject(error);
    };
    const whyTooLarge = (piece: Buffer): string | null => {
      if (bytes > limits.answerBytes)
        return `the answer is larger than maxAnswerBytes (${sayBytes(limits.answerBytes)})`;
      if (unread.bytes > limits.unreadBytes)
        return `the answers being received exceed ${sayBytes(limits.unreadBytes)} in total, 3 times maxAnswerBytes`;
      if (pieces.length === 1) hasJson = isJson(piece);
      if (!hasJson || (checksBounds && bytes <= MAX_UNCHECKED_BYTES)) return null;
      for (; counted < pieces.length; counted += 1) {
        const excess = meter.add(pieces[counted] ?? piece);
        if (excess !== null) return sayExcess(excess, limits);
      }
      return null;
    };
    stream.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      unread.bytes += piece.length;
      const message = whyTooLarge(piece);
      if (message !== null) stream.destroy(new TooLargeError(message));
    });
    stream.on('end', () => settle(null));
    stream.on('error', settle);
    stream.on('close', () => {
      // An error takes longer to create than the rest of this function.
      if (!isSettled) settle(new Error('the stream ended early'));
    });
  });
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}

/** Returns why the JSON of an answer must not be parsed; null: it may. */
export function whyTooLarge(bytes: Buffer, limits: AnswerLimits): string | null {
  const excess = isJson(bytes) ? createJsonMeter(limits.json).add(bytes) : null;
  return excess === null ? null : sayExcess(excess, limits);
}

function sayExcess(excess: string, limits: AnswerLimits): string {
  return `the answer has ${excess} (maxSeries is ${limits.series})`;
}

function isJson(first: Buffer): boolean {
  return /^\s*[{[]/.test(first.toString('latin1', 0, 256));
}
