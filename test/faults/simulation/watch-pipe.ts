import type { WatchStream } from '../../../src/kubernetes/requests/transport.js';

/** The body of a watch for its reader: chunks arrive when the other side sends them. */
export class WatchPipe implements WatchStream {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly #onClose: () => void;
  readonly #waitingChunks: Uint8Array[] = [];
  #reader: ((result: IteratorResult<Uint8Array>) => void) | null = null;
  #refuse: ((error: Error) => void) | null = null;
  #isEnded = false;
  #error: Error | null = null;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
    this.chunks = {
      [Symbol.asyncIterator]: () => ({
        next: () => this.#next(),
        return: () => {
          this.close();
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
  }

  readonly close = (): void => {
    if (!this.#isEnded) this.#onClose();
    this.end();
  };

  send(text: string): void {
    if (this.#isEnded) return;
    const chunk = Buffer.from(text);
    if (this.#reader === null) this.#waitingChunks.push(chunk);
    else this.#answer({ done: false, value: chunk });
  }

  /** The server has sent everything. */
  end(): void {
    this.#isEnded = true;
    if (this.#reader !== null) this.#answer({ done: true, value: undefined });
  }

  /** The connection was lost. */
  fail(error: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#error = error;
    const refuse = this.#refuse;
    this.#reader = null;
    this.#refuse = null;
    refuse?.(error);
  }

  #answer(result: IteratorResult<Uint8Array>): void {
    const reader = this.#reader;
    this.#reader = null;
    this.#refuse = null;
    reader?.(result);
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#waitingChunks.shift();
    if (chunk !== undefined) return Promise.resolve({ done: false, value: chunk });
    if (this.#error !== null) return Promise.reject(this.#error);
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#reader = resolve;
      this.#refuse = reject;
    });
  }
}
