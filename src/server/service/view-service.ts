import type { Problem } from '../../scaler/problems/problem.js';
import { rescaleDirection } from '../../telemetry/cycle-record.js';
import type { Outcome } from '../../telemetry/cycle-record.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';
import type { LastError, ServiceHealth } from '../../telemetry/service-health.js';
import { formatInstant, laterOf } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { Viewer } from '../access/viewer.js';
import { conflict } from '../overview/scaler-states.js';
import type { ScalerPageParts } from '../pages/scaler-pages.js';
import { viewProblems } from '../pages/views.js';
import { visibleProblems } from '../pages/visible-problems.js';
import type { Answer } from '../schemas/answer-schemas.js';
import type { serviceStatusSchema } from '../schemas/dashboard-schemas.js';

export type ServiceView = Answer<typeof serviceStatusSchema>;

/** Functions are called for each request. */
export interface ServiceFacts {
  readonly health: Pick<ServiceHealth, 'startedAt' | 'sources' | 'apiServer' | 'rounds'>;
  readonly identity: string;
  /** Null: unknown or none. */
  readonly leader: () => string | null;
  /** The shortest period of the documents. */
  readonly periodSeconds: () => number;
  /** Returns the source line of a problem with a caret below; null: it has no position. */
  readonly excerptOf: (problem: Problem) => string | null;
}

const MOST_OUTCOMES = 20;
const MOST_CONFLICTS = 100;

/** Returns what this replica knows. Of namespaces that the viewer does not see, it only has counts. */
export function viewService(
  { ledger, version, problems }: ScalerPageParts,
  facts: ServiceFacts,
  { now, viewer }: { readonly now: Instant; readonly viewer: Viewer },
): ServiceView {
  const { health, identity } = facts;
  const statuses = [...ledger.list()];
  const visible = statuses.filter(({ scaler }) => viewer.sees(scaler.namespace));
  const holds = holdsBySource(statuses, now);
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
    replicas: [{ identity, scalers: statuses.length, isReachable: true }],
    dataSources: [...health.sources()].map(([name, source]) => {
      const hold = holds.get(name) ?? null;
      const holdUntil = hold === null ? null : formatInstant(hold);
      return { name, ...source, lastError: viewError(source.lastError), holdUntil };
    }),
    kubernetes: { ...apiServer, lastError: viewError(apiServer.lastError) },
    rounds: {
      periodSeconds: facts.periodSeconds(),
      last: last === null ? null : { ...last, at: formatInstant(last.at) },
      missed,
    },
    problems: viewServiceProblems(visibleProblems(problems(), viewer), facts),
    conflicts: visible
      .flatMap((status) => {
        const message = conflict(status);
        const { namespace, name } = status.scaler;
        return message === null ? [] : [{ namespace, name, message }];
      })
      .slice(0, MOST_CONFLICTS),
    lastOutcomes: lastOutcomes(visible).map(({ at, ...rest }) => ({ ...rest, at: formatInstant(at) })),
  };
}

function viewServiceProblems(
  problems: readonly Problem[],
  { excerptOf }: ServiceFacts,
): ServiceView['problems'] {
  const sorted = [...problems].sort(
    (a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'),
  );
  return viewProblems(sorted).map(({ severity, code, message, file, line }, index) => {
    const problem = sorted[index];
    const excerpt = problem === undefined ? null : excerptOf(problem);
    return { severity, code, message, file, line, excerpt };
  });
}

/** Returns the latest end of a hold after an outage, of the scalers that query a source. */
function holdsBySource(statuses: readonly ScalerStatus[], now: Instant): ReadonlyMap<string, Instant> {
  const holds = new Map<string, Instant>();
  for (const { scaler, record } of statuses) {
    const until = record.decision?.state.holdScaleDownUntil ?? null;
    if (until === null || until <= now) continue;
    for (const { source } of scaler.spec.metrics) {
      const latest = laterOf(holds.get(source) ?? null, until);
      if (latest !== null) holds.set(source, latest);
    }
  }
  return holds;
}

interface LastOutcome {
  readonly namespace: string;
  readonly name: string;
  readonly at: Instant;
  readonly outcome: Outcome;
}

/** Returns the newest changes of replicas of all scalers. */
function lastOutcomes(statuses: readonly ScalerStatus[]): readonly LastOutcome[] {
  let found: LastOutcome[] = [];
  let leastAt = -Infinity;
  for (const { scaler, history } of statuses) {
    for (const { lastAt: at, outcome } of history) {
      if (at < leastAt) break;
      if (rescaleDirection(outcome) === null) continue;
      found.push({ namespace: scaler.namespace, name: scaler.name, at, outcome });
      if (found.length < 2 * MOST_OUTCOMES) continue;
      found = newest(found);
      leastAt = found.at(-1)?.at ?? leastAt;
    }
  }
  return newest(found);
}

function newest(outcomes: readonly LastOutcome[]): LastOutcome[] {
  return [...outcomes].sort((a, b) => b.at - a.at).slice(0, MOST_OUTCOMES);
}

/** Adds what other replicas know of their scalers; null: the replica did not answer. */
export function mergeServices(
  own: ServiceView,
  others: ReadonlyMap<string, Pick<ServiceView, 'replicas' | 'conflicts' | 'lastOutcomes'> | null>,
): ServiceView {
  const answers = [...others.values()].filter((answer) => answer !== null);
  const outcomes = [own, ...answers].flatMap(({ lastOutcomes: last }) => last);
  return {
    ...own,
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
