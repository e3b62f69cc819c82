import type { Readable } from 'node:stream';
import { joinPieces, readPieces } from '../../http/read-pieces.js';
import { createJsonMeter } from '../../units/json-bounds.js';
import { type AnswerLimits, DEFAULT_LIMITS, sayBytes } from '../answers/answer-limits.js';

export class TooLargeError extends Error {}

export interface BodyBounds {
  /** Bytes of all answers that are being received. */
  readonly unread?: { bytes: number };
  readonly limits?: AnswerLimits;
  /** Resolves in a turn of the event loop for the end of one large body. Default: all end as they arrive. */
  readonly takeTurn?: () => Promise<void>;
}

/** The JSON of a larger answer is counted as it arrives, even if the caller checks the bounds of small ones. */
const MAX_UNCHECKED_BYTES = 4 * 1024 * 1024;

/** What callers do with a larger body takes 1 ms and more, 10 to 40 ms with the series of 15,000 pods. */
const MOST_BYTES_AT_ONCE = 256 * 1024;

/** A body in pieces. Its bytes count as unread until `end` or `drop`, one of which must be called. */
interface CountedBody {
  /** Returns why the body must not be read further; null: it may. */
  readonly add: (piece: Buffer) => string | null;
  readonly end: () => Buffer;
  readonly drop: () => void;
  readonly isLarge: () => boolean;
}

/** `checksBounds`: whether the caller checks the JSON of a small body, with `whyTooLarge`. */
export function createCountedBody(
  { unread = { bytes: 0 }, limits = DEFAULT_LIMITS }: BodyBounds,
  checksBounds: boolean,
): CountedBody {
  const pieces: Buffer[] = [];
  let meter: ReturnType<typeof createJsonMeter> | null = null;
  let bytes = 0;
  let counted = 0;
  let hasJson: boolean | null = null;
  const drop = (): void => {
    unread.bytes -= bytes;
    bytes = 0;
  };
  return {
    add: (piece) => {
      pieces.push(piece);
      bytes += piece.length;
      unread.bytes += piece.length;
      if (bytes > limits.answerBytes)
        return `the answer is larger than maxAnswerBytes (${sayBytes(limits.answerBytes)})`;
      if (unread.bytes > limits.unreadBytes)
        return `the answers being received exceed ${sayBytes(limits.unreadBytes)} in total, 3 times maxAnswerBytes`;
      if (checksBounds && bytes <= MAX_UNCHECKED_BYTES) return null;
      hasJson ??= isJson(pieces[0] ?? piece);
      if (!hasJson) return null;
      meter ??= createJsonMeter(limits.json);
      for (; counted < pieces.length; counted += 1) {
        const excess = meter.add(pieces[counted] ?? piece);
        if (excess !== null) return sayExcess(excess, limits);
      }
      return null;
    },
    end: () => {
      drop();
      return joinPieces(pieces);
    },
    drop,
    isLarge: () => bytes > MOST_BYTES_AT_ONCE,
  };
}

/** Counts the body as it arrives. Throws `TooLargeError` if it exceeds a bound. */
export async function readBody(stream: Readable, bounds: BodyBounds, checksBounds = false): Promise<Buffer> {
  const body = createCountedBody(bounds, checksBounds);
  try {
    await readPieces(stream, (piece) => {
      const message = body.add(piece);
      return message === null ? null : new TooLargeError(message);
    });
  } catch (error) {
    body.drop();
    throw error;
  }
  // Until its turn, the body counts as unread.
  if (body.isLarge()) await bounds.takeTurn?.();
  return body.end();
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
