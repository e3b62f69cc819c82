import type { Instant } from '../../units/time.js';
import type { Verb } from './request.js';

/** One request to the API, as it was answered. */
export interface LoggedRequest {
  readonly at: Instant;
  readonly monotonicMs: number;
  readonly method: string;
  readonly path: string;
  /** Null for what is no resource (discovery). */
  readonly verb: Verb | null;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string | null;
  readonly name: string | null;
  /** Null where no answer was sent: dropped, stalled or lost. */
  readonly code: number | null;
  readonly userAgent: string;
  /** Of writes, up to 64 kB; null for reads. */
  readonly body: string | null;
  /** Whether the change was carried out, answered or not. */
  readonly isApplied: boolean;
}

const LONGEST_BODY = 65_536;

/** The last requests, oldest first, and how many there were in all. */
export class RequestLog {
  readonly #capacity: number;
  #entries: LoggedRequest[] = [];
  #total = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many requests came since the start, forgotten ones included. */
  get total(): number {
    return this.#total;
  }

  /** The requests that are kept, oldest first. */
  get entries(): readonly LoggedRequest[] {
    return this.#entries.slice(-this.#capacity);
  }

  /** Adds a request; a long body is cut. */
  add(entry: LoggedRequest): void {
    this.#total += 1;
    this.#entries.push({ ...entry, body: entry.body === null ? null : entry.body.slice(0, LONGEST_BODY) });
    if (this.#entries.length > this.#capacity * 1.5) this.#entries = this.#entries.slice(-this.#capacity);
  }

  /** Forgets what is kept; the total goes on. */
  clear(): void {
    this.#entries = [];
  }
}
