import type { Clock } from '../units/clock.js';
import { API_SERVER, dataSourceId, type EndedRequest, type Outages } from './outages.js';
import type { QueryReport } from '../units/failure.js';
import type { Instant } from '../units/time.js';

/** An error of a system. `reason` is one of a fixed set; `message` may name workloads and queries. */
export interface LastError {
  readonly at: Instant;
  readonly reason: string;
  readonly message: string;
}

/** The health of a data source. Counts start with the process. Null: not known yet. */
export interface SourceHealth {
  readonly isReachable: boolean | null;
  /** Since when the system has not answered; null: it answers. */
  readonly failingSince: Instant | null;
  readonly lastError: LastError | null;
  readonly queries: number;
  readonly errors: number;
  /** The mean latency in the last round with queries. */
  readonly latencySeconds: number | null;
}

export interface ApiServerHealth extends Omit<SourceHealth, 'queries' | 'latencySeconds'> {
  readonly requests: number;
}

export interface RoundHealth {
  /** The last round in which a cycle has ended. Cycles that are still running are not included. */
  readonly last: {
    readonly at: Instant;
    readonly seconds: number;
    readonly latenessSeconds: number;
    readonly scalers: number;
  } | null;
  readonly missed: number;
}

/** The health of the systems on which the process depends, for the API. */
export interface ServiceHealth {
  readonly startedAt: Instant;
  readonly observeQuery: (query: Omit<QueryReport, 'clockAheadSeconds'>) => void;
  /** `message`: why there was no response. Default: verb, resource and code. */
  readonly observeKubernetesRequest: (request: EndedRequest & { readonly message?: string }) => void;
  readonly startRound: (round: {
    readonly at: Instant;
    readonly latenessSeconds: number;
    readonly missed: number;
  }) => void;
  /** Counts a cycle that has ended. `at` is when its round began. */
  readonly endCycle: (at: Instant) => void;
  readonly sources: () => ReadonlyMap<string, SourceHealth>;
  readonly apiServer: () => ApiServerHealth;
  readonly rounds: () => RoundHealth;
}

/** This process has canceled the request, which shows nothing about the server. */
const CANCELED = 'canceled';
/** Reasons that mean that the server did not answer. */
const UNREACHABLE: ReadonlySet<string> = new Set(['timeout', 'connection']);
/** Status codes of normal operation: the object does not exist anymore, or has changed. */
const EXPECTED_CODES: ReadonlySet<string> = new Set(['404', '409', '410']);

const MAX_ROUNDS = 16;

/** Creates the health of the data sources and the API server. `outages` contains since when they have not answered. */
export function createServiceHealth(
  clock: Clock,
  sources: readonly string[],
  outages: Pick<Outages, 'since'> = { since: () => null },
): ServiceHealth {
  const bySource = new Map(
    sources.map((name) => [name, { tally: createTally(), latency: NO_MEAN, lastLatency: NO_MEAN }]),
  );
  const apiServer = createTally();
  /**
   * The rounds in progress by their start. Scalers with different periods have separate rounds, possibly at the same
   * time.
   */
  const rounds = new Map<Instant, RunningRound>();
  let last: RunningRound | null = null;
  let missed = 0;

  return {
    startedAt: clock.now(),
    observeQuery: ({ source, seconds, failure }) => {
      const known = bySource.get(source);
      if (known === undefined) return;
      known.tally.add(clock.now(), failure);
      known.latency = addTo(known.latency, seconds);
    },
    observeKubernetesRequest: ({ verb, resource, code, message = `${verb} ${resource}: ${code}` }) => {
      const isFine = code.startsWith('2') || EXPECTED_CODES.has(code);
      const failure = { reason: code, message };
      apiServer.add(clock.now(), isFine ? null : failure);
    },
    startRound: (round) => {
      missed += round.missed;
      const startMs = clock.monotonicMs();
      rounds.set(round.at, {
        at: round.at,
        startMs,
        latenessSeconds: round.latenessSeconds,
        scalers: 0,
        endMs: startMs,
      });
      const [oldest] = rounds.keys();
      if (oldest !== undefined && rounds.size > MAX_ROUNDS) rounds.delete(oldest);
      for (const known of bySource.values()) {
        if (known.latency.count > 0) known.lastLatency = known.latency;
        known.latency = NO_MEAN;
      }
    },
    endCycle: (at) => {
      const round = rounds.get(at);
      if (round === undefined) return;
      round.scalers += 1;
      if (last !== null && last.at > at) return;
      round.endMs = clock.monotonicMs();
      last = round;
    },
    sources: () =>
      new Map(
        [...bySource].map(([name, { tally, latency, lastLatency }]) => {
          const { requests: queries, ...rest } = tally.read(outages.since(dataSourceId(name)));
          const { count, sum } = latency.count > 0 ? latency : lastLatency;
          return [name, { ...rest, queries, latencySeconds: count === 0 ? null : sum / count }];
        }),
      ),
    apiServer: () => apiServer.read(outages.since(API_SERVER)),
    rounds: () => ({ last: last === null ? null : viewRound(last), missed }),
  };
}

interface RunningRound {
  readonly at: Instant;
  readonly startMs: number;
  readonly latenessSeconds: number;
  /** The number of cycles that have ended. `endMs`: when the last of them ended. */
  scalers: number;
  endMs: number;
}

function viewRound({ at, startMs, endMs, latenessSeconds, scalers }: RunningRound): RoundHealth['last'] {
  return { at, seconds: (endMs - startMs) / 1000, latenessSeconds, scalers };
}

interface Mean {
  readonly count: number;
  readonly sum: number;
}

const NO_MEAN: Mean = { count: 0, sum: 0 };

function addTo({ count, sum }: Mean, value: number): Mean {
  return { count: count + 1, sum: sum + value };
}

interface Tally {
  readonly add: (at: Instant, failure: Omit<LastError, 'at'> | null) => void;
  readonly read: (failingSince: Instant | null) => ApiServerHealth;
}

function createTally(): Tally {
  let isReachable: boolean | null = null;
  let lastError: LastError | null = null;
  let requests = 0;
  let errors = 0;
  return {
    add: (at, failure) => {
      requests += 1;
      if (failure?.reason === CANCELED) return;
      isReachable = failure === null || !UNREACHABLE.has(failure.reason);
      if (failure === null) return;
      errors += 1;
      lastError = { at, reason: failure.reason, message: failure.message };
    },
    // A server in an outage is reported as unreachable, even if it answers with errors such as a 503.
    read: (failingSince) => ({
      isReachable: failingSince === null ? isReachable : false,
      failingSince,
      lastError,
      requests,
      errors,
    }),
  };
}
