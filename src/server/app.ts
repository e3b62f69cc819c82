import express from 'express';
import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import { createHostCheck, type HostCheckOptions, refuseOddRequests, setSafeHeaders } from './hardening.js';
import type { EventStreams } from './event-streams.js';
import { createPeerClient } from './fleet/ask-peer.js';
import { ofAll, ofOwner } from './fleet/fleet-pages.js';
import { createPeerCheck, type Fleet } from './fleet/peer-check.js';
import { openApiDocument } from './openapi.js';
import { createAccessCheck, type AccessControl } from './access/access-control.js';
import { showOverview } from './overview/show-overview.js';
import { showService, type ServiceFacts } from './view-service.js';
import { showSite, type Site } from './site.js';
import { createPaced } from './pacing/paced.js';
import { createPageQueue, createSharedPage, type SharedPageOptions } from './pacing/shared-page.js';
import { showAnyHistory, type LongHistory } from './pages/long-history.js';
import { BadRequest } from './pages/query.js';
import { ROUTES, type RouteId } from '../api/routes.js';
import {
  listDecisions,
  listEvents,
  listScalers,
  showForecast,
  showHistory,
  showScaler,
  showSnapshot,
  type ScalerPageParts,
} from './pages/scaler-pages.js';
import { cleanText } from '../units/clean-text.js';
import type { Clock } from '../units/clock.js';

/** What the pages need. The functions are called for every request and must not block. */
export interface AppParts {
  /** Returns a sentence for each problem that fails the liveness probe; empty: the process is alive. */
  readonly healthProblems: () => readonly string[];
  /** Returns a sentence for each reason why the process is not ready; empty: it is ready. */
  readonly waitingFor: () => readonly string[];
  readonly metrics: Pick<SharedPageOptions, 'contentType' | 'render'>;
  readonly api: ScalerPageParts & { readonly streams: EventStreams };
  readonly longHistory: LongHistory;
  readonly service: ServiceFacts;
  /** Decides who may read the pages below `/api`. Null (default): everybody. */
  readonly access?: AccessControl | null;
  /** The dashboard. Null (default): it is not served. */
  readonly site?: Site | null;
  /**
   * The other replicas, each of which serves the pages of its own scalers. Default: this replica serves all scalers.
   */
  readonly fleet?: Fleet | undefined;
  readonly clock: Clock;
  /** Which hosts are accepted besides IP addresses and names of the cluster. */
  readonly hosts?: HostCheckOptions;
  /** Returns how many connections were accepted so far. While the number grows, large pages wait. */
  readonly connections?: () => number;
  /** Called with the error of a page. The client gets a message without details. */
  readonly onError: (error: unknown, path: string) => void;
}

/** Serves all pages of `ROUTES`. Answers 405 to any method but GET and HEAD. */
export function createApp(parts: AppParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  app.set('json replacer', (_name: string, value: unknown) =>
    typeof value === 'string' ? cleanText(value) : value,
  );
  app.use(setSafeHeaders, refuseOddRequests);
  const { queued, pages } = createPages(parts);
  const { site = null } = parts;
  const checkHost = createHostCheck(parts.hosts ?? { allowed: [], apiServerNames: () => [] });
  const { access = null, fleet, clock } = parts;
  const checkAccess = createPeerCheck({ access, fleet, clock, orElse: createAccessCheck(access) });
  const sitePage = queued(showSite(site));
  app.use((request, response, next) => {
    if (site?.has(request.path) !== true) next();
    else checkHost(request, response, () => sitePage(request, response, next));
  });
  for (const { id, path } of ROUTES) {
    const page = app.route(path.replace(/\{(\w+)\}/g, ':$1'));
    // Probes are exempt: they are sent with any host name, and their response is not confidential.
    page.get(
      ...(id === 'healthz' || id === 'readyz' ? [] : [checkHost]),
      ...(path.startsWith('/api/') ? [checkAccess] : []),
      pages[id],
    );
  }
  app.use((_request, response) => void response.status(404).json({ error: NO_PAGE }));
  app.use(failure(parts.onError));
  return app;
}

const NO_PAGE = 'there is no such page: /api/v1/openapi.json lists the pages';

function createPages({
  healthProblems,
  waitingFor,
  metrics,
  api,
  longHistory,
  service,
  fleet,
  clock,
  connections = () => 0,
  onError,
}: AppParts): {
  readonly queued: (page: RequestHandler) => RequestHandler;
  readonly pages: Readonly<Record<RouteId, RequestHandler>>;
} {
  const { queued, queue } = createPageQueue({ clock, connections });
  const paced = createPaced(clock);
  const ask = createPeerClient(
    { keys: () => fleet?.keys() ?? Promise.resolve([]) },
    { clock, onFault: (error) => onError(error, 'of another replica') },
  );
  const ofScaler = (page: RequestHandler): RequestHandler =>
    fleet === undefined ? queued(page) : ofOwner(queued(page), { fleet, ask });
  const list = queued(listScalers(api));
  const openApi = Buffer.from(JSON.stringify(openApiDocument(api.version)));
  const pages = {
    healthz: probe(healthProblems),
    readyz: probe(waitingFor),
    metrics: createSharedPage({ ...metrics, clock, queue }),
    listScalers: fleet === undefined ? list : ofAll(list, { api, fleet, ask }),
    showScaler: ofScaler(showScaler(api)),
    listDecisions: ofScaler(listDecisions(api)),
    showSnapshot: ofScaler(showSnapshot(api)),
    // Only `recent` is forwarded to the owner of the scaler: any replica can read a history from Prometheus.
    showHistory: showAnyHistory({ history: longHistory, clock, queued, recent: ofScaler(showHistory(api)) }),
    showForecast: ofScaler(showForecast(api)),
    listEvents: ofScaler(listEvents(api)),
    showOverview: showOverview({ api, fleet, ask, clock, queued, paced }),
    showService: showService({ api, facts: service, fleet, ask, clock, queued, paced }),
    streamEvents: api.streams.handle,
    openapi: queued((_request, response) => void response.type('application/json').send(openApi)),
  };
  return { queued, pages };
}

/** Answers 200 and `ok`; if there are problems, answers 503 with a line for each of them. */
function probe(readProblems: () => readonly string[]): RequestHandler {
  return (_request, response) => {
    const problems = readProblems();
    response.status(problems.length === 0 ? 200 : 503).type('text/plain');
    response.send(problems.length === 0 ? 'ok\n' : problems.map((line) => `${line}\n`).join(''));
  };
}

/** Returns an error handler. Express recognizes it by its four parameters, so `next` must stay. */
function failure(onError: AppParts['onError']): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const message = clientErrorOf(error);
    if (message !== null) {
      response.status(400).json({ error: message });
      return;
    }
    onError(error, request.path);
    if (response.headersSent) next(error);
    else response.status(500).json({ error: 'internal error; see the log of promscaler' });
  };
}

/** Returns the message if the client caused the error, by a parameter or a malformed path (`/%zz`); otherwise null. */
function clientErrorOf(error: unknown): string | null {
  if (error instanceof BadRequest) return error.message;
  return error instanceof URIError ? 'the path of the request is malformed' : null;
}
