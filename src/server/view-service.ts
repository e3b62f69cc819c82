import { parseJson } from '../units/json-bounds.js';
import type { Request, RequestHandler } from 'express';
import type { Problem } from '../scaler/problems/problem.js';
import type { LastError, ServiceHealth } from '../telemetry/service-health.js';
import { formatInstant, type Instant, instantOrNull, laterOf } from '../units/time.js';
import { type Viewer, visibleProblems, identityOf, viewerOf } from './access/viewer.js';
import type { ScalerPageParts } from './pages/scaler-pages.js';
import { errorsFirst, viewProblems } from './pages/views.js';
import type { ServiceStatus } from '../api/answers.js';
import { periodicYield, type Clock } from '../units/clock.js';
import type { AskPeer, PeerAnswer } from './fleet/ask-peer.js';
import { type Fleet, isForwarded, type Peer } from './fleet/peer-check.js';
import { serviceStatusSchema } from '../api/dashboard-schemas.js';
import { SLICE_MS, type Paced, refusing } from './pacing/paced.js';
import { rescaleDirection, type Outcome } from '../telemetry/cycle-record.js';
import type { LedgerEntry } from '../telemetry/ledger.js';

/** Facts about the service. The functions are called for each request. */
export interface ServiceFacts {
  readonly health: Pick<ServiceHealth, 'startedAt' | 'sources' | 'apiServer' | 'rounds'>;
  readonly identity: string;
  /** Returns the identity of the leader; null: unknown, or there is none. */
  readonly leader: () => string | null;
  /** Returns the URLs of a data source, without credentials. */
  readonly urlsOf: (source: string) => string[];
  /** Returns the shortest sync period of the documents. */
  readonly periodSeconds: () => number;
  /** Returns the line of a problem with a caret below its column; null: the problem has no position. */
  readonly excerptOf: (problem: Problem) => string | null;
}

interface Viewing {
  readonly now: Instant;
  readonly viewer: Viewer;
  /** Awaited between two scalers, to yield to other work. */
  readonly yieldIfDue: () => Promise<void>;
}

/** Returns the state of this replica. Scalers that the viewer may not see do not count. */
export async function viewService(
  { ledger, version, problems }: ScalerPageParts,
  facts: ServiceFacts,
  viewing: Viewing,
): Promise<ServiceStatus> {
  const { now, viewer } = viewing;
  const { health, identity } = facts;
  const { scalers, holds, dependents, conflicts, outcomes } = await surveyScalers(ledger.list(), viewing);
  const viewError = (error: LastError | null): { at: string; message: string } | null =>
    error === null
      ? null
      : { at: formatInstant(error.at), message: viewer.seesAll ? error.message : error.reason };
  const { last, missed } = health.rounds();
  const apiServer = health.apiServer();
  return {
    version,
    at: formatInstant(now),
    startedAt: formatInstant(health.startedAt),
    identity,
    leader: facts.leader(),
    replicas: [{ identity, scalers, isReachable: true }],
    dataSources: [...health.sources()].map(([name, source]) => {
      const hold = holds.get(name) ?? null;
      const holdUntil = instantOrNull(hold);
      const failingSince = instantOrNull(source.failingSince);
      const urls = viewer.seesAll ? facts.urlsOf(name) : [];
      const lastError = viewError(source.lastError);
      return {
        name,
        urls,
        ...source,
        failingSince,
        lastError,
        holdUntil,
        dependents: dependents.get(name) ?? 0,
      };
    }),
    kubernetes: {
      ...apiServer,
      failingSince: instantOrNull(apiServer.failingSince),
      lastError: viewError(apiServer.lastError),
    },
    rounds: {
      periodSeconds: facts.periodSeconds(),
      last:
        last === null
          ? null
          : { ...last, at: formatInstant(last.at), scalers: viewer.seesAll ? last.scalers : null },
      missed,
    },
    problems: viewServiceProblems(visibleProblems(problems(), viewer), facts),
    conflicts,
    lastOutcomes: outcomes.map(({ at, ...rest }) => ({ ...rest, at: formatInstant(at) })),
  };
}

function viewServiceProblems(
  problems: readonly Problem[],
  { excerptOf }: ServiceFacts,
): ServiceStatus['problems'] {
  const sorted = errorsFirst(problems);
  return viewProblems(sorted).map(({ severity, code, message, file, line }, index) => {
    const problem = sorted[index];
    const excerpt = problem === undefined ? null : excerptOf(problem);
    return { severity, code, message, file, line, excerpt };
  });
}

type PeerStatus = Pick<ServiceStatus, 'replicas' | 'conflicts' | 'lastOutcomes' | 'dataSources' | 'rounds'>;

/** Merges the states of this replica and of the other replicas by identity; null: the other replica did not answer. */
export function mergeServices(
  own: ServiceStatus,
  others: ReadonlyMap<string, PeerStatus | null>,
  { isLeading }: { readonly isLeading: boolean },
): ServiceStatus {
  const answers = [...others.values()].filter((answer) => answer !== null);
  // A standby sends no queries and has no rounds, so it shows the data sources and rounds of the first other replica.
  const [leader = null] = isLeading ? [] : others.values();
  const { dataSources, rounds } = leader ?? own;
  const sources = [own, ...answers].flatMap((answer) => answer.dataSources);
  const outcomes = [own, ...answers].flatMap(({ lastOutcomes: last }) => last);
  return {
    ...own,
    dataSources: dataSources.map((source) => ({
      ...source,
      dependents: sources
        .filter(({ name }) => name === source.name)
        .reduce((sum, { dependents }) => sum + (dependents ?? 0), 0),
    })),
    rounds,
    replicas: [
      ...own.replicas,
      ...[...others].map(([identity, answer]) => ({
        identity,
        scalers: answer?.replicas[0]?.scalers ?? null,
        isReachable: answer !== null,
      })),
    ],
    conflicts: [own, ...answers].flatMap(({ conflicts }) => conflicts).slice(0, MOST_CONFLICTS),
    lastOutcomes: outcomes.sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, MOST_OUTCOMES),
  };
}

interface ServicePageParts {
  readonly api: ScalerPageParts;
  readonly facts: ServiceFacts;
  readonly fleet?: Fleet | undefined;
  readonly ask: AskPeer;
  readonly clock: Clock;
  /** Returns a page whose response is sent as background work. */
  readonly queued: (page: RequestHandler) => RequestHandler;
  readonly paced: Paced;
}

/** Maximum size of the answer of another replica. 100 problems and conflicts with long messages fit. */
const MOST_BYTES = 1024 * 1024;

/** Serves the state of the service; with sharding, the state of all replicas. */
export function showService(parts: ServicePageParts): RequestHandler {
  const { api, facts, fleet, ask, clock, queued, paced } = parts;
  const viewOwn = (request: Request): Promise<ServiceStatus> =>
    paced.run(() => {
      const yieldIfDue = periodicYield(clock, SLICE_MS);
      return viewService(api, facts, { now: clock.now(), viewer: viewerOf(request), yieldIfDue });
    });
  const viewAll = async (request: Request, peers: readonly Peer[]): Promise<ServiceStatus> => {
    const answers = peers.map(async (peer) => {
      const answer = await ask(peer, '/api/v1/service', identityOf(request));
      return [peer.identity, readService(answer, viewerOf(request))] as const;
    });
    const own = await viewOwn(request);
    const others = new Map(await Promise.all(answers));
    return mergeServices(own, others, { isLeading: api.isLeading() });
  };
  return (request, response, next) => {
    const peers = isForwarded(request) ? [] : (fleet?.peers() ?? []);
    const viewing = peers.length === 0 ? viewOwn(request) : viewAll(request, peers);
    viewing
      .then((view) => queued(() => void response.json(view))(request, response, next))
      .catch(refusing(response, next));
  };
}

/**
 * Parses the answer of another replica; null: it is invalid. Omits what the viewer may not see, because the other
 * replica may have a defect.
 */
function readService(answer: PeerAnswer | null, viewer: Viewer): ServiceStatus | null {
  if (answer?.status !== 200 || answer.body.length > MOST_BYTES) return null;
  const isVisible = ({ namespace }: { readonly namespace: string }): boolean => viewer.sees(namespace);
  const { data } = serviceStatusSchema.safeParse(parseJson(answer.body.toString('utf8')));
  if (data === undefined) return null;
  const { conflicts, lastOutcomes } = data;
  return { ...data, conflicts: conflicts.filter(isVisible), lastOutcomes: lastOutcomes.filter(isVisible) };
}

/** What all scalers together say about the state of the service. */
interface Survey {
  /** Number of scalers that the viewer sees. */
  readonly scalers: number;
  /** Maps a data source to the latest end of a recovery hold, among the scalers that query it. */
  readonly holds: ReadonlyMap<string, Instant>;
  /** Maps a data source to the number of scalers that have no fallback and query only this source. */
  readonly dependents: ReadonlyMap<string, number>;
  /** At most `MOST_CONFLICTS`. */
  readonly conflicts: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly message: string;
  }[];
  /** The newest changes of replicas, the newest first. */
  readonly outcomes: readonly LastOutcome[];
}

interface LastOutcome {
  readonly namespace: string;
  readonly name: string;
  readonly at: Instant;
  readonly outcome: Outcome;
}

const MOST_OUTCOMES = 20;
const MOST_CONFLICTS = 100;
/** After this many scalers, which take about 50 µs, the survey yields. */
const LOOKED_AT_ONCE = 32;

/** Reads all scalers, one after the other. `yieldIfDue` yields to other work in between. */
async function surveyScalers(
  statuses: Iterable<LedgerEntry>,
  {
    now,
    viewer,
    yieldIfDue,
  }: { readonly now: Instant; readonly viewer: Viewer; readonly yieldIfDue: () => Promise<void> },
): Promise<Survey> {
  const holds = new Map<string, Instant>();
  const dependents = new Map<string, number>();
  const conflicts: Survey['conflicts'][number][] = [];
  const outcomes = createNewest();
  let scalers = 0;
  let seen = 0;
  // Iterates over a copy, because scalers may be added and removed while this loop yields.
  for (const status of [...statuses]) {
    addHold(holds, status, now);
    const { namespace, name } = status.scaler;
    if (viewer.sees(namespace)) {
      scalers += 1;
      const source = onlySourceOf(status);
      if (source !== null) dependents.set(source, (dependents.get(source) ?? 0) + 1);
      const { name: state, cause } = status.state;
      if (state === 'Conflict' && conflicts.length < MOST_CONFLICTS)
        conflicts.push({ namespace, name, message: cause ?? '' });
      outcomes.add(status);
    }
    seen += 1;
    if (seen % LOOKED_AT_ONCE === 0) await yieldIfDue();
  }
  return { scalers, holds, dependents, conflicts, outcomes: outcomes.read() };
}

function addHold(holds: Map<string, Instant>, { scaler, record }: LedgerEntry, now: Instant): void {
  const until = record.decision?.state.holdScaleDownUntil ?? null;
  if (until === null || until <= now) return;
  for (const { source } of scaler.spec.metrics) {
    const latest = laterOf(holds.get(source) ?? null, until);
    if (latest !== null) holds.set(source, latest);
  }
}

/** Returns the data source without which the scaler cannot change its replicas; null: there is no such source. */
function onlySourceOf({ scaler: { spec } }: LedgerEntry): string | null {
  const [first] = spec.metrics;
  if (first === undefined || spec.fallback !== null) return null;
  return spec.metrics.every(({ source }) => source === first.source) ? first.source : null;
}

interface Newest {
  readonly add: (status: LedgerEntry) => void;
  readonly read: () => readonly LastOutcome[];
}

/** Collects the newest outcomes. Keeps up to twice as many as needed, so that it rarely sorts. */
function createNewest(): Newest {
  let found: LastOutcome[] = [];
  let leastAt = -Infinity;
  return {
    add: ({ scaler: { namespace, name }, history }) => {
      for (const { lastAt: at, outcome } of history) {
        if (at < leastAt) break;
        if (rescaleDirection(outcome) === null) continue;
        found.push({ namespace, name, at, outcome });
        if (found.length < 2 * MOST_OUTCOMES) continue;
        found = newest(found);
        leastAt = found.at(-1)?.at ?? leastAt;
      }
    },
    read: () => newest(found),
  };
}

function newest(outcomes: readonly LastOutcome[]): LastOutcome[] {
  return [...outcomes].sort((a, b) => b.at - a.at).slice(0, MOST_OUTCOMES);
}
