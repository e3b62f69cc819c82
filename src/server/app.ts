import express from 'express';
import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import { createHostCheck } from './allowed-hosts.js';
import type { HostCheckOptions } from './allowed-hosts.js';
import type { EventStreams } from './event-streams.js';
import { refuseOddRequests, setSafeHeaders } from './hardening.js';
import { openApiDocument } from './openapi.js';
import { createPageTurns } from './page-turns.js';
import { BadRequest } from './query.js';
import { ROUTES } from './routes.js';
import type { RouteId } from './routes.js';
import { listDecisions, listScalers, showHistory, showScaler, showSnapshot } from './scaler-pages.js';
import type { ScalerPageParts } from './scaler-pages.js';
import { createSharedPage } from './shared-page.js';
import type { SharedPageOptions } from './shared-page.js';
import type { Clock } from '../units/clock.js';

/** What the pages read. Functions that are asked at each request; none of them may block. */
export interface AppParts {
  /** What keeps the process from doing its work, one sentence each; none: alive. */
  readonly healthProblems: () => readonly string[];
  /** What the service still waits for before it is ready, one sentence each; none: ready. */
  readonly waitingFor: () => readonly string[];
  readonly metrics: Pick<SharedPageOptions, 'contentType' | 'render'>;
  readonly api: ScalerPageParts & { readonly streams: EventStreams };
  readonly clock: Clock;
  /** The host names that it answers to beside addresses and those of the cluster. */
  readonly hosts?: HostCheckOptions;
  /** Connections accepted so far: while new ones come, large pages wait. */
  readonly connections?: () => number;
  /** Called with what a page threw; the client learns no more than that it failed. */
  readonly onError: (error: unknown, path: string) => void;
}

/** The pages of contract.md section 4 that exist. Read-only: any method but GET and HEAD is answered by 405. */
export function createApp(parts: AppParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  app.use(setSafeHeaders, refuseOddRequests);
  const pages = createPages(parts);
  const checkHost = createHostCheck(parts.hosts ?? { allowed: [], apiServerNames: () => [] });
  for (const { id, path } of ROUTES) {
    const page = app.route(path.replace(/\{(\w+)\}/g, ':$1'));
    // A probe may be sent under any name, and says nothing that is worth a name.
    page.get(...(id === 'healthz' || id === 'readyz' ? [] : [checkHost]), pages[id]);
  }
  app.use((_request, response) => void response.status(404).json({ error: NO_PAGE }));
  app.use(failure(parts.onError));
  return app;
}

const NO_PAGE = 'there is no such page; /api/v1/openapi.json has those there are';

function createPages({
  healthProblems,
  waitingFor,
  metrics,
  api,
  clock,
  connections = () => 0,
}: AppParts): Readonly<Record<RouteId, RequestHandler>> {
  const { inTurn, queue } = createPageTurns({ clock, connections });
  const openApi = Buffer.from(JSON.stringify(openApiDocument(api.version)));
  return {
    healthz: probe(healthProblems),
    readyz: probe(waitingFor),
    metrics: createSharedPage({ ...metrics, clock, queue }),
    listScalers: inTurn(listScalers(api)),
    showScaler: inTurn(showScaler(api)),
    listDecisions: inTurn(listDecisions(api)),
    showSnapshot: inTurn(showSnapshot(api)),
    showHistory: inTurn(showHistory(api)),
    streamEvents: api.streams.handle,
    openapi: inTurn((_request, response) => void response.type('application/json').send(openApi)),
  };
}

/** 200 and `ok`, or 503 and what is wrong, one line each. */
function probe(complaints: () => readonly string[]): RequestHandler {
  return (_request, response) => {
    const wrong = complaints();
    response.status(wrong.length === 0 ? 200 : 503).type('text/plain');
    response.send(wrong.length === 0 ? 'ok\n' : wrong.map((line) => `${line}\n`).join(''));
  };
}

/** Express knows an error handler by its four parameters. */
function failure(onError: AppParts['onError']): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const complaint = complaintOf(error);
    if (complaint !== null) {
      response.status(400).json({ error: complaint });
      return;
    }
    onError(error, request.path);
    if (response.headersSent) next(error);
    else response.status(500).json({ error: 'the page failed; the log says why' });
  };
}

/** What is the client's fault: a parameter, or what express itself throws over a malformed path, such as `/%zz`. */
function complaintOf(error: unknown): string | null {
  if (error instanceof BadRequest) return error.message;
  return error instanceof URIError ? 'the request cannot be read' : null;
}
