import { type Job, type JobResult, runJob } from '../../../backtest/compare/run-jobs.js';
import type { Scaler } from '../../../scaler/spec.js';
import { createRunTracer, type RunTrace } from '../html/trace-run.js';

/** What the page of `--html` shows of each run, collected while it runs. */
export interface Traces {
  /** Characters of explanations for one of the jobs. */
  readonly charactersOf: (index: number, jobs: number) => number;
  readonly add: (scaler: Scaler, trace: RunTrace) => void;
  /** Undefined: the document was not run, or failed. */
  readonly of: (scaler: Scaler) => RunTrace | undefined;
}

/** The first document has half of the characters, the others share the rest. */
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
  /** Null: none was asked for, or the job failed. */
  readonly trace: RunTrace | null;
}

/** `traceCharacters`: null for no trace. */
export function runTracedJob(job: Job, traceCharacters: number | null): TracedResult {
  if (traceCharacters === null) return { result: runJob(job), trace: null };
  const tracer = createRunTracer(job, traceCharacters);
  const result = runJob(job, tracer.onRound);
  return { result, trace: 'error' in result ? null : tracer.finish() };
}
