import type { IncomingMessage } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzipSync,
  inflateSync,
} from 'node:zlib';
import { errorCode } from '../units/failure.js';
import { createJsonMeter, type JsonBounds } from '../units/json-bounds.js';

/** Thrown if a body exceeds a limit: its size, or the depth or number of items of its JSON. */
export class TooLargeError extends Error {
  /** The limit of the JSON that the body exceeds; null: it exceeds the limit of the size. */
  readonly json: string | null;

  constructor(mostBytes: number, json: string | null = null) {
    super(json === null ? `the response is larger than ${mostBytes} bytes` : `the response has ${json}`);
    this.json = json;
  }
}

/** Thrown if all bodies of a pool together exceed its limit. */
export class OverloadError extends Error {}

export interface BodyLimits {
  /** Maximum size, both before and after decompression. */
  readonly bytes: number;
  /** Limits of the JSON, which are checked while the body arrives. Default: none. */
  readonly json?: JsonBounds;
  readonly pool?: BodyPool;
  /** Resolves when the next large body may be processed. Default: each is processed as soon as it has arrived. */
  readonly yieldIfDue?: () => Promise<void>;
}

/**
 * The bodies that are being received. Their total size is limited, so that a hostile server cannot exhaust the memory.
 */
export class BodyPool {
  bytes = 0;
  readonly #mostBytes: number;
  readonly #bodies = new Set<Body>();

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  count(body: Body, bytes: number): void {
    this.#bodies.add(body);
    this.bytes += bytes;
  }

  /**
   * Cancels the largest bodies until the limit is met. The body that received data last may be small and must not fail
   * because of a huge one.
   */
  makeRoom(): void {
    while (this.bytes > this.#mostBytes) {
      const [largest] = [...this.#bodies].sort((a, b) => b.bytes - a.bytes);
      largest?.cancel(new OverloadError(`the response bodies exceed ${this.#mostBytes} bytes in total`));
    }
  }

  remove(body: Body): void {
    if (this.#bodies.delete(body)) this.bytes -= body.bytes;
  }
}

/** A body that is being received. Its size counts toward the limit of the pool until `end` is called. */
class Body {
  bytes = 0;
  readonly #pieces: Buffer[] = [];
  readonly #source: Readable | readonly Buffer[];
  readonly #limits: BodyLimits;
  #meter: ReturnType<typeof createJsonMeter> | null = null;
  #canceled: OverloadError | null = null;

  constructor(source: Readable | readonly Buffer[], limits: BodyLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  /** Receives the whole body. If that fails, the connection is closed. */
  async read(): Promise<Buffer> {
    for await (const piece of this.#source as AsyncIterable<Buffer>) this.#add(piece);
    if (this.bytes > MOST_BYTES_AT_ONCE) await this.#limits.yieldIfDue?.();
    if (this.#canceled !== null) throw this.#canceled;
    const [first] = this.#pieces;
    return first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
  }

  #add(piece: Buffer): void {
    if (this.#canceled !== null) throw this.#canceled;
    const { bytes: mostBytes, json, pool } = this.#limits;
    this.#pieces.push(piece);
    this.bytes += piece.length;
    pool?.count(this, piece.length);
    if (this.bytes > mostBytes) throw new TooLargeError(mostBytes);
    pool?.makeRoom();
    if (json === undefined) return;
    if (this.#pieces.length === 1 && isJson(piece)) this.#meter = createJsonMeter(json);
    const excess = this.#meter?.add(piece) ?? null;
    if (excess !== null) throw new TooLargeError(mostBytes, excess);
  }

  cancel(error: OverloadError): void {
    this.#canceled = error;
    this.end();
    if (this.#source instanceof Readable) this.#source.destroy(error);
  }

  end(): void {
    this.#limits.pool?.remove(this);
  }
}

function isJson(start: Buffer): boolean {
  return /^\s*[{[]/.test(start.toString('latin1', 0, 256));
}

interface Codec {
  readonly create: (options: { readonly chunkSize: number }) => Transform;
  readonly unpack: (
    bytes: Buffer,
    options: { readonly chunkSize: number; readonly maxOutputLength: number },
  ) => Buffer;
}

const GZIP: Codec = { create: createGunzip, unpack: gunzipSync };

/**
 * Codecs by `Content-Encoding`, including encodings that the request does not accept, because a proxy may use one of
 * them.
 */
const CODECS: ReadonlyMap<string, Codec> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', { create: createInflate, unpack: inflateSync }],
  ['br', { create: createBrotliDecompress, unpack: brotliDecompressSync }],
]);

/**
 * Largest compressed body that is decompressed synchronously, which takes 1 or 2 ms. The overhead of the thread pool is
 * as large. Synchronous decompression of 4 MiB blocked the event loop for 200 ms.
 */
const MOST_PACKED_BYTES = 16 * 1024;
/**
 * For a larger body, `readBody` waits for `yieldIfDue` before it returns, because the caller needs 1 ms or more to
 * process the body. It needs 10 to 40 ms for the series of 15,000 pods.
 */
const MOST_BYTES_AT_ONCE = 256 * 1024;
const PIECE_BYTES = 64 * 1024;

/**
 * Reads and decompresses the body of a response. Throws `TooLargeError` if the body exceeds a limit before or after
 * decompression, `OverloadError` if all bodies of the pool together exceed its limit, and the error of zlib if the body
 * is broken.
 */
export async function readBody(response: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const codec = CODECS.get(response.headers['content-encoding']?.toLowerCase() ?? '');
  if (codec === undefined) return receive(response, limits);
  const start: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    start.push(piece);
    bytes += piece.length;
    if (bytes > MOST_PACKED_BYTES) break;
  }
  const packed = Buffer.concat(start);
  // Some servers declare an encoding for an empty body, which no codec accepts.
  if (bytes === 0) return packed;
  const isWhole = bytes <= MOST_PACKED_BYTES;
  const unpacked = isWhole ? unpackAtOnce(packed, codec) : null;
  if (unpacked !== null) return receive([unpacked], limits);
  const stream = codec.create({ chunkSize: PIECE_BYTES });
  if (isWhole) stream.end(packed);
  else {
    stream.write(packed);
    // The error is ignored here, because `receive` throws it.
    pipeline(response, boundAfter(bytes, limits.bytes), stream, () => undefined);
  }
  return receive(stream, limits);
}

/**
 * Returns a step of a pipeline that throws `TooLargeError` if the body is larger than `mostBytes`. `bytes` is the size
 * of the part that was read before the pipeline.
 */
function boundAfter(
  bytes: number,
  mostBytes: number,
): (pieces: AsyncIterable<Buffer>) => AsyncGenerator<Buffer> {
  return async function* (pieces) {
    let total = bytes;
    for await (const piece of pieces) {
      total += piece.length;
      if (total > mostBytes) throw new TooLargeError(mostBytes);
      yield piece;
    }
  };
}

async function receive(source: Readable | readonly Buffer[], limits: BodyLimits): Promise<Buffer> {
  const body = new Body(source, limits);
  try {
    return await body.read();
  } finally {
    body.end();
  }
}

/** Decompresses a body synchronously; null: the result is larger than `MOST_BYTES_AT_ONCE`. */
function unpackAtOnce(packed: Buffer, codec: Codec): Buffer | null {
  try {
    return codec.unpack(packed, { chunkSize: PIECE_BYTES, maxOutputLength: MOST_BYTES_AT_ONCE });
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') return null;
    throw error;
  }
}
