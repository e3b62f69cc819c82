import { type Clock, sleep } from '../../units/clock.js';
import type { RunningPrometheus } from './programs/prometheus-server.js';
import { errorMessage } from '../../units/failure.js';

/** A Prometheus that is restarted after it has exited, with the same address and the same data. */
export interface RevivedPrometheus extends Pick<RunningPrometheus, 'url' | 'directory' | 'stop' | 'signal'> {
  /** PID of the first process. */
  readonly pid: number;
  /** Starts watching the process. `report` is called with a sentence about each exit and each restart. */
  readonly follow: (report: (text: string) => void) => void;
}

/** The time until Prometheus is restarted, which is long enough to see that the scalers hold their replicas. */
export const OUTAGE_SECONDS = 20;

export function revivedPrometheus(
  first: RunningPrometheus,
  { start, clock }: { readonly start: (port: number) => Promise<RunningPrometheus>; readonly clock: Clock },
): RevivedPrometheus {
  const stopping = new AbortController();
  const { signal } = stopping;
  const isStopped = (): boolean => signal.aborted;
  let current = first;
  let work: Promise<void> = Promise.resolve();

  const startAgain = async (report: (text: string) => void): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      await sleep(clock, OUTAGE_SECONDS * 1000, signal);
      if (isStopped()) return;
      try {
        current = await start(first.port);
        report('started again');
        return;
      } catch (error) {
        const why = errorMessage(error);
        if (attempt === 1)
          report(`Prometheus cannot be started again, retrying every ${OUTAGE_SECONDS} s: ${why}`);
      }
    }
  };
  const watch = async (report: (text: string) => void): Promise<void> => {
    while (!isStopped()) {
      const why = await current.ended;
      if (isStopped()) return;
      report(`${why}; Prometheus is started again in ${OUTAGE_SECONDS} s`);
      await startAgain(report);
    }
  };

  const { pid, url, directory } = first;
  return {
    pid,
    url,
    directory,
    signal: (name) => current.signal(name),
    follow: (report) => void (work = watch(report)),
    stop: async (options) => {
      stopping.abort();
      await current.stop(options);
      await work;
      // Stops the process that a restart may have created in the meantime.
      await current.stop(options);
    },
  };
}
