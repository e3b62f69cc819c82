import { type Job, type JobResult, runJob } from '../../backtest/compare/variant.js';
import { type BandBuilder, createBand, type PageMetric } from '../../backtest/page-data.js';
import { modelledMetrics, type OnRound, type RunInput } from '../../backtest/simulation/run-variant.js';
import { explainLines } from '../explanation/explain-lines.js';
import type { Decision } from '../../decision/result/decision.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import { milliToNumber } from '../../units/quantity.js';
import { addSeconds } from '../../units/time.js';

/** What the page shows of a run besides its replicas. A worker thread sends it to the main thread. */
export interface RunTrace {
  readonly metrics: readonly PageMetric[];
  /** The lines of the explanations without duplicates. */
  readonly lines: readonly string[];
  /** For each change, the lines of its explanation as indexes into `lines`; empty: the explanation is omitted. */
  readonly explanations: readonly (readonly number[])[];
}

interface RunTracer {
  readonly onRound: OnRound;
  readonly finish: () => RunTrace;
}

/** Records the metrics of a run and explains each change, with at most `mostCharacters` of explanations in total. */
function createRunTracer({ scaler, input: setting }: Job, mostCharacters: number): RunTracer {
  const { start, end } = setting;
  const { syncPeriodSeconds } = scaler.spec;
  const metrics = modelledMetrics(scaler, setting);
  const bands = metrics.map(() => createBand(start, end));
  const explanations = createExplanations(mostCharacters);
  const byChange: (readonly number[])[] = [];
  return {
    onRound: (decision, snapshot) => {
      const { now } = snapshot;
      addMetrics(bands, decision, (band, value) => band.add(value, now, addSeconds(now, syncPeriodSeconds)));
      if (decision.action === 'none') return;
      byChange.push(explanations.add(() => explainLines({ snapshot, decision, status: null, now })));
    },
    finish: () => ({
      metrics: metrics.map((metric, index) => ({
        name: metric.identity,
        isPercent: metric.target.type === 'Utilization',
        target: targetOf(metric),
        value: bands[index]?.finish() ?? { low: [], high: [] },
      })),
      lines: explanations.lines(),
      explanations: byChange,
    }),
  };
}

function addMetrics(
  bands: readonly BandBuilder[],
  { metrics }: Decision,
  add: (band: BandBuilder, value: number) => void,
): void {
  bands.forEach((band, index) => {
    const result = metrics[index];
    if (result === undefined || result.error !== null) return;
    const { averageUtilization, averageValue, value } = result.current;
    const shown = averageUtilization ?? averageValue ?? value;
    if (shown !== undefined) add(band, shown);
  });
}

function targetOf({ target }: MetricSpec): number {
  return target.type === 'Utilization' ? target.percent : milliToNumber(target.milli);
}

/** Stores explanations. Each distinct line is stored once, because most lines occur many times. */
export interface Explanations {
  /**
   * Adds an explanation and returns the indexes of its lines; empty: the limit is exceeded. From then on, `lines` is
   * not called.
   */
  readonly add: (lines: () => readonly string[]) => readonly number[];
  readonly lines: () => readonly string[];
}

export function createExplanations(mostCharacters: number): Explanations {
  const known = new Map<string, number>();
  let left = mostCharacters;
  return {
    add: (linesOf) => {
      if (left < 0) return [];
      const lines = linesOf();
      const fresh = new Set(lines.filter((line) => !known.has(line)));
      // In the page, an index and its comma take at most 6 characters. A new line has 3 more: two quotes and a comma.
      left -= [...fresh].reduce((sum, line) => sum + line.length + 3, lines.length * 6);
      if (left < 0) return [];
      for (const line of fresh) known.set(line, known.size);
      return lines.map((line) => known.get(line) ?? 0);
    },
    lines: () => [...known.keys()],
  };
}

/** Collects data from the runs while they run, for the page of `--html`. */
export interface Traces {
  /** Returns the maximum number of characters of explanations for a job. */
  readonly charactersOf: (index: number, jobs: number) => number;
  readonly add: (scaler: Scaler, trace: RunTrace) => void;
  /** Returns undefined if the document was not run, or its run failed. */
  readonly of: (scaler: Scaler) => RunTrace | undefined;
}

/** Half of the characters are for the first document. The others share the rest. */
export function createTraces(mostCharacters: number): Traces {
  const known = new Map<Scaler, RunTrace>();
  return {
    charactersOf: (index, jobs) => {
      if (jobs === 1) return mostCharacters;
      return Math.floor(index === 0 ? mostCharacters / 2 : mostCharacters / 2 / (jobs - 1));
    },
    add: (scaler, trace) => void known.set(scaler, trace),
    of: (scaler) => known.get(scaler),
  };
}

export interface TracedResult {
  readonly result: JobResult;
  /** Null: no trace was requested, or the job failed. */
  readonly trace: RunTrace | null;
}

/** Runs a job. `traceCharacters`: the limit for its explanations; null: it is not traced. */
export function runTracedJob(job: Job, traceCharacters: number | null): TracedResult {
  if (traceCharacters === null) return { result: runJob(job), trace: null };
  const tracer = createRunTracer(job, traceCharacters);
  const result = runJob(job, tracer.onRound);
  return { result, trace: 'error' in result ? null : tracer.finish() };
}

/** Returns the input of a run with another form of each load: a worker thread gets the number of a load. */
export function mapLoads<From, To>(input: RunInput<From>, map: (load: From) => To): RunInput<To> {
  const { models, queue, ceiling } = input;
  return {
    ...input,
    models: models.map((model) => (model === null ? null : { ...model, load: map(model.load) })),
    queue: queue === undefined ? undefined : { ...queue, load: map(queue.load) },
    ceiling: ceiling === undefined ? undefined : map(ceiling),
  };
}
