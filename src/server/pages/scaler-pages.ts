import { escapeText } from '../../units/clean-text.js';
import type { Request, RequestHandler, Response } from 'express';
import type { LoadAhead } from '../../decision/forecast/propose-forecast.js';
import { type Generations, isUnusedObject } from '../../decision/rejection.js';
import type { Decision, PastDecision } from '../../decision/result/decision.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Problem } from '../../scaler/problems/problem.js';
import type { HistoryEntry } from '../../telemetry/history.js';
import type { LedgerEntry } from '../../telemetry/ledger.js';
import type { Records } from '../../telemetry/records.js';
import { rejectionsOf } from '../../telemetry/rejections.js';
import type { InvalidScaler } from '../../telemetry/scaler-series.js';
import { formatInstant, type Instant } from '../../units/time.js';
import { viewerOf, visibleProblems } from '../access/viewer.js';
import {
  fillPage,
  type Query,
  readFlag,
  readInteger,
  readText,
  readTime,
  readToken,
  writePage,
  writeToken,
} from './query.js';
import type { ScalerDetail } from '../../api/answers.js';
import { LIMITS } from '../../api/routes.js';
import {
  statesSince,
  viewDecision,
  viewForecastLoads,
  viewHistory,
  viewProblems,
  viewRecommendation,
  viewScaler,
  viewScalerDetail,
} from './views.js';

/** What the pages need. `writeSnapshot` and `writeDecision` return JSON as described in snapshot.md. */
export interface ScalerPageParts {
  readonly ledger: Pick<Records['ledger'], 'get' | 'list' | 'rejectedSince'>;
  readonly archive: Pick<Records['archive'], 'read'>;
  readonly chartPoints: Pick<Records['chartPoints'], 'read' | 'recentReplicas'>;
  readonly sentEvents: Pick<Records['sentEvents'], 'read'>;
  readonly writeSnapshot: (snapshot: Snapshot) => unknown;
  readonly writeDecision: (decision: Decision | PastDecision) => unknown;
  readonly version: string;
  readonly isLeading: () => boolean;
  readonly problems: () => readonly Problem[];
  /** The documents without a valid version that this replica would serve. */
  readonly invalid: () => readonly InvalidScaler[];
  readonly generationsOf: (scaler: Scaler) => Generations;
  readonly originOf?: ((key: string) => Origin) | undefined;
  readonly loadAhead?: ((scaler: Scaler) => LoadAhead | null) | undefined;
  /** The label by which the dashboard can group scalers, and its value (null: the document does not have it). */
  readonly grouping?: { readonly label: string; readonly of: (scaler: Scaler) => string | null } | undefined;
  readonly queriesOf?: ((scaler: Scaler) => NonNullable<ScalerDetail['queries']>) | undefined;
  /** URL of the Grafana dashboard of a scaler; null: the service config has none. */
  readonly grafanaUrl?: string | null | undefined;
}

/** Where the document of a scaler is, what its newest version contains, and the command that diagnoses it. */
export interface Origin extends Pick<ScalerDetail, 'file' | 'doctor'> {
  readonly newest: () => Pick<ScalerDetail, 'documentText' | 'rejectedChanges'>;
}

export function listScalers(parts: ScalerPageParts): RequestHandler {
  return (request, response) => sendJson(response, writeScalerPage(parts, request));
}

/**
 * Returns a page of the list. The page starts after the key in `continue`, so that scalers may be added and removed
 * between two pages.
 */
export function writeScalerPage(
  { ledger, version, isLeading, problems, generationsOf }: ScalerPageParts,
  request: Request,
): string {
  const { query } = request;
  const viewer = viewerOf(request);
  const limit = readInteger(query, 'limit', LIMITS.scalers);
  const namespace = readText(query, 'namespace');
  const behind = readToken(query, 'scalers') ?? '';
  const found = [...ledger.list()]
    .filter(({ scaler }) => namespace === null || scaler.namespace === namespace)
    .filter(({ scaler }) => viewer.sees(scaler.namespace))
    .filter(({ key }) => key > behind)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const view = (status: LedgerEntry): unknown => {
    const generations = generationsOf(status.scaler);
    return {
      ...viewScaler(status),
      ...viewRecommendation(status, generations.generation !== null),
      ...generations,
    };
  };
  const page = fillPage(found, { limit, view });
  const next = page.moreBehind;
  return writePage(page, {
    version,
    leader: isLeading(),
    problems: viewProblems(visibleProblems(problems(), viewer), ledger.rejectedSince),
    continue: next === null ? null : writeToken({ list: 'scalers', behind: next.key }),
  });
}

export function showScaler(parts: ScalerPageParts): RequestHandler {
  return withStatus(parts, (status, _query, response) => {
    const { scaler, record, key } = status;
    const rejections = parts
      .problems()
      .filter((problem) => problem.scaler === key && problem.severity === 'error');
    const generations = parts.generationsOf(scaler);
    const origin = parts.originOf?.(key);
    const view = viewScalerDetail(status, writeOrNull(parts, record.decision));
    response.json({
      ...view,
      otherScaler: withOrigin(parts, view.otherScaler),
      ...viewRecommendation(status, generations.generation !== null),
      ...generations,
      file: origin?.file,
      doctor: origin?.doctor,
      ...origin?.newest(),
      queries: parts.queriesOf?.(scaler),
      grafanaUrl: parts.grafanaUrl == null ? undefined : grafanaLink(parts.grafanaUrl, scaler),
      rejections: viewProblems(rejections, parts.ledger.rejectedSince),
    });
  });
}

/** Adds the file of the other scaler's document, because a user needs the file to delete the document. */
function withOrigin(
  { originOf, problems }: ScalerPageParts,
  other: ScalerDetail['otherScaler'],
): ScalerDetail['otherScaler'] {
  if (other === null || originOf === undefined) return other;
  const { scaler } = other;
  if (scaler !== undefined)
    return { ...other, scaler: { ...scaler, file: originOf(`${scaler.namespace}/${scaler.name}`).file } };
  if (other.kind !== 'Scaler') return other;
  const key = `${other.namespace}/${other.name}`;
  const isAlsoObject = problems().some((problem) => problem.scaler === key && isUnusedObject(problem));
  return { ...other, file: originOf(key).file, isAlsoObject };
}

/** Returns the URL of a Grafana dashboard with this scaler selected. */
function grafanaLink(url: string, { namespace, name }: Scaler): string {
  const link = new URL(url);
  link.searchParams.set('var-namespace', namespace);
  link.searchParams.set('var-scaler', name);
  return link.href;
}

/** Lists decisions, the newest first. With `at`, starts with the decision that was in effect at that time. */
export function listDecisions(parts: ScalerPageParts): RequestHandler {
  return withStatus(parts, (status, query, response) => {
    const limit = readInteger(query, 'limit', LIMITS.decisions);
    const onlyChanges = readFlag(query, 'changes');
    const at = readTime(query, 'at');
    const behind = readToken(query, 'decisions');
    const { history } = status;
    const since = statesSince(history, status);
    const entries = entriesBehind(entriesAt(history, at), behind).filter(
      ({ decision }) => !onlyChanges || (decision?.action ?? 'none') !== 'none',
    );
    const view = (entry: HistoryEntry): unknown =>
      viewDecision(entry, since.get(entry) ?? entry.firstAt, writeOrNull(parts, entry.decision));
    const page = fillPage(entries, { limit, view });
    const next = page.moreBehind;
    sendJson(
      response,
      writePage(page, {
        continue: next === null ? null : writeToken({ list: 'decisions', behind: `${next.firstAt}` }),
        keptFrom: keptFrom(status),
      }),
    );
  });
}

function writeOrNull({ writeDecision }: ScalerPageParts, decision: Decision | PastDecision | null): unknown {
  return decision === null ? null : writeDecision(decision);
}

/** Serves a snapshot. The last snapshot is in the ledger, older snapshots are in the archive. */
export function showSnapshot(parts: ScalerPageParts): RequestHandler {
  return withStatus(parts, (status, query, response) => {
    const found = findSnapshot(parts, status, readTime(query, 'at'));
    if ('missing' in found) notFound(response, found.missing);
    // Sent unchanged, because deciding on it again must give the recorded decision.
    else response.type('application/json').send(escapeText(JSON.stringify(found.json)));
  });
}

/** Returns the snapshot of the decision that was in effect at `at` (null: now) as JSON, or why there is none. */
function findSnapshot(
  parts: ScalerPageParts,
  status: LedgerEntry,
  at: Instant | null,
): { readonly json: unknown } | { readonly missing: string } {
  const { key, history, record } = status;
  const [entry] = entriesAt(history, at);
  if (entry === undefined) return { missing: `decisions of ${key} are retained since ${keptFrom(status)}` };
  if (entry === history[0]) {
    return record.snapshot === null
      ? { missing: 'the last cycle could not read the target' }
      : { json: parts.writeSnapshot(record.snapshot) };
  }
  const when = formatInstant(entry.lastAt);
  if (entry.decision === null) return { missing: `the cycle at ${when} could not read the target` };
  const json = parts.archive.read(key, entry.lastAt);
  return json === null
    ? { missing: `the snapshot of ${when} is no longer kept${keptOn(parts, status)}` }
    : { json };
}

/** Lists the Kubernetes Events that this process has written about the target. */
export function listEvents(parts: ScalerPageParts): RequestHandler {
  return withStatus(parts, ({ key }, _query, response) => {
    const items = parts.sentEvents.read(key).map((event) => ({ ...event, at: formatInstant(event.at) }));
    response.json({ items });
  });
}

export function showHistory(parts: ScalerPageParts): RequestHandler {
  return withStatus(parts, ({ key }, query, response) => {
    const since = readTime(query, 'since');
    const limit = readInteger(query, 'limit', LIMITS.points);
    const stepSeconds = readInteger(query, 'step', LIMITS.step);
    const history = parts.chartPoints.read(key, { since, limit, stepSeconds });
    if (history === null) notFound(response, `there is no data about ${key} yet`);
    else response.json(viewHistory(history, stepSeconds));
  });
}

/** Serves the load of the last day with its forecasts, and the forecast for the next hour. */
export function showForecast(parts: ScalerPageParts): RequestHandler {
  return withStatus(parts, (status, query, response) => {
    const { key, scaler } = status;
    const since = readTime(query, 'since');
    const limit = LIMITS.points.most;
    const points =
      scaler.spec.forecast === null ? null : parts.chartPoints.read(key, { since, limit, stepSeconds: null });
    if (points === null) notFound(response, `the document of ${key} has no forecast`);
    else response.json(viewForecastLoads(status, points, parts.loadAhead?.(scaler) ?? null));
  });
}

type StatusHandler = (status: LedgerEntry, query: Query, response: Response) => void;

function withStatus({ ledger, problems }: ScalerPageParts, handle: StatusHandler): RequestHandler {
  return (request, response) => {
    const { params, query } = request;
    const namespace = String(params['namespace']);
    const key = `${namespace}/${String(params['name'])}`;
    // A scaler that the client may not see gets the same answer as a missing one, so that its existence is not
    // revealed.
    const isVisible = viewerOf(request).sees(namespace);
    const status = isVisible ? ledger.get(key) : null;
    if (status !== null) {
      handle(status, query, response);
      return;
    }
    const rejection = isVisible ? rejectionsOf(problems()).get(key) : undefined;
    notFound(
      response,
      rejection === undefined
        ? `scaler ${key} does not exist, or its first cycle has not ended yet`
        : `the document of scaler ${key} is rejected, and no valid version is in effect: ${rejection.cause}`,
    );
  };
}

/** Returns the newest entry that started at or before `at`, and all older entries; null: returns all entries. */
function entriesAt(history: readonly HistoryEntry[], at: Instant | null): readonly HistoryEntry[] {
  if (at === null) return history;
  const index = history.findIndex(({ firstAt }) => firstAt <= at);
  return index === -1 ? [] : history.slice(index);
}

/**
 * Returns the entries that are older than the entry with the start `behind`, even if that entry was dropped in the
 * meantime.
 */
function entriesBehind(entries: readonly HistoryEntry[], behind: string | null): readonly HistoryEntry[] {
  if (behind === null) return entries;
  const index = entries.findIndex(({ firstAt }) => `${firstAt}` === behind);
  return index === -1 ? entries.filter(({ firstAt }) => firstAt < Number(behind)) : entries.slice(index + 1);
}

function keptFrom({ history, record }: LedgerEntry): string {
  return formatInstant(history.at(-1)?.firstAt ?? record.at);
}

/**
 * Returns the end of a sentence, which says since when snapshots are kept. Snapshots are dropped earlier than
 * decisions.
 */
function keptOn({ archive }: ScalerPageParts, { key, history }: LedgerEntry): string {
  const oldest = history.findLast(({ lastAt }) => archive.read(key, lastAt) !== null);
  return oldest === undefined
    ? '; only the last snapshot is kept'
    : `; snapshots are kept from ${formatInstant(oldest.firstAt)} on`;
}

function notFound(response: Response, error: string): void {
  response.status(404).json({ error });
}

function sendJson(response: Response, json: string): void {
  response.type('application/json').send(json);
}
