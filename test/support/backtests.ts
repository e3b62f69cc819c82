import { runJob, type RunJobs } from '../../src/backtest/compare/variant.js';
import { parseTraceInParts, type Trace } from '../../src/cli/backtest/read-trace.js';
import type { Instant } from '../../src/units/time.js';

/** Runs jobs in this thread, one after another. */
export const runJobsHere: RunJobs = (jobs) => Promise.resolve(jobs.map((job) => runJob(job)));

/** As `parseTraceInParts`, without its pauses. */
export function parseTrace(text: string, start: Instant | null, maxRows?: number): Trace {
  const parts = parseTraceInParts(text, start, maxRows);
  for (;;) {
    const { done, value } = parts.next();
    if (done === true) return value;
  }
}
