import type { Answer } from '../../prometheus/answers/answer.js';
import type { RoundAnswers } from '../../prometheus/metric-source.js';
import type { SourceAge } from '../../prometheus/source/age.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import { addServers, type AnsweringServers, readAges } from './readings.js';
import type { Readings } from '../cycle/types.js';
import { createAdmission } from './admission.js';

/** A due cycle. */
interface Waiting {
  readonly scaler: Scaler;
  readonly answers: RoundAnswers;
  /** Monotonic time at which it began to wait. */
  readonly sinceMs: number;
}

interface Arrived<C> {
  readonly cycle: C;
  readonly results: readonly Answer[];
}

/** Cycles whose answers arrived at the same time. */
interface Group<C> {
  readonly answers: RoundAnswers;
  readonly servers: AnsweringServers;
  readonly arrived: Arrived<C>[];
}

/** Cycles of a round whose queries are being sent. */
interface Held<C> {
  readonly answers: RoundAnswers;
  readonly cycles: C[];
}

interface Ready<C> extends Arrived<C> {
  readonly ages: ReadonlyMap<string, SourceAge>;
}

/**
 * Returns a function that waits for all answers of a due cycle, and then runs it in a turn of the event loop. Until then
 * a cycle is no more than its entry in a list: what 10,000 running cycles hold while they wait would outlive several
 * garbage collections. `run` must not throw.
 */
export function createArrivals<C extends Waiting>(
  clock: Clock,
  ports: {
    /** Cycles per turn. */
    readonly atOnce: number;
    readonly run: (cycle: C, readings: Readings) => void;
    /** The answers of the cycle cannot be read: an internal error. */
    readonly fail: (cycle: C, error: unknown) => void;
  },
): (cycle: C) => void {
  const { atOnce, run, fail } = ports;
  let open: Group<C> | null = null;
  let held: Held<C> | null = null;
  /** The cycles that wait for the same promise, so that 50 scalers with the same answer need no 50 promises. */
  const waiting = new Map<Promise<readonly Answer[]>, C[]>();

  const admit = createAdmission<Ready<C>>(clock, {
    atOnce,
    work: ({ cycle, results, ages }) => run(cycle, { results, ages, sinceMs: cycle.sinceMs }),
  });

  // Ages are read after the results: the server may have restarted since an earlier read, whose age would then not
  // apply to the new results. A cycle that neither runs nor fails would never be due again.
  const close = async (group: Group<C>): Promise<void> => {
    if (open === group) open = null;
    let ages: ReadonlyMap<string, SourceAge>;
    try {
      ages = await readAges(group.servers, group.answers);
    } catch (error) {
      for (const { cycle } of group.arrived) fail(cycle, error);
      return;
    }
    for (const { cycle, results } of group.arrived) admit({ cycle, results, ages });
  };

  const groupOf = (answers: RoundAnswers): Group<C> => {
    if (open?.answers === answers) return open;
    const group: Group<C> = { answers, servers: new Map(), arrived: [] };
    open = group;
    void Promise.resolve(group).then(close);
    return group;
  };

  const arrive = (cycle: C, results: readonly Answer[]): void => {
    const group = groupOf(cycle.answers);
    group.arrived.push({ cycle, results });
    addServers(group.servers, cycle.scaler.spec.metrics, results);
  };

  const wait = (cycle: C): void => {
    const answer = cycle.answers.of(cycle.scaler);
    const others = waiting.get(answer);
    if (others !== undefined) {
      others.push(cycle);
      return;
    }
    const cycles = [cycle];
    waiting.set(answer, cycles);
    answer.then(
      (results) => {
        waiting.delete(answer);
        for (const each of cycles) arrive(each, results);
      },
      (error: unknown) => {
        waiting.delete(answer);
        for (const each of cycles) fail(each, error);
      },
    );
  };

  /** Until the queries are sent, each scaler would wait for a separate promise. */
  const hold = (cycle: C, sending: Promise<unknown>): void => {
    if (held?.answers === cycle.answers) {
      held.cycles.push(cycle);
      return;
    }
    const { cycles } = (held = { answers: cycle.answers, cycles: [cycle] });
    const release = (): void => {
      if (held?.cycles === cycles) held = null;
      for (const each of cycles) wait(each);
    };
    sending.then(release, release);
  };

  return (cycle) => {
    const sending = cycle.answers.sending?.() ?? null;
    if (sending === null) wait(cycle);
    else hold(cycle, sending);
  };
}
