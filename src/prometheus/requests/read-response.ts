import type { IncomingMessage } from 'node:http';
import { pipeline, type Transform } from 'node:stream';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzipSync,
  inflateSync,
} from 'node:zlib';
import { errorCode } from '../../units/error-code.js';
import { DEFAULT_LIMITS } from '../answers/answer.js';
import { type BodyBounds, createCountedBody, readBody } from './read-body.js';

interface UnpackOptions {
  readonly chunkSize?: number;
  readonly maxOutputLength?: number;
}

interface Codec {
  readonly create: (options?: UnpackOptions) => Transform;
  readonly unpack: (bytes: Buffer, options: UnpackOptions) => Buffer;
}

const GZIP: Codec = { create: createGunzip, unpack: gunzipSync };

/** A proxy may use another compression than the accepted ones. */
const CODECS: Readonly<Record<string, Codec>> = {
  gzip: GZIP,
  'x-gzip': GZIP,
  deflate: { create: createInflate, unpack: inflateSync },
  br: { create: createBrotliDecompress, unpack: brotliDecompressSync },
};

/**
 * A body up to this size is decompressed at once, in 1 or 2 ms. In the thread pool, a native object, a stream and the
 * turns for each piece would take as long as the decompression. 4 MiB at once blocked the event loop for 200 ms.
 */
const MOST_PACKED_BYTES = 16 * 1024;
const MOST_BYTES_AT_ONCE = 256 * 1024;
const PIECE_BYTES = 64 * 1024;
const LEAST_PIECE_BYTES = 1024;
/** Of JSON with labels: more pieces are allocated where an answer shrinks more. */
const USUAL_RATIO = 16;

/** Reads and decompresses the body of a response. Throws `TooLargeError` if it exceeds a bound. */
export function readResponse(
  response: IncomingMessage,
  bounds: BodyBounds,
  checksBounds = false,
): Promise<Buffer> {
  const codec = codecOf(response.headers['content-encoding']);
  if (codec === null) return readBody(response, bounds, checksBounds);
  return readPacked(response, { codec, bounds, checksBounds });
}

function codecOf(encoding: string | undefined): Codec | null {
  if (encoding === undefined) return null;
  const name = encoding.toLowerCase();
  return Object.hasOwn(CODECS, name) ? (CODECS[name] ?? null) : null;
}

interface Unpacking {
  readonly codec: Codec;
  readonly bounds: BodyBounds;
  readonly checksBounds: boolean;
}

function readPacked(response: IncomingMessage, unpacking: Unpacking): Promise<Buffer> {
  const { codec, bounds, checksBounds } = unpacking;
  const { limits = DEFAULT_LIMITS } = bounds;
  const most = Math.min(MOST_PACKED_BYTES, limits.answerBytes);
  return new Promise((resolve, reject) => {
    const packed = createCountedBody(bounds, {
      checksBounds: true,
      stop: (error) => void response.destroy(error),
    });
    let bytes = 0;
    const fail = (error: Error): void => {
      packed.drop();
      reject(error);
    };
    const end = (): void => resolve(unpackAtOnce(packed.end(), unpacking));
    const close = (): void => fail(new Error('the stream ended early'));
    const add = (piece: Buffer): void => {
      const error = packed.add(piece);
      bytes += piece.length;
      if (error === null && bytes > most) unpackInPieces();
      else if (error !== null) response.destroy(error);
    };
    const unpackInPieces = (): void => {
      response.off('data', add).off('end', end).off('error', fail).off('close', close);
      const stream = codec.create({ chunkSize: PIECE_BYTES });
      stream.write(packed.end());
      resolve(readBody(stream, bounds, checksBounds));
      // The reader of the stream receives its error.
      pipeline(response, stream, () => undefined);
    };
    response.on('data', add).on('end', end).on('error', fail).on('close', close);
  });
}

async function unpackAtOnce(packed: Buffer, { codec, bounds, checksBounds }: Unpacking): Promise<Buffer> {
  // Some servers declare an encoding of nothing.
  if (packed.length === 0) return packed;
  const whole = unpackWithin(packed, codec);
  if (whole === null) {
    const stream = codec.create({ chunkSize: PIECE_BYTES });
    stream.end(packed);
    return readBody(stream, bounds, checksBounds);
  }
  const body = createCountedBody(bounds, { checksBounds, stop: () => undefined });
  const error = body.add(whole);
  if (error === null) return body.end();
  body.drop();
  throw error;
}

/** Returns null if the body is larger than `MOST_BYTES_AT_ONCE`. */
function unpackWithin(packed: Buffer, codec: Codec): Buffer | null {
  try {
    const chunkSize = Math.min(PIECE_BYTES, Math.max(LEAST_PIECE_BYTES, USUAL_RATIO * packed.length));
    return codec.unpack(packed, { chunkSize, maxOutputLength: MOST_BYTES_AT_ONCE });
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') return null;
    throw error;
  }
}
