import type { Instant } from '../../../units/time.js';
import type { Subject } from './faults.js';
import type { Verb } from './request.js';

export interface LoggedRequest extends Omit<Subject, 'verb'> {
  readonly at: Instant;
  readonly monotonicMs: number;
  readonly method: string;
  readonly path: string;
  /** The Kubernetes verb; null: the request is not for a resource, but for example for discovery. */
  readonly verb: Verb | null;
  /** The status of the response; null: a fault prevented a response. */
  readonly code: number | null;
  /** The body of a write, at most 64 kB; null: the request is a read. */
  readonly body: string | null;
  /** Whether the request has changed something, even if no response was sent. */
  readonly isApplied: boolean;
}

const LONGEST_BODY = 65_536;

/** A log of the newest requests, oldest first, which also counts all requests. */
export class RequestLog {
  readonly #capacity: number;
  #entries: LoggedRequest[] = [];
  #total = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The number of all requests, including those that are no longer in the log. */
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
}
