import type { Clock } from '../units/clock.js';
import type { Facts, Log } from '../units/log.js';
import { formatInstant, type Instant, secondsBetween } from '../units/time.js';
import { isServerFailure, type QueryReport } from '../units/failure.js';

/** A system on which many scalers depend: a data source, or the API server. */
interface SharedSystem {
  /** A unique ID, such as `data source default`. */
  readonly id: string;
  /** The kind in log lines: `data source` or `API server`. */
  readonly kind: string;
  /** Fields of log lines: name and URLs, without credentials. */
  readonly facts: Facts;
}

/** A request to the API server that has ended. */
export interface EndedRequest {
  readonly verb: string;
  readonly resource: string;
  /** The HTTP status. If there is no response, the kind of failure, such as `timeout`. */
  readonly code: string;
}

/**
 * Attributes failures of scalers to the systems on which they depend. An outage of a system is logged once when it
 * begins and once when it ends, instead of twice for each scaler. The first failed request, or the first failure of a
 * scaler (`attribute`), opens a window of 2 s. If the system answers no request in the window, it has failed: one line
 * names it, and the failures of scalers are attributed to it. Otherwise each scaler has its own line.
 */
export interface Outages {
  readonly observeQuery: (query: Omit<QueryReport, 'clockAheadSeconds'>) => void;
  readonly observeRequest: (request: EndedRequest & { readonly seconds: number }) => void;
  readonly startRound: () => void;
  /** Returns since when the system has not answered; null: it answers, or no request was sent yet. */
  readonly since: (system: string) => Instant | null;
  /**
   * Calls `write` when it is known whether only this scaler fails (`isOwn`): immediately if no system may be the cause,
   * otherwise within 2 s.
   */
  readonly attribute: (failure: ScalerFailure, write: (isOwn: boolean) => void) => void;
  /** Returns whether a failure was attributed to a system, and removes the attribution. */
  readonly takeAttributed: (scaler: string, subject: string) => boolean;
  readonly isAttributed: (scaler: string, subject: string) => boolean;
  readonly forget: (scaler: string) => void;
  /** Attributes all failures that still wait, without waiting for more results. */
  readonly stop: () => void;
}

interface ScalerFailure {
  readonly scaler: string;
  /** The metric or the condition that fails. */
  readonly subject: string;
  /** The systems that may be the cause. The failure is attributed to them only if all of them fail. */
  readonly systems: readonly string[];
}

/** How long a failure waits for the results of other requests. Requests of the same round are answered by then. */
const DECIDED_AFTER_MS = 2000;
/** If more scalers than this fail at once while the system answers other requests, one log line reports all of them. */
const MOST_OWN_LINES = 20;

interface Waiting {
  readonly failure: ScalerFailure;
  readonly write: (isOwn: boolean) => void;
}

interface SystemState {
  readonly system: SharedSystem;
  answeredAtMs: number;
  awaySince: Instant | null;
  /** The failures whose cause is not known yet; null: there are none. */
  window: {
    readonly since: Instant;
    readonly cancel: () => void;
    readonly waiting: Waiting[];
    isAnswered: boolean;
    error: string | null;
  } | null;
}

/** Creates the outages of the data sources and of the API server, which are detected by the results of requests. */
export function createOutages(
  sources: ReadonlyMap<string, { readonly urls: readonly string[] }>,
  clock: Clock,
  log: Log,
): Outages {
  const systems: readonly SharedSystem[] = [
    { id: API_SERVER, kind: API_SERVER, facts: {} },
    ...[...sources].map(([source, { urls }]) => ({
      id: dataSourceId(source),
      kind: 'data source',
      facts: { source, urls },
    })),
  ];
  const states = new Map<string, SystemState>(
    systems.map((system) => [
      system.id,
      { system, answeredAtMs: Number.NEGATIVE_INFINITY, awaySince: null, window: null },
    ]),
  );
  /** The system to which each failure was attributed, by scaler and subject. */
  const attributed = new Map<string, Map<string, string>>();
  let roundStartMs = Number.POSITIVE_INFINITY;

  const keep = ({ scaler, subject }: ScalerFailure, system: string): void => {
    const subjects = attributed.get(scaler) ?? new Map<string, string>();
    attributed.set(scaler, subjects.set(subject, system));
  };

  const attribute: Outages['attribute'] = (failure, write) => {
    const shared = failure.systems.map((id) => states.get(id));
    const undecided = shared.find((state) => state !== undefined && state.awaySince === null);
    if (undecided !== undefined) windowOf(undecided, null).waiting.push({ failure, write });
    else if (shared.length === 0 || shared.includes(undefined)) write(true);
    else {
      keep(failure, failure.systems[0] ?? '');
      write(false);
    }
  };

  const windowOf = (state: SystemState, sentAtMs: number | null): NonNullable<SystemState['window']> =>
    (state.window ??= {
      since: clock.now(),
      cancel: clock.after(DECIDED_AFTER_MS, () => closeWindow(state)),
      waiting: [],
      isAnswered: state.answeredAtMs >= Math.min(roundStartMs, sentAtMs ?? Number.POSITIVE_INFINITY),
      error: null,
    });

  const closeWindow = (state: SystemState): void => {
    if (state.window === null) return;
    const { system } = state;
    const { since, cancel, waiting, isAnswered, error } = state.window;
    cancel();
    state.window = null;
    if (error !== null && !isAnswered) {
      state.awaySince = since;
      log.warn(`${system.kind} failed`, { ...system.facts, error });
      for (const { failure, write } of waiting) attribute(failure, write);
      return;
    }
    const scalers = new Set(waiting.map(({ failure }) => failure.scaler));
    const isShared = scalers.size > MOST_OWN_LINES;
    if (isShared) {
      const facts = { ...system.facts, scalers: scalers.size, ...(error === null ? {} : { error }) };
      log.warn(`${system.kind} answers only some of the requests`, facts);
    }
    for (const { failure, write } of waiting) {
      if (isShared) keep(failure, system.id);
      write(!isShared);
    }
  };

  const answered = (state: SystemState): void => {
    state.answeredAtMs = clock.monotonicMs();
    if (state.window !== null) state.window.isAnswered = true;
    if (state.awaySince === null) return;
    const { system, awaySince } = state;
    state.awaySince = null;
    log.info(`${system.kind} answers again`, {
      ...system.facts,
      since: formatInstant(awaySince),
      seconds: Math.round(secondsBetween(awaySince, clock.now())),
      scalers: countScalers(system.id),
    });
  };

  const countScalers = (system: string): number => {
    let count = 0;
    for (const subjects of attributed.values()) if ([...subjects.values()].includes(system)) count += 1;
    return count;
  };

  /** `failure`: why the system did not answer; null: it has answered, possibly with an error. */
  const observe = (id: string, { seconds }: { readonly seconds: number }, failure: string | null): void => {
    const state = states.get(id);
    if (state === undefined) return;
    if (failure === null) answered(state);
    else if (state.awaySince === null) {
      const window = windowOf(state, clock.monotonicMs() - seconds * 1000);
      window.error ??= failure;
    }
  };

  return {
    // A server that rejects a query has answered. A canceled query shows nothing.
    observeQuery: (query) => {
      const { source, failure } = query;
      if (failure?.reason === 'canceled') return;
      const isAway = failure !== null && isServerFailure(failure.reason);
      observe(dataSourceId(source), query, isAway ? failure.message : null);
    },
    // A server that sends a 4xx has answered. Only 429 is a failure.
    observeRequest: (request) => {
      const { verb, resource, code } = request;
      if (code === 'canceled') return;
      const isFailure = code === '429' || code.startsWith('5') || !/^\d/.test(code);
      observe(API_SERVER, request, isFailure ? `${verb} ${resource}: ${code}` : null);
    },
    startRound: () => {
      roundStartMs = clock.monotonicMs();
    },
    since: (system) => states.get(system)?.awaySince ?? null,
    attribute,
    isAttributed: (scaler, subject) => attributed.get(scaler)?.has(subject) ?? false,
    takeAttributed: (scaler, subject) => {
      const subjects = attributed.get(scaler);
      const wasAttributed = subjects?.delete(subject) ?? false;
      if (subjects?.size === 0) attributed.delete(scaler);
      return wasAttributed;
    },
    forget: (scaler) => void attributed.delete(scaler),
    stop: () => {
      for (const state of states.values()) {
        closeWindow(state);
        state.awaySince = null;
      }
    },
  };
}

/** The ID of the API server in `SharedSystem`. */
export const API_SERVER = 'API server';

export function dataSourceId(name: string): string {
  return `data source ${name}`;
}

export interface ClockWarnings {
  /** Logs that the wall clock of this host was set by `seconds`; positive: forward. */
  readonly wallClockSet: (seconds: number) => void;
  /** Logs that the clock of a data source is ahead of the clock of this host by `seconds`; negative: behind. */
  readonly sourceClockAhead: (source: string, seconds: number) => void;
}

/**
 * A larger difference of clocks is logged. The delay of a response is smaller. If the difference exceeds 120 s, samples
 * are partial and prevent scale-down (prometheus/samples.ts).
 */
const WARN_SECONDS = 30;

/**
 * Returns warnings that are logged once when the clock of a data source begins to differ, and once when it no longer
 * differs.
 */
export function createClockWarnings(log: Log): ClockWarnings {
  const differing = new Set<string>();
  return {
    wallClockSet: (seconds) =>
      log.warn('wall clock was changed; windows keep their remaining time', { seconds: Math.round(seconds) }),
    sourceClockAhead: (source, seconds) => {
      const differs = Math.abs(seconds) > WARN_SECONDS;
      if (differs === differing.has(source)) return;
      if (!differs) {
        differing.delete(source);
        log.info('clock of data source is in sync again', { source });
        return;
      }
      differing.add(source);
      log.warn('clock of data source differs; a difference of more than 120 s prevents scale-down', {
        source,
        aheadSeconds: Math.round(seconds),
      });
    },
  };
}
