import express from 'express';
import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import { createApi } from './api.js';
import type { ApiParts } from './api.js';
import { refuseOddRequests, setSafeHeaders } from './hardening.js';

/** What the pages read. Functions that are asked at each request; none of them may block. */
export interface AppParts {
  /** What keeps the process from doing its work, one sentence each; none: alive. */
  readonly ailments: () => readonly string[];
  /** What the service still waits for before it is ready, one sentence each; none: ready. */
  readonly waitingFor: () => readonly string[];
  readonly metrics: { readonly contentType: string; readonly render: () => Promise<string> };
  readonly api: ApiParts;
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
  app.get('/healthz', probe(parts.ailments));
  app.get('/readyz', probe(parts.waitingFor));
  app.get('/metrics', async (_request, response) => {
    const text = await parts.metrics.render();
    response.set('Content-Type', parts.metrics.contentType).send(text);
  });
  app.use('/api/v1', createApi(parts.api));
  app.use((_request, response) => void response.status(404).json({ error: NO_PAGE }));
  app.use(failure(parts.onError));
  return app;
}

const NO_PAGE = 'there is no such page; there are /healthz, /readyz, /metrics and /api/v1/scalers';

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
    if (isClientFault(error)) {
      response.status(400).json({ error: 'the request cannot be read' });
      return;
    }
    onError(error, request.path);
    if (response.headersSent) next(error);
    else response.status(500).json({ error: 'the page failed; the log says why' });
  };
}

/** What express itself throws over a malformed path, such as `/%zz`. */
function isClientFault(error: unknown): boolean {
  return error instanceof URIError;
}
