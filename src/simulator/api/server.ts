import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { splitToken } from '../kubeconfig.js';
import { authenticate } from './access.js';
import type { ApiContext } from './context.js';
import { type FaultEffect, type FaultPlan, type Subject as FaultSubject } from './faults.js';
import { type Reply, type Sent, answerOther, answerResource } from './handle.js';
import type { RequestLog } from './request-log.js';
import { type ResourceRequest, parseRequest } from './request.js';
import { type Rbac, type Subject, accessOf, forbidden, isAllowed } from './rules.js';
import { StatusError, makeStatus, noSuchPath } from './status-error.js';
import { tableOf, wantsTable } from './table.js';
import { wireText } from './wire.js';
import type { Watches } from './watch.js';

const LARGEST_BODY_BYTES = 3 * 1024 * 1024;

/** What the API server is made of. */
export interface ApiParts {
  readonly context: ApiContext;
  readonly rbac: () => Rbac;
  readonly faults: FaultPlan;
  readonly log: RequestLog;
  readonly watches: Watches;
  /** Takes back a timer when the simulator closes. */
  readonly onClose: (stop: () => void) => void;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly address: URL;
  readonly authorization: string | undefined;
  readonly sent: Sent;
  /** Null for what is no resource. */
  readonly parsed: ResourceRequest | null;
  readonly arrived: Pick<Parameters<RequestLog['add']>[0], 'at' | 'monotonicMs'>;
}

/** The HTTP server of the Kubernetes API. Not listening yet. */
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
  const sent = {
    body: bytes.toString(contentType.includes('protobuf') ? 'latin1' : 'utf8'),
    contentType,
    accept: request.headers.accept ?? '',
    userAgent: request.headers['user-agent'] ?? '',
  };
  const parsed = parseRequest(catalog, request.method ?? 'GET', address);
  const authorization = token === null ? request.headers.authorization : `Bearer ${token}`;
  const exchange = { request, response, address, authorization, sent, parsed, arrived };
  const fault = parsed === null ? null : parts.faults.takeForRequest(subjectOf(parsed, sent));
  if (fault === null) respond(parts, exchange);
  else meetFault(parts, exchange, fault);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size > LARGEST_BODY_BYTES) throw new Error('reading a request: the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function subjectOf(
  { verb, resource, subresource, namespace, name }: ResourceRequest,
  { userAgent }: Sent,
): FaultSubject {
  return { verb, resource: resource.plural, subresource, namespace, name, userAgent };
}

/** Carries out the request and sends the answer. */
function respond(parts: ApiParts, exchange: Exchange): void {
  const { response, parsed } = exchange;
  if (parsed?.verb === 'watch') {
    startWatch(parts, exchange, parsed);
    return;
  }
  const reply = carryOut(parts, exchange);
  note(parts, exchange, { code: reply.code, isApplied: reply.code < 400 });
  if (response.destroyed) return;
  response.writeHead(reply.code, { 'content-type': contentType(reply) });
  response.end(exchange.request.method === 'HEAD' ? undefined : reply.body);
}

function contentType(reply: Reply): string {
  return reply.body.startsWith('{') ? 'application/json' : 'text/plain; charset=utf-8';
}

function carryOut(parts: ApiParts, { address, authorization, sent, parsed }: Exchange): Reply {
  try {
    const subject = authenticate(parts.rbac(), authorization);
    if (parsed === null) {
      const reply = answerOther(parts.context, subject, address, sent);
      if (reply === null) throw noSuchPath();
      return reply;
    }
    authorize(subject, parsed);
    return answerResource(parts.context, parsed, sent);
  } catch (error) {
    return failure(error);
  }
}

function authorize(subject: Subject, parsed: ResourceRequest): void {
  const access = accessOf(parsed);
  if (!isAllowed(subject.rules, access)) throw forbidden(subject.user, access);
}

function failure(error: unknown): Reply {
  if (error instanceof StatusError) return { code: error.code, body: JSON.stringify(error.status) };
  const message = `Internal error occurred: ${String(error)}`;
  return { code: 500, body: JSON.stringify(makeStatus({ code: 500, reason: 'InternalError', message })) };
}

function startWatch(parts: ApiParts, exchange: Exchange, parsed: ResourceRequest): void {
  const { authorization, response, sent } = exchange;
  const { resource } = parsed;
  try {
    authorize(authenticate(parts.rbac(), authorization), parsed);
    note(parts, exchange, { code: 200, isApplied: false });
    parts.watches.start(parsed, subjectOf(parsed, sent), response, (object) =>
      wantsTable(sent.accept)
        ? JSON.stringify(
            tableOf(resource, [object], {
              nowMs: parts.context.clock.now(),
              metadata: { resourceVersion: object.metadata.resourceVersion },
            }),
          )
        : wireText(resource, object),
    );
  } catch (error) {
    const reply = failure(error);
    note(parts, exchange, { code: reply.code, isApplied: false });
    if (response.headersSent) response.destroy();
    else response.writeHead(reply.code, { 'content-type': 'application/json' }).end(reply.body);
  }
}

function meetFault(parts: ApiParts, exchange: Exchange, fault: FaultEffect): void {
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
      note(parts, exchange, { code: null, isApplied: carryOut(parts, exchange).code < 400 });
      exchange.request.socket.destroy();
      return;
    case 'apply-late':
      note(parts, exchange, { code: 504, isApplied: false });
      refuse(response, { status: 504, reason: 'Timeout' });
      parts.onClose(
        clock.after(fault.ms, () => {
          note(parts, exchange, { code: null, isApplied: carryOut(parts, exchange).code < 400 });
        }),
      );
      return;
    case 'stall':
      note(parts, exchange, { code: null, isApplied: false });
      return;
    case 'override-replicas':
      overrideReplicas(parts, exchange, parsed, fault.replicas);
      return;
    default:
      fault satisfies never;
  }
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

/** Carries the write out with other replicas, as an admission webhook may; the answer shows them. */
function overrideReplicas(
  parts: ApiParts,
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

function note(
  parts: ApiParts,
  exchange: Exchange,
  outcome: { readonly code: number | null; readonly isApplied: boolean },
): void {
  const { request, address, sent, parsed, arrived } = exchange;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  parts.log.add({
    ...arrived,
    method: request.method ?? 'GET',
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
