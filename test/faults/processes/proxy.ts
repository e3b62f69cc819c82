import { createServer, request as ask } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen, shut } from '../../../src/simulator/sockets.js';

/** A request in the proxy. */
export interface Passing {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  /** Its arrival, by `performance.now()`. */
  readonly atMs: number;
}

/** The effect on a request; all but `answer` and `black-hole` let it reach the server. */
export type Effect =
  /** Delays the answer. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Sends the answer a byte at a time. */
  | { readonly kind: 'drip'; readonly bytesPerSecond: number }
  /** Accepts the request and never answers. */
  | { readonly kind: 'black-hole' }
  /** Resets the connection (RST) after this number of bytes of the answer's body. */
  | { readonly kind: 'reset'; readonly afterBytes: number }
  /** Closes the connection (FIN) after this number of bytes of the answer's body, as if it were complete. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** Lets the server apply the request, and resets the connection instead of answering. */
  | { readonly kind: 'lose-answer' }
  /** Answers without the server. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly contentType: string;
      readonly body: string;
    };

/** Selects requests. */
export type Match = (passing: Passing) => boolean;

/** Removes a fault. */
export type RemoveFault = () => void;

/**
 * Called with each request: before the server receives it, and when the server has applied it but the answer was not
 * sent.
 */
export type Hook = (passing: Passing, when: 'before' | 'after') => void;

interface Fault {
  readonly match: Match;
  readonly effect: Effect;
  left: number;
}

/** A stream of bytes from the server to a client: the body of an answer. */
interface Flow {
  readonly passing: Passing;
  readonly from: IncomingMessage;
  readonly to: ServerResponse;
}

/** An HTTP proxy in front of one server that breaks connections as networks do. */
export class Proxy {
  readonly #server = createServer((request, response) => void this.#pass(request, response));
  readonly #target: URL;
  readonly #faults = new Set<Fault>();
  readonly #flows = new Set<Flow>();
  readonly #passed: Passing[] = [];
  #frozen: PromiseWithResolvers | null = null;
  #url = '';
  hook: Hook = () => undefined;

  private constructor(target: string) {
    this.#target = new URL(target);
  }

  /** Starts a proxy for the server at `target`, e.g. `http://127.0.0.1:9090`. */
  static async start(target: string): Promise<Proxy> {
    const proxy = new Proxy(target);
    proxy.#url = await listen(proxy.#server, 0);
    return proxy;
  }

  get url(): string {
    return this.#url;
  }

  /** All requests so far, oldest first. */
  get passed(): readonly Passing[] {
    return this.#passed;
  }

  /** Applies `effect` to matching requests from now on, `times` times (default: until it is removed). */
  add(match: Match, effect: Effect, times = Number.POSITIVE_INFINITY): RemoveFault {
    const fault = { match, effect, left: times };
    this.#faults.add(fault);
    return () => void this.#faults.delete(fault);
  }

  /** Stops the network: no byte passes, no connection ends, until the fault is removed. */
  freeze(): RemoveFault {
    const frozen = withResolvers();
    this.#frozen = frozen;
    for (const { from } of this.#flows) from.pause();
    return () => {
      this.#frozen = null;
      for (const { from } of this.#flows) from.resume();
      frozen.resolve();
    };
  }

  /** Makes connections with a running answer half-open: they stay open without data. Returns their number. */
  abandon(match: Match = () => true): number {
    const flows = [...this.#flows].filter(({ passing }) => match(passing));
    for (const flow of flows) {
      this.#flows.delete(flow);
      flow.from.removeAllListeners('data').removeAllListeners('end').destroy();
    }
    return flows.length;
  }

  /** Resets every connection with a running answer, as a server crash does. */
  resetAll(): void {
    for (const { to } of this.#flows) to.socket?.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.#frozen?.resolve();
    for (const { from } of this.#flows) from.destroy();
    await shut(this.#server);
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await buffer(request);
      const url = new URL(request.url ?? '/', this.#target);
      const passing: Passing = {
        method: request.method ?? 'GET',
        path: url.pathname,
        query: url.searchParams,
        body: body.toString('utf8'),
        atMs: performance.now(),
      };
      this.#passed.push(passing);
      await this.#frozen?.promise;
      // A client that has disconnected meanwhile has closed the connection: its request reaches no server.
      if (request.socket.destroyed) return;
      this.hook(passing, 'before');
      await this.#serve({ passing, body, request, response });
    } catch {
      // When either end disconnects, so does the other one.
      request.socket.destroy();
    }
  }

  async #serve(given: {
    readonly passing: Passing;
    readonly body: Buffer;
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
  }): Promise<void> {
    const { passing, response } = given;
    const effect = this.#take(passing);
    if (effect?.kind === 'black-hole') return;
    if (effect?.kind === 'answer') {
      response.writeHead(effect.status, { 'content-type': effect.contentType }).end(effect.body);
      return;
    }
    const from = await this.#forward(given);
    this.hook(passing, 'after');
    if (effect?.kind === 'lose-answer') {
      from.destroy();
      given.request.socket.resetAndDestroy();
      return;
    }
    if (effect?.kind === 'delay') await pause(effect.ms);
    // Without the length: a truncated body must look complete to the transport.
    const headers = { ...from.headers };
    if (effect?.kind === 'cut') delete headers['content-length'];
    response.writeHead(from.statusCode ?? 502, headers);
    response.flushHeaders();
    await this.#carry({ passing, from, to: response }, effect);
  }

  #forward({
    passing,
    body,
    request,
    response,
  }: {
    readonly passing: Passing;
    readonly body: Buffer;
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
  }): Promise<IncomingMessage> {
    const { hostname, port } = this.#target;
    const headers = { ...request.headers, host: this.#target.host, connection: 'close' };
    return new Promise((resolve, reject) => {
      const path = request.url;
      const out = ask({ hostname, port, method: passing.method, path, headers, agent: false }, resolve);
      out.on('error', reject);
      response.on('close', () => out.destroy());
      out.end(body);
    });
  }

  async #carry(flow: Flow, effect: Effect | null): Promise<void> {
    const { from, to } = flow;
    this.#flows.add(flow);
    to.on('close', () => this.#flows.delete(flow));
    const limit = effect?.kind === 'reset' || effect?.kind === 'cut' ? effect.afterBytes : null;
    let carried = 0;
    if (effect?.kind === 'drip') {
      await drip(await buffer(from), to, effect.bytesPerSecond);
      return;
    }
    from.on('data', (chunk: Buffer) => {
      const left = limit === null ? chunk.length : Math.max(0, limit - carried);
      carried += chunk.length;
      if (left > 0) to.write(chunk.subarray(0, left));
    });
    from.on('error', () => to.destroy());
    from.on('end', () => {
      if (effect?.kind === 'reset') to.socket?.resetAndDestroy();
      else to.end();
    });
    if (this.#frozen !== null) from.pause();
  }

  #take(passing: Passing): Effect | null {
    for (const fault of this.#faults) {
      if (!fault.match(passing)) continue;
      fault.left -= 1;
      if (fault.left <= 0) this.#faults.delete(fault);
      return fault.effect;
    }
    return null;
  }
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function withResolvers(): PromiseWithResolvers {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

async function drip(body: Buffer, to: ServerResponse, bytesPerSecond: number): Promise<void> {
  for (const byte of body) {
    if (to.destroyed) return;
    to.write(Buffer.of(byte));
    await pause(1000 / bytesPerSecond);
  }
  to.end();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
