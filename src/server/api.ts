import { Router } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import type { Decision } from '../decision/decision.js';
import type { Snapshot } from '../decision/snapshot.js';
import type { Ledger, ScalerStatus } from '../telemetry/ledger.js';
import { viewDecision, viewScaler, viewScalerDetail } from './views.js';

/** What the API reads. The two writers give the JSON forms of snapshot.md. */
export interface ApiParts {
  readonly ledger: Pick<Ledger, 'get' | 'list'>;
  readonly writeSnapshot: (snapshot: Snapshot) => unknown;
  readonly writeDecision: (decision: Decision) => unknown;
}

/** Rows in an answer; 500 scalers are well below 1 MiB. */
const LIST_LIMIT = { standard: 500, most: 500 };
const DECISIONS_LIMIT = { standard: 20, most: 100 };

/** The pages below `/api/v1`. */
export function createApi(parts: ApiParts): Router {
  const api = Router({ caseSensitive: true });
  api.get('/scalers', listScalers(parts));
  api.get(
    '/scalers/:namespace/:name',
    withStatus(parts, (status, _query, response) => {
      const { decision } = status.record;
      response.json(viewScalerDetail(status, decision === null ? null : parts.writeDecision(decision)));
    }),
  );
  api.get(
    '/scalers/:namespace/:name/decisions',
    withStatus(parts, (status, query, response) => {
      const limit = readLimit(query, response, DECISIONS_LIMIT);
      if (limit === null) return;
      const onlyChanges = query['changes'] === 'true';
      const entries = status.history.filter(
        ({ decision }) => !onlyChanges || (decision?.action ?? 'none') !== 'none',
      );
      response.json({ items: entries.slice(0, limit).map(viewDecision) });
    }),
  );
  api.get(
    '/scalers/:namespace/:name/snapshot',
    withStatus(parts, (status, _query, response) => {
      const { snapshot } = status.record;
      if (snapshot === null) response.status(404).json({ error: 'the last cycle could not read its target' });
      else response.json(parts.writeSnapshot(snapshot));
    }),
  );
  return api;
}

/** By key, so that a page goes on behind the last one's even when scalers come and go. */
function listScalers({ ledger }: ApiParts): RequestHandler {
  return (request, response) => {
    const limit = readLimit(request.query, response, LIST_LIMIT);
    if (limit === null) return;
    const { namespace, continue: behind = '' } = request.query;
    const found = [...ledger.list()]
      .filter(({ scaler }) => namespace === undefined || scaler.namespace === namespace)
      .filter(({ key }) => typeof behind !== 'string' || key > behind)
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    const page = found.slice(0, limit);
    response.json({
      items: page.map(viewScaler),
      continue: found.length > page.length ? (page.at(-1)?.key ?? null) : null,
    });
  };
}

interface ScalerPath {
  readonly namespace: string;
  readonly name: string;
}

type Query = Request['query'];

type StatusHandler = (status: ScalerStatus, query: Query, response: Response) => void;

function withStatus({ ledger }: ApiParts, handle: StatusHandler): RequestHandler<ScalerPath> {
  return (request, response) => {
    const { namespace, name } = request.params;
    const status = ledger.get(`${namespace}/${name}`);
    if (status === null)
      response
        .status(404)
        .json({ error: `there is no scaler ${namespace}/${name}, or none of its cycles has ended yet` });
    else handle(status, request.query, response);
  };
}

/** The `limit` that was asked for; where it is no number within its bounds, null, and the answer has been given. */
function readLimit(
  query: Query,
  response: Response,
  { standard, most }: { readonly standard: number; readonly most: number },
): number | null {
  const { limit } = query;
  if (limit === undefined) return standard;
  const number = typeof limit === 'string' && /^\d{1,6}$/.test(limit) ? Number(limit) : 0;
  if (number >= 1 && number <= most) return number;
  response.status(400).json({ error: `limit must be an integer from 1 to ${most}` });
  return null;
}
