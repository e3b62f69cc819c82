import type { Scaler } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import { type Answer, INTERNAL_ERROR } from '../answers/answer.js';
import { ageKey, type SourceAge, urlIndexOf } from '../source/age.js';
import { applyChecks } from './checks.js';
import type { Plan } from './plan-round.js';
import { type MetricQuery, ownKey, type ScalerQueries } from './compile-queries.js';

export interface Readings {
  /** In the order of `spec.metrics`. */
  readonly answers: readonly Answer[];
  /** The answer to the query of `maxReplicasFrom`; unset: the document has none. */
  readonly ceiling?: Answer;
  /** Maps `ageKey` to the age of each server that answered. It is complete once all answers have arrived. */
  readonly ages: ReadonlyMap<string, SourceAge>;
  /** Monotonic time at which the round began. */
  readonly sinceMs: number;
}

export interface Collector {
  /** Stores the answer with this key. If there is already one, it stays. */
  readonly take: (key: string, answer: Answer) => void;
  /** Returns the answer with this key; undefined: it has not arrived yet. */
  readonly get: (key: string) => Answer | undefined;
  readonly wait: (key: string) => Promise<Answer>;
}

/** Collects the answers of a round. Calls `onReady` once for each scaler, when its last answer has arrived. */
export function createCollector(
  plan: Plan,
  parts: {
    readonly sinceMs: number;
    readonly readAge: (source: string, urlIndex: number | undefined) => Promise<SourceAge>;
    readonly ready: ReadyQueue;
    /** Must not throw. */
    readonly onReady: (scaler: Scaler, readings: Readings) => void;
    readonly onFault: (error: unknown) => void;
  },
): Collector {
  const { sinceMs, readAge, ready, onReady, onFault } = parts;
  const answers = new Map<string, Answer>();
  const missing = plan.scalers.map(({ awaited }) => awaited.length);
  const listeners = new Map<string, ((answer: Answer) => void)[]>();
  let answered: ScalerQueries[] = [];

  const addAnswered = (scaler: ScalerQueries | undefined): void => {
    if (scaler === undefined) return;
    answered.push(scaler);
    if (answered.length === 1) void Promise.resolve().then(finishAnswered);
  };
  /**
   * Reads the ages of the servers after the answers: a server may have restarted between an earlier read and the
   * answer, and the age would be wrong. Scalers whose last answers arrive together share a read.
   */
  const finishAnswered = async (): Promise<void> => {
    const scalers = answered;
    answered = [];
    let checked = scalers.map((scaler) => checkedAnswers(scaler, answers, onFault));
    const ceilings = scalers.map(({ ceiling }) =>
      ceiling === null ? null : checkedAnswer(ceiling, answers),
    );
    let ages: Readings['ages'] = new Map();
    try {
      ages = await agesOf(scalers, checked, readAge);
    } catch (error) {
      onFault(error);
      checked = scalers.map(({ metrics }) => metrics.map(() => INTERNAL_ERROR));
    }
    for (const [index, { scaler }] of scalers.entries()) {
      const ceiling = ceilings[index] ?? null;
      const readings = { answers: checked[index] ?? [], ages, sinceMs };
      ready.add(() => onReady(scaler, ceiling === null ? readings : { ...readings, ceiling }));
    }
  };

  for (const scaler of plan.scalers) if (scaler.awaited.length === 0) addAnswered(scaler);
  return {
    take: (key, answer) => {
      if (answers.has(key)) return;
      answers.set(key, answer);
      for (const index of plan.waiting.get(key) ?? []) {
        const left = (missing[index] ?? 0) - 1;
        missing[index] = left;
        if (left === 0) addAnswered(plan.scalers[index]);
      }
      for (const resolve of listeners.get(key) ?? []) resolve(answer);
    },
    get: (key) => answers.get(key),
    wait: (key) => {
      const known = answers.get(key);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => listeners.set(key, [...(listeners.get(key) ?? []), resolve]));
    },
  };
}

/** Returns the answer for each metric after its checks, in the order of the metrics. */
function checkedAnswers(
  { metrics }: ScalerQueries,
  answers: ReadonlyMap<string, Answer>,
  onFault: (error: unknown) => void,
): readonly Answer[] {
  try {
    return metrics.map((metric) => checkedAnswer(metric, answers));
  } catch (error) {
    onFault(error);
    return metrics.map(() => INTERNAL_ERROR);
  }
}

function checkedAnswer(metric: MetricQuery, answers: ReadonlyMap<string, Answer>): Answer {
  if (metric.kind === 'refused') return metric.answer;
  const answerTo = (key: string): Answer => {
    const answer = answers.get(key);
    if (answer === undefined) throw new Error(`${key} is not part of this round`);
    return answer;
  };
  const answer = answerTo(metric.key);
  if (answer.class === 'failed' || metric.kind === 'workloads' || metric.checks === null) return answer;
  const { source, checks } = metric;
  const { guard, freshness, backlog, capacity, served } = checks;
  return applyChecks(checks, {
    answer,
    guard: guard === null ? null : answerTo(ownKey(source, guard)),
    freshness: freshness === null ? null : answerTo(ownKey(source, freshness.query)),
    ...(backlog === undefined ? {} : { backlog: answerTo(ownKey(source, backlog)) }),
    ...(capacity === undefined ? {} : { capacity: answerTo(ownKey(source, capacity)) }),
    ...(served === undefined ? {} : { served: answerTo(ownKey(source, served)) }),
  });
}

/** Reads the age of each server that answered. */
async function agesOf(
  scalers: readonly ScalerQueries[],
  answers: readonly (readonly Answer[])[],
  readAge: (source: string, urlIndex: number | undefined) => Promise<SourceAge>,
): Promise<ReadonlyMap<string, SourceAge>> {
  const ages = new Map<string, Promise<SourceAge>>();
  for (const [index, { scaler }] of scalers.entries())
    for (const [position, { source }] of scaler.spec.metrics.entries()) {
      const answer = answers[index]?.[position];
      const key = ageKey(source, answer);
      if (answer?.class !== 'failed' && !ages.has(key)) ages.set(key, readAge(source, urlIndexOf(answer)));
    }
  return new Map(await Promise.all(Array.from(ages, async ([key, age]) => [key, await age] as const)));
}

export interface ReadyQueue {
  /** Calls `run` now or in a later event-loop iteration. `run` must not throw. */
  readonly add: (run: () => void) => void;
}

/** Limits the cycles that run in one event-loop iteration to about 5 ms of work. */
const AT_ONCE = 32;

/**
 * Calls the added functions in order, at most `atOnce` in each event-loop iteration. One response may complete the
 * answers of 1,500 scalers; deciding all of them at once would delay probes and the renewal of the Lease by 0.3 s.
 */
export function createReadyQueue(clock: Clock, atOnce = AT_ONCE): ReadyQueue {
  let waiting: (() => void)[] = [];
  let next = 0;
  /** The number of functions that may still be called in this event-loop iteration. */
  let left = atOnce;
  let isTurnPlanned = false;

  const runSome = (): void => {
    if (next === waiting.length) return;
    if (!isTurnPlanned) clock.after(0, beginTurn);
    isTurnPlanned = true;
    for (let run = waiting[next]; left > 0 && run !== undefined; run = waiting[next]) {
      left -= 1;
      next += 1;
      run();
    }
    if (next === waiting.length) [waiting, next] = [[], 0];
  };
  const beginTurn = (): void => {
    isTurnPlanned = false;
    left = atOnce;
    runSome();
  };
  return {
    add: (run) => {
      waiting.push(run);
      runSome();
    },
  };
}
