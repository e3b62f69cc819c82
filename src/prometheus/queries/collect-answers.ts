import type { Scaler } from '../../scaler/spec.js';
import type { Clock, ReadyQueue } from '../../units/clock.js';
import { mustGet } from '../../units/maps.js';
import { INTERNAL_ERROR } from '../../units/failure.js';
import type { Answer } from '../answers/answer.js';
import { ageKey, type SourceAge, UNKNOWN_AGE, urlIndexOf } from '../source/age.js';
import { applyChecks } from './checks.js';
import { type MetricQuery, ownKey, type ScalerQueries } from './compile-queries.js';
import { type ArrivedAnswers, createFollowUps, type FollowUpInput, type FollowUps } from './follow-ups.js';
import type { Plan } from './plan-round.js';

export interface Readings {
  /** In the order of `spec.metrics`. */
  readonly answers: readonly Answer[];
  /** The answer to the query of `maxReplicasFrom`; unset: the document has none. */
  readonly ceiling?: Answer;
  /** Maps `ageKey` to the age of each server that answered. */
  readonly ages: ReadonlyMap<string, SourceAge>;
  /** Monotonic time at which the round began. */
  readonly sinceMs: number;
}

export type OnReady = (scaler: Scaler, readings: Readings, followUps: FollowUps) => void;

export interface RoundInput extends FollowUpInput {
  readonly clock: Clock;
  /** Monotonic time in milliseconds at which the round began. */
  readonly startMs: number;
  readonly ready: ReadyQueue;
  /** Called once for each scaler of the round. Must not throw. */
  readonly onReady: OnReady;
  /** Called with an internal error. The queries that it affects have no value. */
  readonly onFault: (error: unknown) => void;
}

interface Collector extends ArrivedAnswers {
  /** Stores the answer under this key, unless there already is one. */
  readonly store: (key: string, answer: Answer) => void;
}

/** Collects the answers of a round. Calls `onReady` once for each scaler, when its last answer has arrived. */
export function createCollector(plan: Plan, round: RoundInput): Collector {
  const { sources, signal, startMs, ready, onReady, onFault } = round;
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
    const ages = new Map<string, SourceAge>();
    let readings = scalers.map((scaler) => readingsOf(scaler, ages));
    try {
      await readAges(scalers, readings, ages);
    } catch (error) {
      onFault(error);
      readings = scalers.map(({ scaler }) => withoutValues(scaler, startMs));
    }
    for (const [index, some] of readings.entries()) {
      const scaler = scalers[index]?.scaler;
      if (scaler !== undefined) ready.add(() => onReady(scaler, some, followUps));
    }
  };
  const readingsOf = (
    { scaler, metrics, ceiling }: ScalerQueries,
    ages: ReadonlyMap<string, SourceAge>,
  ): Readings => {
    try {
      const checked = metrics.map((metric) => checkedAnswer(metric, answers));
      const readings = { answers: checked, ages, sinceMs: startMs };
      return ceiling === null ? readings : { ...readings, ceiling: checkedAnswer(ceiling, answers) };
    } catch (error) {
      onFault(error);
      return withoutValues(scaler, startMs);
    }
  };
  /** Adds the age of each server that answered to `ages`. */
  const readAges = async (
    scalers: readonly ScalerQueries[],
    readings: readonly Readings[],
    ages: Map<string, SourceAge>,
  ): Promise<void> => {
    const reads = new Map<string, Promise<SourceAge>>();
    for (const [index, { scaler }] of scalers.entries())
      for (const [position, { source }] of scaler.spec.metrics.entries()) {
        const answer = readings[index]?.answers[position];
        const key = ageKey(source, answer);
        if (answer?.class === 'failed' || reads.has(key)) continue;
        const read = sources.get(source)?.ages.read(signal, urlIndexOf(answer));
        reads.set(key, read ?? Promise.resolve(UNKNOWN_AGE));
      }
    await Promise.all(Array.from(reads, async ([key, age]) => ages.set(key, await age)));
  };

  for (const scaler of plan.scalers) if (scaler.awaited.length === 0) addAnswered(scaler);
  const arrived: ArrivedAnswers = {
    get: (key) => answers.get(key),
    wait: (key) => {
      const known = answers.get(key);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => listeners.set(key, [...(listeners.get(key) ?? []), resolve]));
    },
  };
  const followUps = createFollowUps(plan, round, arrived);
  return {
    ...arrived,
    store: (key, answer) => {
      if (answers.has(key)) return;
      answers.set(key, answer);
      for (const index of plan.waiting.get(key) ?? []) {
        const left = (missing[index] ?? 0) - 1;
        missing[index] = left;
        if (left === 0) addAnswered(plan.scalers[index]);
      }
      for (const resolve of listeners.get(key) ?? []) resolve(answer);
    },
  };
}

/** Returns the readings after an internal error. A scaler without readings would never be due again. */
export function withoutValues({ spec }: Scaler, sinceMs: number): Readings {
  const readings = { answers: spec.metrics.map(() => INTERNAL_ERROR), ages: new Map(), sinceMs };
  return spec.maxReplicasFrom === null ? readings : { ...readings, ceiling: INTERNAL_ERROR };
}

/** Returns the answer to the query of a metric after its checks. */
function checkedAnswer(metric: MetricQuery, answers: ReadonlyMap<string, Answer>): Answer {
  if (metric.kind === 'refused') return metric.answer;
  const answer = mustGet(answers, metric.key);
  if (answer.class === 'failed' || metric.kind === 'byPod' || metric.checks === null) return answer;
  const { source, checks } = metric;
  const others = Object.entries(checks.queries).map(
    ([name, text]) => [name, mustGet(answers, ownKey(source, text))] as const,
  );
  return applyChecks(checks, answer, Object.fromEntries(others));
}
