import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createWorkerPool, type WorkerPool } from '../../../src/cli/backtest/run-jobs-in-workers.js';
import { type RunTrace, createTraces } from '../../../src/cli/backtest/run-job.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { Job } from '../../../src/backtest/compare/variant.js';
import { runJobsHere } from '../../support/backtests.js';
import { observedOfColumn } from '../../../src/backtest/history/columns.js';
import { createLoad } from '../../../src/backtest/simulation/load.js';
import { traceModels, traceRequests } from '../../../src/backtest/simulation/trace-models.js';
import { at, scalerOf, T0 } from '../../support/builders.js';
import { podStartOf } from '../../../src/backtest/simulation/settings.js';

/** The compiled worker: a worker thread has none of the transforms of the tests. */
const ENTRY = pathToFileURL('dist/cli/backtest/job-worker.js');

/** One hour of a load that rises from 10 to 70, with a gap; a pod carries 10. */
const LOAD = createLoad(
  Float64Array.from({ length: 60 }, (_, minute) => T0 + minute * 60_000),
  Float64Array.from({ length: 60 }, (_, minute) => (minute === 30 ? NaN : 10 + minute)),
  at(3600),
);

function jobOf(target: number, more: Partial<Job['input']> = {}): Job {
  const metrics = [{ resource: { name: 'cpu', target: { averageUtilization: target } } }];
  const scaler = scalerOf({ scaleTargetRef: { name: 'web' }, maxReplicas: 20, metrics });
  const built = traceModels(scaler, LOAD, {
    capacity: 10,
    usageAtCapacityPercent: 100,
    resourceWindowSeconds: 60,
    scrapeIntervalSeconds: 0,
  });
  if ('error' in built) throw new Error(built.error);
  const setting = {
    start: LOAD.start,
    end: LOAD.end,
    models: built.models,
    initialReplicas: 1,
    podStart: podStartOf(30),
    scrapeIntervalSeconds: 15,
    requests: traceRequests(scaler),
    ...more,
  };
  return { scaler, input: setting };
}

const pools: WorkerPool[] = [];
afterEach(() => {
  for (const pool of pools.splice(0)) pool.close();
});

function poolOf(more: Partial<Parameters<typeof createWorkerPool>[0]> = {}): WorkerPool {
  const pool = createWorkerPool({
    signal: new AbortController().signal,
    clock: SYSTEM_CLOCK,
    parallel: 2,
    fewestRounds: 0,
    entry: ENTRY,
    ...more,
  });
  pools.push(pool);
  return pool;
}

describe('jobs in worker threads', () => {
  it('have the results of this thread, in their order, also when a pool is used again', async () => {
    const jobs = [50, 60, 70, 80, 90].map((target) => jobOf(target));
    const pool = poolOf();

    const first = await pool.runJobs(jobs);
    const second = await pool.runJobs(jobs.toReversed());

    const here = await runJobsHere(jobs);
    expect(first).toEqual(here);
    expect(second).toEqual(here.toReversed());
    expect(here.every((one) => 'run' in one && one.run.rounds === 240)).toBe(true);
  });

  it('have the results of this thread to the last digit on a history, whose values are interpolated', async () => {
    const values = Float64Array.from({ length: 240 }, (_, step) =>
      step === 99 ? NaN : 20 + 15 * Math.sin(step / 9),
    );
    const load = observedOfColumn({ start: T0, stepSeconds: 15, values });
    const model = { kind: 'total', load, loadIs: 'mean', windowSeconds: 60, spanSeconds: 60 } as const;
    const metrics = [
      { external: { metric: { name: 'depth' }, query: 'depth', target: { averageValue: 3 } } },
    ];
    const scaler = scalerOf({ scaleTargetRef: { name: 'web' }, maxReplicas: 20, metrics });
    const jobs = [50, 60, 70].map((target) => ({
      scaler,
      input: { ...jobOf(target, { models: [model] }).input, firstRoundAt: at(7) },
    }));
    const here = createTraces(60_000);
    const there = createTraces(60_000);

    expect(await poolOf({ traces: there }).runJobs(jobs)).toEqual(
      await poolOf({ traces: here, fewestRounds: Infinity }).runJobs(jobs),
    );

    expect(there.of(scaler)?.metrics).toEqual(here.of(scaler)?.metrics);
    // Half a step after 20 + 15 sin(1/9) and before 20 + 15 sin(2/9), in effect until then.
    expect(load.at(at(15))).toBe(values[1]);
    expect(load.at(at(22.5))).toBeCloseTo(((values[1] ?? 0) + (values[2] ?? 0)) / 2, 12);
  });

  it('send what the page shows of each run: bands of 1,000 parts, and explanations up to their share', async () => {
    const jobs = [jobOf(50), jobOf(60), jobOf(70)];
    const tracesOf = async (fewestRounds: number): Promise<readonly (RunTrace | undefined)[]> => {
      const traces = createTraces(60_000);
      await poolOf({ traces, fewestRounds }).runJobs(jobs);
      return jobs.map(({ scaler }) => traces.of(scaler));
    };

    const sent = await tracesOf(0);

    expect(sent).toEqual(await tracesOf(Infinity));
    const sizes = sent.map((trace) => trace?.lines.join('').length ?? 0);
    expect(sizes.every((size, index) => size > 2000 && size <= (index === 0 ? 30_000 : 15_000))).toBe(true);
    const [first] = sent;
    expect(first?.metrics.map(({ name, value }) => [name, value.low.length])).toEqual([['cpu', 1000]]);
    expect(first?.explanations[0]?.map((line) => first.lines[line]).join('\n')).toContain('1 -> ');
  });

  it('share the characters: half for the first, the rest for the others', () => {
    const { charactersOf } = createTraces(1000);

    expect([charactersOf(0, 1), charactersOf(0, 5), charactersOf(4, 5)]).toEqual([1000, 500, 125]);
  });

  it('count as progress; those of this thread are too few to need it', async () => {
    const seen: number[] = [];
    let done = 0;
    const progress = { add: (jobs: number) => void seen.push(jobs), done: () => void (done += 1) };

    await poolOf({ progress }).runJobs([jobOf(50), jobOf(60), jobOf(70)]);
    expect([seen, done]).toEqual([[3], 3]);
    await poolOf({ progress, fewestRounds: 481 }).runJobs([jobOf(50), jobOf(60)]);
    expect([seen, done]).toEqual([[3], 3]);
  });

  it('that fail are an error each, and the others run', async () => {
    const broken = jobOf(50, { models: [] });

    const [one, two, three] = await poolOf().runJobs([jobOf(50), broken, jobOf(70)]);

    expect([one, three]).toEqual(await runJobsHere([jobOf(50), jobOf(70)]));
    expect(two).toEqual({ error: 'internal error: no model for metric 0' });
  });

  it('are an error each if the worker cannot start', async () => {
    const entry = pathToFileURL('/no/such/worker.js');

    const results = await poolOf({ entry }).runJobs([jobOf(50), jobOf(60), jobOf(70)]);

    expect(results).toEqual(
      Array.from({ length: 3 }, () => ({
        error: expect.stringMatching(/^its worker thread (?:failed: (?:Error: )?Cannot find|exited)/),
      })),
    );
  });

  it('run in this thread if they are few: 480 rounds of at least 481', async () => {
    const pool = poolOf({ entry: pathToFileURL('/no/such/worker.js'), fewestRounds: 481 });

    const results = await pool.runJobs([jobOf(50), jobOf(60)]);

    expect(results).toEqual(await runJobsHere([jobOf(50), jobOf(60)]));
  });

  it('end when the command is interrupted, also a single one on one processor', async () => {
    const stop = new AbortController();
    const running = poolOf({ signal: stop.signal, parallel: 1 }).runJobs([jobOf(50)]);

    stop.abort();

    expect(await running).toEqual([{ error: 'interrupted' }]);
  });

  it('end when the command is interrupted', async () => {
    const stop = new AbortController();
    const running = poolOf({ signal: stop.signal }).runJobs([jobOf(50), jobOf(60), jobOf(70)]);

    stop.abort();

    expect(await running).toEqual(Array.from({ length: 3 }, () => ({ error: 'interrupted' })));
  });
});
