import type { Readable } from 'node:stream';
import { joinPieces, readPieces } from '../../http/read-pieces.js';
import { createJsonMeter } from '../../units/json-bounds.js';
import { type AnswerLimits, DEFAULT_LIMITS, sayBytes } from '../answers/answer.js';

export class TooLargeError extends Error {}

/** Too much is being received from the source at the same time. Says nothing about the query. */
export class OverloadError extends Error {}

/** The answers that are being received from one data source. */
export interface Unread {
  bytes: number;
  bodies?: Set<UnreadBody>;
}

interface UnreadBody {
  readonly bytes: () => number;
  readonly cancel: (error: OverloadError) => void;
}

export interface BodyBounds {
  readonly unread?: Unread;
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
  readonly add: (piece: Buffer) => TooLargeError | OverloadError | null;
  /** Throws if the body was canceled. */
  readonly end: () => Buffer;
  readonly drop: () => void;
  readonly isLarge: () => boolean;
}

/**
 * If all bodies that are being received are too large in total, the largest one is canceled, not the one whose piece
 * arrived last: huge answers of one namespace must not cost others theirs.
 *
 * `checksBounds`: whether the caller checks the JSON of a small body, with `whyTooLarge`. `stop` ends the stream of the
 * body.
 */
export function createCountedBody(
  { unread = { bytes: 0 }, limits = DEFAULT_LIMITS }: BodyBounds,
  { checksBounds, stop }: { readonly checksBounds: boolean; readonly stop: (error: Error) => void },
): CountedBody {
  const bodies = (unread.bodies ??= new Set());
  const pieces: Buffer[] = [];
  let meter: ReturnType<typeof createJsonMeter> | null = null;
  let bytes = 0;
  let counted = 0;
  let hasJson: boolean | null = null;
  let canceled: OverloadError | null = null;
  const drop = (): void => {
    unread.bytes -= bytes;
    bytes = 0;
    bodies.delete(body);
  };
  const body: UnreadBody = {
    bytes: () => bytes,
    cancel: (error) => {
      canceled = error;
      drop();
      stop(error);
    },
  };
  bodies.add(body);
  /** Returns the error if this body is the largest one. */
  const makeRoom = (): OverloadError | null => {
    let largest = body;
    for (const one of bodies) if (one.bytes() > largest.bytes()) largest = one;
    const message = `the answers being received exceed ${sayBytes(limits.unreadBytes)} in total, 3 times maxAnswerBytes`;
    const error = new OverloadError(message);
    if (largest === body) return error;
    largest.cancel(error);
    return null;
  };
  return {
    add: (piece) => {
      if (canceled !== null) return canceled;
      pieces.push(piece);
      bytes += piece.length;
      unread.bytes += piece.length;
      if (bytes > limits.answerBytes)
        return new TooLargeError(
          `the answer is larger than maxAnswerBytes (${sayBytes(limits.answerBytes)})`,
        );
      while (unread.bytes > limits.unreadBytes) {
        const error = makeRoom();
        if (error !== null) return error;
      }
      if (checksBounds && bytes <= MAX_UNCHECKED_BYTES) return null;
      hasJson ??= isJson(pieces[0] ?? piece);
      if (!hasJson) return null;
      meter ??= createJsonMeter(limits.json);
      for (; counted < pieces.length; counted += 1) {
        const excess = meter.add(pieces[counted] ?? piece);
        if (excess !== null) return new TooLargeError(sayExcess(excess, limits));
      }
      return null;
    },
    end: () => {
      drop();
      if (canceled !== null) throw canceled;
      return joinPieces(pieces);
    },
    drop,
    isLarge: () => bytes > MOST_BYTES_AT_ONCE,
  };
}

/** Counts the body as it arrives. Throws `TooLargeError` if it exceeds a bound, `OverloadError` if all bodies do. */
export async function readBody(stream: Readable, bounds: BodyBounds, checksBounds = false): Promise<Buffer> {
  const body = createCountedBody(bounds, { checksBounds, stop: (error) => void stream.destroy(error) });
  try {
    await readPieces(stream, body.add);
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
