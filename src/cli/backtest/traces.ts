import { type Job, type JobResult, runJob } from '../../backtest/compare/variant.js';
import type { Scaler } from '../../scaler/spec.js';
import { createRunTracer, type RunTrace } from './trace-run.js';

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
