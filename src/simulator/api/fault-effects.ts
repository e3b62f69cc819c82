import type { ServerResponse } from 'node:http';
import { authenticate } from './requests/access.js';
import type { ApiParts, Exchange } from './exchange.js';
import type { FaultEffect } from './requests/faults.js';
import type { Reply } from './handle.js';
import type { ResourceRequest } from './requests/request.js';
import { accessOf, forbidden } from './requests/rules.js';
import { StatusError, makeStatus, noSuchResource, serverFault } from '../objects/status-error.js';

interface Serving {
  readonly parts: ApiParts;
  readonly respond: (parts: ApiParts, exchange: Exchange) => void;
  readonly answerRequest: (parts: ApiParts, exchange: Exchange) => Reply;
  readonly note: (
    parts: ApiParts,
    exchange: Exchange,
    outcome: { readonly code: number | null; readonly isApplied: boolean },
  ) => void;
}

export function meetFault(server: Serving, exchange: Exchange, fault: FaultEffect): void {
  const { parts, respond, answerRequest, note } = server;
  const { response, parsed } = exchange;
  const { clock } = parts.context;
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
      note(parts, exchange, { code: null, isApplied: answerRequest(parts, exchange).code < 400 });
      exchange.request.socket.destroy();
      return;
    case 'apply-late':
      note(parts, exchange, { code: 504, isApplied: false });
      refuse(response, { status: 504, reason: 'Timeout' });
      parts.onClose(
        clock.after(fault.ms, () => {
          note(parts, exchange, { code: null, isApplied: answerRequest(parts, exchange).code < 400 });
        }),
      );
      return;
    case 'stall':
      note(parts, exchange, { code: null, isApplied: false });
      return;
    case 'override-replicas':
      overrideReplicas(server, exchange, parsed, fault.replicas);
      return;
    case 'forbid':
      forbid(server, exchange);
      return;
    case 'throttle':
      note(parts, exchange, { code: 429, isApplied: false });
      throttle(response, fault.retryAfterSeconds ?? 1);
      return;
    default:
      fault satisfies never;
  }
}

/** Answers 403, as a real server does until it has read its roles and bindings. */
function forbid({ parts, note }: Serving, { response, ...exchange }: Exchange): void {
  const { parsed, authorization } = exchange;
  let error: StatusError;
  try {
    const { user } = authenticate(parts.rbac(), parts.context.tokens, authorization);
    error = parsed === null ? noSuchResource() : forbidden(user, accessOf(parsed));
  } catch (failure) {
    error = failure instanceof StatusError ? failure : serverFault(String(failure));
  }
  note(parts, { ...exchange, response }, { code: error.code, isApplied: false });
  response.writeHead(error.code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(error.status));
}

/** Answers 429 like API priority and fairness: as plain text with `Retry-After`. */
function throttle(response: ServerResponse, retryAfterSeconds: number): void {
  response.writeHead(429, {
    'content-type': 'text/plain; charset=utf-8',
    'retry-after': String(retryAfterSeconds),
    'x-content-type-options': 'nosniff',
  });
  response.end('Too many requests, please try again later.\n');
}

function refuse(
  response: ServerResponse,
  fault: {
    readonly status: number;
    readonly reason?: string;
    readonly retryAfter?: string;
    readonly body?: string;
  },
): void {
  const { status, reason = 'InternalError', retryAfter } = fault;
  const body =
    fault.body ?? JSON.stringify(makeStatus({ code: status, reason, message: `simulated ${status}` }));
  const type = body.startsWith('{') ? 'application/json' : 'text/plain; charset=utf-8';
  response.writeHead(status, {
    'content-type': type,
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  });
  response.end(body);
}

/** Replaces the replicas in a write, like an admission webhook. The answer contains the replaced replicas. */
function overrideReplicas(
  { parts, respond }: Serving,
  exchange: Exchange,
  parsed: ResourceRequest | null,
  replicas: number,
): void {
  const isWrite = parsed?.verb === 'patch' || parsed?.verb === 'update' || parsed?.verb === 'create';
  const { sent } = exchange;
  const body = isWrite && sent.body.startsWith('{') ? withReplicas(sent.body, replicas) : sent.body;
  respond(parts, { ...exchange, sent: { ...sent, body } });
}

function withReplicas(text: string, replicas: number): string {
  const body: unknown = JSON.parse(text);
  const object = typeof body === 'object' && body !== null ? { ...body } : {};
  const spec = 'spec' in object && typeof object.spec === 'object' ? object.spec : {};
  return JSON.stringify({ ...object, spec: { ...spec, replicas } });
}
