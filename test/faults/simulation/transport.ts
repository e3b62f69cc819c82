import {
  type KubernetesRequest,
  METHODS,
  type RequestReport,
  type Transport,
} from '../../../src/kubernetes/requests/transport.js';
import type { KubernetesError } from '../../../src/kubernetes/api/types.js';
import type { JsonObject } from '../../../src/kubernetes/api/json.js';
import type { Clock } from '../../../src/units/clock.js';
import type { Product } from '../product.js';
import type { ApiWire, WireEnd } from './api-wire.js';
import type { Cluster } from './cluster.js';
import type { ApiRecord, HeardRecord, LogRecord } from './log.js';
import type { SimulatedProcess } from './process.js';
import type { Timeline } from './timeline.js';
import { WatchPipe } from './watch-pipe.js';
import type { WatchWires } from './watch-wires.js';

/** A step of a request at which a process can be killed. */
export type Step = 'sending' | 'sent' | 'answered';

export interface TransportParts {
  readonly product: Product;
  readonly process: SimulatedProcess;
  /** The number of the replica that the process belongs to. */
  readonly replica: number;
  readonly cluster: Cluster;
  readonly api: ApiWire;
  readonly watches: WatchWires;
  readonly log: (record: LogRecord) => void;
  readonly timeline: Timeline;
  readonly onStep: (step: Step, record: ApiRecord) => void;
  readonly onRequest: (report: RequestReport) => void;
}

const MAX_ATTEMPTS = 3;

/**
 * Replaces the sockets between the service and the simulated API server. It has the retries of the real transport: a
 * GET after a 429 or a `Retry-After` up to three times, and once after a lost connection.
 */
export function openTransport(parts: TransportParts): Transport {
  const { product, process } = parts;
  const { clock } = process;
  const budgets = product.createLaneBudgets(clock);

  const repeat = async (request: KubernetesRequest, signal: AbortSignal): Promise<JsonObject> => {
    const endMs = clock.monotonicMs() + request.deadlineMs;
    for (let attempts = 1; ; attempts += 1) {
      await budgets[request.lane].take(signal);
      try {
        return await exchange(request, signal, parts);
      } catch (error) {
        const waitMs = delayMs(request, error, { attempts, product, clock });
        if (waitMs === null || clock.monotonicMs() + waitMs >= endMs) throw error;
        if (waitMs > 0) await product.sleep(clock, waitMs, signal);
        if (signal.aborted) throw error;
      }
    }
  };

  return {
    request: (request) =>
      product.withDeadline(clock, { ms: request.deadlineMs, parent: request.signal }, (signal) =>
        repeat(request, signal),
      ),
    openWatch: (request) =>
      product.withDeadline(clock, { ms: request.deadlineMs, parent: request.signal }, async (signal) => {
        await budgets.watch.take(signal);
        return openWatch(request, signal, parts);
      }),
    close: () => undefined,
  };
}

function delayMs(
  request: KubernetesRequest,
  error: unknown,
  {
    attempts,
    product,
    clock,
  }: { readonly attempts: number; readonly product: Product; readonly clock: Clock },
): number | null {
  if (
    !(error instanceof product.KubernetesError) ||
    METHODS[request.verb] !== 'GET' ||
    attempts >= MAX_ATTEMPTS
  )
    return null;
  if (error.kind === 'connection') return attempts === 1 ? 0 : null;
  const limitedMs = product.rateLimitMs(error, attempts);
  if (limitedMs !== null) return limitedMs;
  return error.kind === 'server_error' && error.retryAfterSeconds !== null
    ? Math.max(error.retryAfterSeconds, 0.5) * 1000 * (1 + clock.random())
    : null;
}

function exchange(
  request: KubernetesRequest,
  signal: AbortSignal,
  parts: TransportParts,
): Promise<JsonObject> {
  const { process } = parts;
  return new Promise((resolve, reject) => {
    const record = begin(request, signal, { parts, reject });
    if (record === null) return;
    const onAbort = (): void => reject(parts.product.abortError(request.doing, signal));
    signal.addEventListener('abort', onAbort);
    parts.api.take(record, parts.replica, (end) =>
      process.deliver(() => {
        parts.onStep('answered', record);
        if (!process.isAlive) return;
        signal.removeEventListener('abort', onAbort);
        if (signal.aborted) return;
        reportEnd(parts, request, record);
        const error = errorOf(request, end, parts);
        if (error !== null) reject(error);
        else if (end.kind === 'answer') resolve(answerOf(end, { record, parts }));
      }),
    );
    parts.onStep('sent', record);
  });
}

/** Records the request and sends it; null if it is not sent. */
function begin(
  request: KubernetesRequest,
  signal: AbortSignal,
  { parts, reject }: { readonly parts: TransportParts; readonly reject: (error: Error) => void },
): ApiRecord | null {
  const { process, cluster, log, timeline } = parts;
  if (signal.aborted) {
    reject(parts.product.abortError(request.doing, signal));
    return null;
  }
  const { path, query = {} } = request;
  const method = METHODS[request.verb];
  const { parsed } = cluster.read({ method, path, query });
  const record: ApiRecord = {
    kind: 'api',
    process: process.name,
    sentMs: timeline.nowMs,
    method,
    path,
    resource: parsed?.resource.plural ?? '',
    subresource: parsed?.subresource === '' ? null : (parsed?.subresource ?? null),
    namespace: parsed?.namespace ?? null,
    name: parsed?.name ?? null,
    query,
    body: request.body ?? null,
    arrivedMs: null,
    answeredMs: null,
    status: null,
    written: null,
    live: null,
  };
  parts.onStep('sending', record);
  // A caller in a dead process waits forever.
  if (!process.isAlive) return null;
  log(record);
  return record;
}

function answerOf(
  end: Extract<WireEnd, { kind: 'answer' }>,
  { record, parts }: { readonly record: ApiRecord; readonly parts: TransportParts },
): JsonObject {
  const { process, log, timeline } = parts;
  const { resource } = record;
  const heard: HeardRecord = { kind: 'heard', process: process.name, resource, atMs: timeline.nowMs };
  if (record.method === 'GET' && record.name === null) log(heard);
  return JSON.parse(end.answer.body) as JsonObject;
}

function errorOf(
  request: KubernetesRequest,
  end: WireEnd,
  { product, process }: TransportParts,
): KubernetesError | null {
  const { doing } = request;
  if (end.kind === 'lost') {
    const signal = new AbortController().signal;
    return product.connectionError(doing, new Error('socket hang up'), { signal, secret: null });
  }
  const { status, retryAfter, body } = end.answer;
  if (status < 300) return null;
  const now = process.clock.now();
  return product.refusalError({ doing, status, body, retryAfter, now, secret: null });
}

function reportEnd(
  { onRequest, timeline }: TransportParts,
  { verb, resource }: KubernetesRequest,
  record: ApiRecord,
): void {
  const code = record.status === null ? 'connection' : String(record.status);
  onRequest({ verb, resource, code, seconds: (timeline.nowMs - record.sentMs) / 1000 });
}

async function openWatch(
  request: KubernetesRequest,
  signal: AbortSignal,
  parts: TransportParts,
): Promise<WatchPipe> {
  const { process, api, watches, log, timeline } = parts;
  return new Promise((resolve, reject) => {
    const record = begin(request, signal, { parts, reject });
    if (record === null) return;
    const onAbort = (): void => reject(parts.product.abortError(request.doing, signal));
    signal.addEventListener('abort', onAbort);
    const settle = (run: () => void): void =>
      process.deliver(() => {
        signal.removeEventListener('abort', onAbort);
        if (!signal.aborted) run();
      });
    const fault = api.faultFor(record, parts.replica);
    const refuse = (end: WireEnd): void =>
      settle(() => reject(errorOf(request, end, parts) ?? new Error('no error')));
    if (fault !== null && fault.what.mode !== 'slow') {
      api.take(record, parts.replica, refuse);
      return;
    }
    timeline.after(api.latencyMs() * 2, () => {
      record.arrivedMs = timeline.nowMs;
      const pipe = new WatchPipe(() => drop());
      let drop = (): void => undefined;
      const { resource } = record;
      const opened = watches.open(record, {
        owner: process.name,
        send: (line) =>
          process.deliver(() => {
            log({ kind: 'heard', process: process.name, resource, atMs: timeline.nowMs });
            pipe.send(line);
          }),
        end: () => process.deliver(() => pipe.end()),
      });
      if (typeof opened !== 'function') {
        record.status = opened.status;
        refuse({ kind: 'answer', answer: opened });
        return;
      }
      drop = opened;
      record.status = 200;
      settle(() => {
        // The signal of the whole watch outlives the deadline for its headers.
        const abort = (): void => {
          drop();
          pipe.fail(new Error('aborted'));
        };
        if (request.signal?.aborted === true) abort();
        request.signal?.addEventListener('abort', abort);
        resolve(pipe);
      });
    });
  });
}
