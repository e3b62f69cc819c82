import type { Instant } from '../../../units/time.js';
import type { Verb } from './request.js';

export interface LoggedRequest {
  readonly at: Instant;
  readonly monotonicMs: number;
  readonly method: string;
  readonly path: string;
  /** Null for a request to no resource, such as discovery. */
  readonly verb: Verb | null;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string | null;
  readonly name: string | null;
  /** Null if no response was sent: dropped, stalled or lost. */
  readonly code: number | null;
  readonly userAgent: string;
  /** The body of a write, up to 64 kB; null for reads. */
  readonly body: string | null;
  /** Whether the change was made, with or without a response. */
  readonly isApplied: boolean;
}

const LONGEST_BODY = 65_536;

/** Contains the last requests, oldest first, and the total count. */
export class RequestLog {
  readonly #capacity: number;
  #entries: LoggedRequest[] = [];
  #total = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Includes requests that are no longer kept. */
  get total(): number {
    return this.#total;
  }

  get entries(): readonly LoggedRequest[] {
    return this.#entries.slice(-this.#capacity);
  }

  add(entry: LoggedRequest): void {
    this.#total += 1;
    this.#entries.push({ ...entry, body: entry.body === null ? null : entry.body.slice(0, LONGEST_BODY) });
    if (this.#entries.length > this.#capacity * 1.5) this.#entries = this.#entries.slice(-this.#capacity);
  }

  /** The total is not reset. */
  clear(): void {
    this.#entries = [];
  }
}
