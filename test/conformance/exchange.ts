import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, type JsonObject, valueAt } from '../../src/simulator/kinds/json.js';
import type { ManualClock } from '../support/manual-clock.js';

/** One request; `@NAME.path.to.value@` in its path or body is replaced by a value of an earlier answer. */
export interface ConformanceRequest {
  readonly name: string;
  /** Default GET. */
  readonly method?: string;
  readonly path: string;
  /** A string is sent unchanged, anything else as JSON. */
  readonly body?: string | JsonObject | readonly JsonObject[];
  /** Content type of the body; default JSON. */
  readonly type?: string;
  readonly accept?: string;
  /** Default: an administrator. */
  readonly as?: 'nobody' | 'reader';
  /** The answer is a stream of events. */
  readonly watch?: boolean;
  /** Prepares later requests; its answer is not compared. */
  readonly setUp?: boolean;
}

/** An answer in the recording. */
export interface ConformanceAnswer {
  readonly status: number;
  readonly body: Json;
}

/** Real time to wait for a request that needs the server's clock to advance, before the clock advances. */
const PATIENCE_MS = 20;

/** Sends requests in order and inserts values of earlier answers. */
export class Conversation {
  readonly #url: string;
  readonly #token: string;
  readonly #clock: ManualClock;
  readonly #answers = new Map<string, Json>();

  /** `clock` is that of the server: it advances only while a request waits for it. */
  constructor(url: string, token: string, clock: ManualClock) {
    this.#url = url;
    this.#token = token;
    this.#clock = clock;
  }

  async send(request: ConformanceRequest): Promise<ConformanceAnswer> {
    const { name, method = 'GET', body, watch = false } = request;
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const fetched = fetch(this.#url + this.#fill(request.path), {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(20_000),
      headers: {
        accept: request.accept ?? 'application/json',
        authorization: `Bearer ${this.#tokenOf(request)}`,
        ...(text === undefined ? {} : { 'content-type': request.type ?? 'application/json' }),
      },
      ...(text === undefined ? {} : { body: this.#fill(text) }),
    }).then(async (response) => ({ status: response.status, text: await response.text() }));
    const answer = await this.#outlast(fetched, request.path.includes('timeoutSeconds='));
    const parsed = parse(answer.text, watch);
    this.#answers.set(name, parsed);
    return { status: answer.status, body: parsed };
  }

  /** Waits for an answer that is due at a time of the server's clock. */
  async #outlast<T>(work: Promise<T>, isWaiting: boolean): Promise<T> {
    let isOver = !isWaiting;
    const done = work.finally(() => (isOver = true));
    done.catch(() => undefined);
    while (!isOver) {
      await sleep(PATIENCE_MS);
      const { nextMs } = this.#clock;
      if (nextMs !== null) this.#clock.advance(nextMs);
    }
    return done;
  }

  #tokenOf({ as }: ConformanceRequest): string {
    if (as === 'nobody') return 'wrong-token';
    return as === 'reader' ? this.#pick('reader-token', 'status.token') : this.#token;
  }

  #fill(text: string): string {
    return text.replace(/@([\w-]+)\.([\w.]+)@/g, (_, name: string, path: string) => this.#pick(name, path));
  }

  #pick(name: string, path: string): string {
    const found = valueAt(this.#answers.get(name), ...path.split('.'));
    return typeof found === 'string' ? found : JSON.stringify(found);
  }
}

function parse(text: string, isStream: boolean): Json {
  try {
    const lines = text.trim().split('\n').filter(Boolean);
    return isStream ? lines.map((line) => JSON.parse(line) as Json) : (JSON.parse(text) as Json);
  } catch {
    return text;
  }
}
