import type { Problem } from '../../scaler/problems/problem.js';
import type { LastError, ServiceHealth } from '../../telemetry/service-health.js';
import { formatInstant } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { Viewer } from '../access/viewer.js';
import type { ScalerPageParts } from '../pages/scaler-pages.js';
import { viewProblems } from '../pages/views.js';
import { visibleProblems } from '../pages/visible-problems.js';
import type { ServiceStatus } from '../../api/answers.js';
import { MOST_CONFLICTS, MOST_OUTCOMES, surveyScalers } from './survey-scalers.js';

/** The functions are called for each request. */
export interface ServiceFacts {
  readonly health: Pick<ServiceHealth, 'startedAt' | 'sources' | 'apiServer' | 'rounds'>;
  readonly identity: string;
  /** Null: unknown or none. */
  readonly leader: () => string | null;
  /** URLs of a data source without credentials. */
  readonly urlsOf: (source: string) => string[];
  /** The shortest period of the documents. */
  readonly periodSeconds: () => number;
  /** Returns the source line of a problem with a caret below; null: it has no position. */
  readonly excerptOf: (problem: Problem) => string | null;
}

interface Viewing {
  readonly now: Instant;
  readonly viewer: Viewer;
  /** Awaited between scalers to yield to other work. */
  readonly takeTurn: () => Promise<void>;
}

/** Returns the state of this replica. Scalers that the viewer may not see are not counted. */
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
      const holdUntil = viewInstant(hold);
      const failingSince = viewInstant(source.failingSince);
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
      failingSince: viewInstant(apiServer.failingSince),
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
  const sorted = [...problems].sort(
    (a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'),
  );
  return viewProblems(sorted).map(({ severity, code, message, file, line }, index) => {
    const problem = sorted[index];
    const excerpt = problem === undefined ? null : excerptOf(problem);
    return { severity, code, message, file, line, excerpt };
  });
}

type PeerStatus = Pick<ServiceStatus, 'replicas' | 'conflicts' | 'lastOutcomes' | 'dataSources' | 'rounds'>;

/** Merges the states of other replicas; null: the replica did not answer. */
export function mergeServices(
  own: ServiceStatus,
  others: ReadonlyMap<string, PeerStatus | null>,
  { isLeading }: { readonly isLeading: boolean },
): ServiceStatus {
  const answers = [...others.values()].filter((answer) => answer !== null);
  // A standby has no queries and no rounds.
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

function viewInstant(instant: Instant | null): string | null {
  return instant === null ? null : formatInstant(instant);
}
