import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock } from '../../units/clock.js';
import type { BackgroundWork } from './background-work.js';

/**
 * Maximum number of bytes that are read before the current request is answered; further bytes stay in the buffer of the
 * kernel. Must exceed the limit for headers.
 */
const MAX_AHEAD_BYTES = 16 * 1024;
/** Longer responses are sent in pieces. The client must read each within `STALLED_MS` (6.4 KiB/s). */
const PIECE_BYTES = 64 * 1024;
const STALLED_MS = 10_000;
/** How long a connection waits, after its last response, for the client to close it. */
const LINGER_MS = 1000;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NOTHING = Buffer.alloc(0);

/**
 * A connection that passes one request at a time to the HTTP server of Node.js. It passes on the next request when the
 * response to the previous request was sent. Otherwise Node.js would parse all input at once and keep a response for
 * each request: a segment may contain 1,000 requests of a client that never reads the responses. A client that stops
 * reading is disconnected.
 *
 * Requests that arrive early are read, and long responses are sent, as background work: the kernel accepts megabytes
 * for a client that never reads, and Node.js would answer all requests in one iteration of the event loop.
 *
 * Limits of Node.js and probes on a port of their own do not replace it. If the server disconnects a client that sends
 * a second request early, it has already parsed the whole segment, and the client reconnects: the event loop is blocked
 * several times as long, and scrapes of /metrics time out. With `maxConnections`, idle clients block scrapes. The
 * figures are in test/benchmark/README.md.
 */
export class RequestGate extends Duplex {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #backgroundWork: BackgroundWork;
  #ahead: Buffer = NOTHING;
  /** How many bytes of the current line were already passed to Node.js. */
  #lineBytes = 0;
  #isBusy = false;
  #isWanted = false;
  #isEarly = false;
  #hasEnded = false;
  #isSending = false;
  #progressMs: number;
  #cancelTimer: () => void = () => undefined;
  #cancelReading: (() => void) | null = null;
  #cancelSending: () => void = () => undefined;

  constructor(
    socket: Socket,
    { clock, backgroundWork }: { readonly clock: Clock; readonly backgroundWork: BackgroundWork },
  ) {
    // A high-water mark of 1, so that Node.js reads more only after it has parsed all earlier input.
    super({ readableHighWaterMark: 1, writableHighWaterMark: PIECE_BYTES });
    this.#socket = socket;
    this.#clock = clock;
    this.#backgroundWork = backgroundWork;
    this.#progressMs = clock.monotonicMs();
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => {
      this.#hasEnded = true;
      this.#advance();
    });
    // The error needs no handling here, because the response of the current request reports it.
    socket.on('error', () => this.destroy());
    socket.on('close', () => this.destroy());
    socket.on('timeout', () => this.emit('timeout'));
  }

  /** Milliseconds for which the client has not read the piece that was sent last; 0: nothing is being sent. */
  get stalledMs(): number {
    return this.#isSending ? this.idleMs : 0;
  }

  /** Milliseconds since the client has last read a piece of a response, or since the connection was opened. */
  get idleMs(): number {
    return this.#clock.monotonicMs() - this.#progressMs;
  }

  hold(): void {
    this.#isBusy = true;
  }

  release(): void {
    this.#isBusy = false;
    this.#advance();
  }

  /** Closes the connection at once. A client that has read all earlier responses gets `answer`. */
  refuse(answer: string): void {
    this.#socket.write(answer);
    this.destroy();
  }

  /** Node.js calls it to close idle connections. */
  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms);
    return this;
  }

  override _read(): void {
    this.#isWanted = true;
    // The stream calls `_read` before it passes on the previous input. A microtask later, it is known whether the input
    // was a complete request: if so, `hold` was called.
    queueMicrotask(() => this.#advance());
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (chunk.length <= PIECE_BYTES) this.#sendPiece(chunk, done);
    else this.#sendLater(chunk, done);
  }

  /**
   * Sends several parts at once: Node.js writes the head of a response, and each chunk of a stream, in several parts.
   */
  override _writev(parts: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    const bytes = parts.reduce((sum, { chunk }) => sum + chunk.length, 0);
    if (bytes <= PIECE_BYTES) this.#sendPiece(Buffer.concat(parts.map(({ chunk }) => chunk)), done);
    else this.#sendInTurn(parts, done);
  }

  override _final(done: () => void): void {
    this.#socket.end();
    // Reads and discards all further input: closing a connection with unread input would reset it, and the client could
    // lose the response.
    this.#ahead = NOTHING;
    this.#socket.resume();
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(LINGER_MS, () => this.destroy());
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#cancelTimer();
    this.#cancelReading?.();
    this.#cancelSending();
    this.#ahead = NOTHING;
    this.#socket.destroy();
    done(error);
  }

  #take(chunk: Buffer): void {
    if (this.writableEnded) return;
    if (this.#isBusy) this.#isEarly = true;
    this.#ahead = this.#ahead.length === 0 ? chunk : Buffer.concat([this.#ahead, chunk]);
    if (this.#ahead.length >= MAX_AHEAD_BYTES) this.#socket.pause();
    this.#advance();
  }

  #advance(): void {
    if (!this.#isWanted || this.destroyed) return;
    if (this.#ahead.length > 0) {
      if (this.#isBusy || this.#cancelReading !== null) return;
      if (!this.#isEarly) this.#readNext();
      else this.#cancelReading = this.#backgroundWork.queue(() => this.#readNext());
    } else if (this.#hasEnded) {
      this.#isWanted = false;
      this.push(null);
    }
  }

  #readNext(): void {
    this.#cancelReading = null;
    this.#isWanted = false;
    const request = this.#cut();
    this.#isEarly = this.#ahead.length > 0;
    if (this.#ahead.length < MAX_AHEAD_BYTES) this.#socket.resume();
    this.push(request);
  }

  /**
   * Removes and returns the input up to the empty line that ends a request; all input if there is no such line. Bodies
   * are not expected, because requests with a body are rejected.
   */
  #cut(): Buffer {
    let start = 0;
    let end = this.#ahead.indexOf(LINE_FEED);
    while (end !== -1) {
      const length = this.#lineBytes + end - start;
      const isBlank = length === 0 || (length === 1 && this.#ahead[end - 1] === CARRIAGE_RETURN);
      this.#lineBytes = 0;
      start = end + 1;
      if (isBlank) break;
      end = this.#ahead.indexOf(LINE_FEED, start);
    }
    const isWhole = end !== -1;
    const cut = isWhole ? this.#ahead.subarray(0, start) : this.#ahead;
    if (!isWhole) this.#lineBytes += this.#ahead.length - start;
    this.#ahead = this.#ahead.subarray(cut.length);
    return cut;
  }

  #sendInTurn([first, ...rest]: readonly { readonly chunk: Buffer }[], done: () => void): void {
    if (first === undefined) done();
    else this._write(first.chunk, 'utf8', () => this.#sendInTurn(rest, done));
  }

  #sendLater(rest: Buffer, done: () => void): void {
    this.#cancelSending = this.#backgroundWork.queue(() =>
      this.#sendPiece(rest.subarray(0, PIECE_BYTES), () => {
        if (rest.length > PIECE_BYTES) this.#sendLater(rest.subarray(PIECE_BYTES), done);
        else done();
      }),
    );
  }

  #sendPiece(piece: Buffer, done: () => void): void {
    this.#isSending = true;
    this.#progressMs = this.#clock.monotonicMs();
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(STALLED_MS, () => this.destroy());
    this.#socket.write(piece, (error) => {
      this.#cancelTimer();
      this.#isSending = false;
      this.#progressMs = this.#clock.monotonicMs();
      if (error !== undefined && error !== null) this.destroy();
      else done();
    });
  }
}
