import type { Scaler } from '../../scaler/spec.js';
import { secondsBetween } from '../../units/time.js';
import { FleetError } from '../simulation/fleet.js';
import { type OnRound, type Run, runVariant, type RunInput } from '../simulation/run-variant.js';

/** A document and the input of its run. */
export interface Job {
  readonly scaler: Scaler;
  readonly input: RunInput;
}

/** A failure affects one document only. */
export type JobResult = { readonly run: Run } | { readonly error: string };

/** Runs documents, possibly in parallel. The results have the order of the jobs. */
export type RunJobs = (jobs: readonly Job[]) => Promise<readonly JobResult[]>;

export const runJobsHere: RunJobs = (jobs) => Promise.resolve(jobs.map((job) => runJob(job)));

export function runJob({ scaler, input }: Job, onRound?: OnRound): JobResult {
  try {
    return { run: runVariant(scaler, input, onRound) };
  } catch (error) {
    if (error instanceof FleetError) return { error: error.message };
    return { error: `internal error: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Returns the number of decisions of a job. */
export function roundsOf({ scaler, input: { start, end } }: Job): number {
  return Math.floor(secondsBetween(start, end) / scaler.spec.syncPeriodSeconds);
}
