import type { Clock } from '../units/clock.js';
import type { Facts, Log } from '../units/log.js';
import { formatInstant, type Instant, secondsBetween } from '../units/time.js';

/** A system that many scalers share: a data source, or the API server. */
export interface SharedSystem {
  /** Unique, for example `data source default`. */
  readonly id: string;
  /** `data source` or `API server`. */
  readonly kind: string;
  /** Name and urls, without credentials. */
  readonly facts: Facts;
}

/**
 * Attributes failures of scalers to the systems that they share. An outage of a system is one log line when it begins
 * and one when it ends, instead of two lines per scaler.
 */
export interface Outages {
  /**
   * Reports the result of a request. `failure`: why the system did not answer; null: it answered, even if with an error
   * about the request.
   */
  readonly observe: (request: {
    readonly system: string;
    readonly seconds: number;
    readonly failure: string | null;
  }) => void;
  readonly startRound: () => void;
  /** Returns when the system stopped answering; null: the system answers, or no request was sent yet. */
  readonly since: (system: string) => Instant | null;
  /**
   * Calls `write` once it is known whether only the scaler failed: immediately without systems, otherwise within 2 s.
   */
  readonly attribute: (failure: ScalerFailure, write: (isOwn: boolean) => void) => void;
  /** Returns whether the failure was attributed to a system, and forgets the attribution. */
  readonly takeAttributed: (scaler: string, subject: string) => boolean;
  readonly isAttributed: (scaler: string, subject: string) => boolean;
  readonly forget: (scaler: string) => void;
  /** Decides all waiting failures. */
  readonly stop: () => void;
}

interface ScalerFailure {
  readonly scaler: string;
  /** A metric or a condition. */
  readonly subject: string;
  /** The failure is attributed to the systems only if all of them fail. */
  readonly systems: readonly string[];
}

/** By then, other requests of the same round were answered. */
const DECIDED_AFTER_MS = 2000;
/** If more scalers fail at once while the system answers other requests, their failures are one line. */
const MOST_OWN_LINES = 20;

interface Waiting {
  readonly failure: ScalerFailure;
  readonly write: (isOwn: boolean) => void;
}

interface SystemState {
  readonly system: SharedSystem;
  answeredAtMs: number;
  awaySince: Instant | null;
  /** Set from the first failure until its cause is known. */
  open: {
    readonly since: Instant;
    readonly cancel: () => void;
    readonly waiting: Waiting[];
    isAnswered: boolean;
    error: string | null;
  } | null;
}

export function createOutages(systems: readonly SharedSystem[], clock: Clock, log: Log): Outages {
  const states = new Map<string, SystemState>(
    systems.map((system) => [
      system.id,
      { system, answeredAtMs: Number.NEGATIVE_INFINITY, awaySince: null, open: null },
    ]),
  );
  /** Maps a scaler to a map from subject to system. */
  const attributed = new Map<string, Map<string, string>>();
  let roundStartMs = Number.POSITIVE_INFINITY;

  const keep = ({ scaler, subject }: ScalerFailure, system: string): void => {
    const subjects = attributed.get(scaler) ?? new Map<string, string>();
    attributed.set(scaler, subjects.set(subject, system));
  };

  const attribute: Outages['attribute'] = (failure, write) => {
    const shared = failure.systems.map((id) => states.get(id));
    const undecided = shared.find((state) => state !== undefined && state.awaySince === null);
    if (undecided !== undefined) open(undecided, null).waiting.push({ failure, write });
    else if (shared.length === 0 || shared.includes(undefined)) write(true);
    else {
      keep(failure, failure.systems[0] ?? '');
      write(false);
    }
  };

  const open = (state: SystemState, sentAtMs: number | null): NonNullable<SystemState['open']> =>
    (state.open ??= {
      since: clock.now(),
      cancel: clock.after(DECIDED_AFTER_MS, () => decide(state)),
      waiting: [],
      isAnswered: state.answeredAtMs >= Math.min(roundStartMs, sentAtMs ?? Number.POSITIVE_INFINITY),
      error: null,
    });

  const decide = (state: SystemState): void => {
    if (state.open === null) return;
    const { system } = state;
    const { since, cancel, waiting, isAnswered, error } = state.open;
    cancel();
    state.open = null;
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
      log.warn(`${system.kind} answers only some requests`, facts);
    }
    for (const { failure, write } of waiting) {
      if (isShared) keep(failure, system.id);
      write(!isShared);
    }
  };

  const answered = (state: SystemState): void => {
    state.answeredAtMs = clock.monotonicMs();
    if (state.open !== null) state.open.isAnswered = true;
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

  return {
    observe: ({ system, seconds, failure }) => {
      const state = states.get(system);
      if (state === undefined) return;
      if (failure === null) answered(state);
      else if (state.awaySince === null) {
        const window = open(state, clock.monotonicMs() - seconds * 1000);
        window.error ??= failure;
      }
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
        decide(state);
        state.awaySince = null;
      }
    },
  };
}

/** The id of the API server in `SharedSystem`. */
export const API_SERVER = 'API server';

export function dataSourceId(name: string): string {
  return `data source ${name}`;
}

/** Attributes each failure to its scaler. */
export const NO_OUTAGES: Pick<Outages, 'attribute' | 'isAttributed' | 'takeAttributed' | 'forget'> = {
  attribute: (_failure, write) => write(true),
  isAttributed: () => false,
  takeAttributed: () => false,
  forget: () => undefined,
};
