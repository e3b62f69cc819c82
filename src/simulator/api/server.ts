import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
  createServer,
} from 'node:http';
import { splitToken } from './requests/access.js';
import { tooLargeBody, makeStatus } from '../objects/status-error.js';
import { answerRequest, forbidRequest, openWatch, subjectOf } from './answer.js';
import type { ApiParts, Exchange } from './exchange.js';
import { parseBody } from './requests/parse-body.js';
import { type ResourceRequest, parseRequest } from './requests/request.js';
import type { WatchPeer } from './reads/watch.js';
import { mergePatch } from './writes/patch.js';
import type { FaultEffect } from './requests/faults.js';

const LARGEST_BODY_BYTES = 3 * 1024 * 1024;
/** A watch with more unsent bytes is disconnected, because a client that does not read would fill the memory. */
const LONGEST_QUEUE_BYTES = 64 * 1024 * 1024;
const MOST_WARNINGS = 20;
const LONGEST_WARNING = 256;
/** How long a read waits for a revision that does not exist yet, before it fails with 504, as in the real server. */
const FRESHNESS_MS = 3000;

export function makeApiServer(parts: ApiParts): Server {
  return createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    receive(parts, request, response).catch(() => response.destroy());
  });
}

async function receive(parts: ApiParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { clock, catalog } = parts.context;
  const arrived = { at: clock.now(), monotonicMs: clock.monotonicMs() };
  const { token, rest } = splitToken(request.url ?? '/');
  const address = new URL(rest, 'http://localhost');
  const contentType = request.headers['content-type'] ?? '';
  const bytes = await readBody(request);
  if (bytes === null) {
    const { code, status } = tooLargeBody(LARGEST_BODY_BYTES);
    send(response, code, JSON.stringify(status), { connection: 'close' });
    return;
  }
  const sent = {
    body: bytes.toString(contentType.includes('protobuf') ? 'latin1' : 'utf8'),
    contentType,
    accept: request.headers.accept ?? '',
    userAgent: request.headers['user-agent'] ?? '',
  };
  const method = request.method ?? 'GET';
  const parsed = parseRequest(catalog, method, address);
  const authorization = token === null ? request.headers.authorization : `Bearer ${token}`;
  const host = request.headers.host ?? '';
  const exchange = { method, address, host, authorization, sent, parsed, request, response, arrived };
  const fault = parsed === null ? null : parts.faults.takeForRequest(subjectOf(parsed, sent));
  if (fault === null) respond(parts, exchange);
  else meetFault(parts, exchange, fault);
}

/** Reads a body; null: it is too large, and the rest of it was read and discarded. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size <= LARGEST_BODY_BYTES) chunks.push(chunk);
  }
  return size > LARGEST_BODY_BYTES ? null : Buffer.concat(chunks);
}

/**
 * Answers a request. A read of a revision that does not exist yet first waits for the revision, at most `FRESHNESS_MS`.
 */
function respond(parts: ApiParts, exchange: Exchange): void {
  const { parsed } = exchange;
  if (parsed?.verb === 'watch') {
    startWatch(parts, exchange, parsed);
    return;
  }
  const { store, clock } = parts.context;
  if (parsed === null || !isOfFuture(parsed, store.revision)) {
    answer(parts, exchange);
    return;
  }
  const wanted = Number(parsed.query.get('resourceVersion'));
  const giveUp = clock.after(FRESHNESS_MS, () => {
    stopWaiting();
    answer(parts, exchange);
  });
  const stopWaiting = store.whenReached(wanted, () => {
    giveUp();
    answer(parts, exchange);
  });
  parts.onClose(giveUp);
}

function isOfFuture({ verb, query }: ResourceRequest, revision: number): boolean {
  const wanted = Number(query.get('resourceVersion') ?? '0');
  return (verb === 'get' || verb === 'list') && wanted > revision;
}

function answer(parts: ApiParts, exchange: Exchange, reply = answerRequest(parts, exchange)): void {
  const { response } = exchange;
  note(parts, exchange, { code: reply.code, isApplied: reply.code < 400 });
  if (response.destroyed) return;
  const warnings = (reply.warnings ?? []).slice(0, MOST_WARNINGS).map(warningHeader);
  if (warnings.length > 0) response.setHeader('warning', warnings);
  send(response, reply.code, reply.body);
}

/** Sends a response. Node sends no body in the response to a HEAD request. */
function send(response: ServerResponse, code: number, body: string, headers: OutgoingHttpHeaders = {}): void {
  const type = body.startsWith('{') ? 'application/json' : 'text/plain; charset=utf-8';
  response.writeHead(code, { 'content-type': type, ...headers }).end(body);
}

/** A header may only contain printable ASCII, but a warning may quote any field name. */
function warningHeader(text: string): string {
  const printable = text.replaceAll(/[^ -~]/g, '?').slice(0, LONGEST_WARNING);
  return `299 - ${JSON.stringify(printable)}`;
}

function startWatch(parts: ApiParts, exchange: Exchange, parsed: ResourceRequest): void {
  const { response } = exchange;
  const refusal = openWatch(parts, exchange, parsed, peerOf(response));
  note(parts, exchange, { code: refusal?.code ?? 200, isApplied: false });
  if (refusal === null) return;
  if (response.headersSent) response.destroy();
  else send(response, refusal.code, refusal.body);
}

function peerOf(response: ServerResponse): WatchPeer {
  return {
    accept: () => {
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
      response.flushHeaders();
    },
    send: (line) => {
      if (response.writableLength > LONGEST_QUEUE_BYTES) response.destroy();
      else response.write(line);
    },
    end: () => response.end(),
    destroy: () => response.destroy(),
    onClose: (callback) => response.on('close', callback),
  };
}

function note(
  parts: ApiParts,
  exchange: Exchange,
  outcome: { readonly code: number | null; readonly isApplied: boolean },
): void {
  const { method, address, sent, parsed, arrived } = exchange;
  const isRead = method === 'GET' || method === 'HEAD';
  parts.log.add({
    ...arrived,
    method,
    path: address.pathname + address.search,
    verb: parsed?.verb ?? null,
    resource: parsed?.resource.plural ?? '',
    subresource: parsed?.subresource ?? '',
    namespace: parsed?.namespace ?? null,
    name: parsed?.name ?? null,
    code: outcome.code,
    userAgent: sent.userAgent,
    body: isRead ? null : sent.body,
    isApplied: outcome.isApplied && !isRead,
  });
}

function meetFault(parts: ApiParts, exchange: Exchange, fault: FaultEffect): void {
  const { response } = exchange;
  const { clock } = parts.context;
  const applyUnanswered = (): void =>
    note(parts, exchange, { code: null, isApplied: answerRequest(parts, exchange).code < 400 });
  switch (fault.kind) {
    case 'refuse':
      note(parts, exchange, { code: fault.status, isApplied: false });
      refuse(response, fault);
      return;
    case 'delay':
      parts.onClose(clock.after(fault.ms, () => respond(parts, exchange)));
      return;
    case 'drop':
      note(parts, exchange, { code: null, isApplied: false });
      exchange.request.socket.destroy();
      return;
    case 'lose-answer':
      applyUnanswered();
      exchange.request.socket.destroy();
      return;
    case 'apply-late':
      note(parts, exchange, { code: 504, isApplied: false });
      refuse(response, { status: 504, reason: 'Timeout' });
      parts.onClose(clock.after(fault.ms, applyUnanswered));
      return;
    case 'stall':
      note(parts, exchange, { code: null, isApplied: false });
      return;
    case 'override-replicas':
      respond(parts, withReplicas(exchange, fault.replicas));
      return;
    case 'forbid':
      answer(parts, exchange, forbidRequest(parts, exchange));
      return;
    case 'throttle':
      note(parts, exchange, { code: 429, isApplied: false });
      // Like API priority and fairness, answers with plain text and `Retry-After`.
      send(response, 429, 'Too many requests, please try again later.\n', {
        'retry-after': String(fault.retryAfterSeconds ?? 1),
        'x-content-type-options': 'nosniff',
      });
      return;
    default:
      fault satisfies never;
  }
}

function refuse(
  response: ServerResponse,
  fault: Omit<Extract<FaultEffect, { readonly kind: 'refuse' }>, 'kind'>,
): void {
  const { status, reason = 'InternalError', retryAfter } = fault;
  const body =
    fault.body ?? JSON.stringify(makeStatus({ code: status, reason, message: `simulated ${status}` }));
  send(response, status, body, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
}

/** Replaces the replicas in a write, like an admission webhook. The answer contains the replaced replicas. */
function withReplicas(exchange: Exchange, replicas: number): Exchange {
  const { sent, parsed } = exchange;
  const isWrite = parsed?.verb === 'patch' || parsed?.verb === 'update' || parsed?.verb === 'create';
  if (!isWrite || !sent.body.startsWith('{')) return exchange;
  const body = JSON.stringify(mergePatch(parseBody(sent.body), { spec: { replicas } }));
  return { ...exchange, sent: { ...sent, body } };
}
