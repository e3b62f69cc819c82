import { decide } from '../../decision/decide.js';
import type { Decision } from '../../decision/result/decision.js';
import type { LimitName } from '../../decision/result/limit-names.js';
import { EMPTY_STATE, type Snapshot, type State } from '../../decision/snapshot/snapshot.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import { addSeconds, type Instant } from '../../units/time.js';
import { type CountStep, countsSince } from './count-steps.js';
import { createServedLoad } from './load-history.js';
import type { QueueLog, QueueInput } from './queue.js';
import { createWorkload, type Workload, type WorkloadInput } from './workload.js';
import { createLoad, type Load, type LoadData } from './load.js';
import type { MetricModel } from './samples.js';

export interface RunInput extends WorkloadInput {
  /** Time of the first round. Default: one sync period after the simulation begins. */
  readonly firstRoundAt?: Instant;
}

/** The replicas and decisions of a document on a load. */
export interface Run {
  readonly start: Instant;
  readonly end: Instant;
  /** The values of `.spec.replicas`. The first step is at `start`. */
  readonly replicas: readonly CountStep[];
  readonly ready: readonly CountStep[];
  readonly changes: readonly Change[];
  readonly rounds: number;
  /** Number of rounds in which maxReplicas limited the recommendation. */
  readonly roundsAtMaximum: number;
  /** For each limit, the number of rounds in which it changed the count. */
  readonly roundsByLimit: ReadonlyMap<LimitName, number>;
  readonly roundsWithoutValue: number;
  /** Null: the back-test has no queue. */
  readonly queue: QueueLog | null;
}

/**
 * A change of the count, with only the part of the decision that reports need: a month may have thousands of changes,
 * and a whole decision has an entry for each pod.
 */
export interface Change extends Pick<Decision, 'action' | 'currentReplicas' | 'desiredReplicas' | 'reason'> {
  readonly at: Instant;
}

export type OnRound = (decision: Decision, snapshot: Snapshot) => void;

/**
 * Runs a document over a load with the function `decide` of the service. Each decision is applied and thus changes the
 * next samples. A pause or dry run of the document is ignored.
 */
export function runVariant(document: Scaler, input: RunInput, onRound?: OnRound): Run {
  const rounds = runRounds(document, input, onRound);
  let round = rounds.next();
  while (round.done !== true) round = rounds.next();
  return round.value;
}

/** Runs a document as `runVariant` does, but yields after each decision, so that the caller can do other work. */
export function* runRounds(
  document: Scaler,
  input: RunInput,
  onRound?: OnRound,
): Generator<undefined, Run, undefined> {
  const { start, end } = input;
  const scaler = withMetrics(document, modelledMetrics(document, input));
  const workload = createWorkload(scaler, input);
  const { begin } = workload;
  const models = input.models.filter((model) => model !== null);
  const served = createServedLoad(scaler, { begin, end, models, podStart: input.podStart });
  const log = createLog(workload, start);
  let state: State = EMPTY_STATE;
  const { syncPeriodSeconds } = scaler.spec;
  let now = input.firstRoundAt ?? addSeconds(begin, syncPeriodSeconds);
  while (now <= begin) now = addSeconds(now, syncPeriodSeconds);
  for (; now <= end; now = addSeconds(now, syncPeriodSeconds)) {
    workload.advanceTo(now);
    const observed = workload.observe(now);
    const loadHistory = served?.addRound(now, observed);
    const snapshot = {
      scaler,
      now,
      ...observed,
      ...(loadHistory === undefined ? {} : { loadHistory }),
      state,
    };
    const decision = decide(snapshot);
    state = decision.state;
    workload.scaleTo(decision.desiredReplicas, now);
    log.addDecision(decision, now);
    if (now > start) onRound?.(decision, snapshot);
    yield;
  }
  workload.advanceTo(end);
  return log.finish(end);
}

/** Returns the metrics of the document that have a model. */
export function modelledMetrics({ spec }: Scaler, { models }: RunInput): readonly MetricSpec[] {
  return spec.metrics.filter((_, index) => models[index] !== null);
}

function withMetrics(scaler: Scaler, metrics: readonly MetricSpec[]): Scaler {
  const { spec } = scaler;
  if (metrics.length === spec.metrics.length) return scaler;
  const ofForecast = spec.metrics[spec.forecast?.metric ?? -1];
  const metric = ofForecast === undefined ? -1 : metrics.indexOf(ofForecast);
  const forecast = spec.forecast === null ? null : { ...spec.forecast, metric };
  return { ...scaler, spec: { ...spec, metrics, forecast } };
}

interface Log {
  readonly addDecision: (decision: Decision, now: Instant) => void;
  readonly finish: (end: Instant) => Run;
}

function createLog({ replicas, ready, queue }: Workload, start: Instant): Log {
  const changes: Change[] = [];
  const roundsByLimit = new Map<LimitName, number>();
  const counts = { rounds: 0, roundsAtMaximum: 0, roundsWithoutValue: 0 };
  return {
    addDecision: (decision, now) => {
      if (now <= start) return;
      counts.rounds += 1;
      const isCapped = decision.limits.some(({ limit }) => limit === 'max_replicas');
      if (isCapped && decision.desiredReplicas === decision.maxReplicas) counts.roundsAtMaximum += 1;
      if (decision.metrics.length > 0 && decision.metrics.every(({ proposal }) => proposal === null))
        counts.roundsWithoutValue += 1;
      for (const limit of new Set(decision.limits.map((step) => step.limit)))
        roundsByLimit.set(limit, (roundsByLimit.get(limit) ?? 0) + 1);
      const { action, currentReplicas, desiredReplicas, reason } = decision;
      if (action !== 'none') changes.push({ at: now, action, currentReplicas, desiredReplicas, reason });
    },
    finish: (end) => {
      const steps = { replicas: countsSince(replicas, start), ready: countsSince(ready, start) };
      return { start, end, ...steps, changes, roundsByLimit, ...counts, queue: queue?.log() ?? null };
    },
  };
}

/** The input of a run for a worker thread: without functions, and with an index instead of each load. */
export interface PortableInput extends Omit<RunInput, 'models' | 'queue' | 'ceiling'> {
  readonly models: readonly (PortableModel | null)[];
  readonly queue: (Omit<QueueInput, 'load'> & { readonly load: number }) | null;
  readonly ceiling: number | null;
}

type PortableModel = WithNumber<MetricModel>;
type WithNumber<Model> = Model extends unknown ? Omit<Model, 'load'> & { readonly load: number } : never;

export function packInput(input: RunInput, numberOf: (load: Load) => number): PortableInput {
  const { queue, ceiling } = input;
  return {
    ...input,
    models: input.models.map((model): PortableModel | null =>
      model === null ? null : { ...model, load: numberOf(model.load) },
    ),
    queue: queue === undefined ? null : { ...queue, load: numberOf(queue.load) },
    ceiling: ceiling === undefined ? null : numberOf(ceiling),
  };
}

/** Restores the input of a run. Throws `Error` if a load is missing. */
export function unpackInput(input: PortableInput, loadOf: (number: number) => Load): RunInput {
  const { queue, ceiling, ...others } = input;
  return {
    ...others,
    ...(queue === null ? {} : { queue: { ...queue, load: loadOf(queue.load) } }),
    ...(ceiling === null ? {} : { ceiling: loadOf(ceiling) }),
    models: input.models.map((model): MetricModel | null =>
      model === null ? null : { ...model, load: loadOf(model.load) },
    ),
  };
}

/** Returns the data of a load in shared memory, so that it is not copied for each thread. */
export function shareLoad({ data }: Load): LoadData {
  return { ...data, times: shared(data.times), values: shared(data.values) };
}

export function openLoad({ times, values, end, isInterpolated }: LoadData): Load {
  return createLoad(times, values, end, isInterpolated);
}

function shared(column: Float64Array): Float64Array {
  const copy = new Float64Array(new SharedArrayBuffer(column.byteLength));
  copy.set(column);
  return copy;
}
