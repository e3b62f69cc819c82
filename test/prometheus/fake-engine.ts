import type { Answer } from '../../src/prometheus/answers/answer.js';
import type { PrometheusServer } from '../../src/prometheus/client/client.js';
import type { SourceConfig } from '../../src/prometheus/data-source/source-config.js';
import { type Clock, sleep } from '../../src/units/clock.js';
import { aClient, at } from '../support/builders.js';

/** What the engine does with a query: it evaluates it, or answers without evaluation after some time. */
export type Treatment =
  | { readonly cpuSeconds: number; readonly answer: Answer }
  /** Takes no slot and no CPU. `seconds` Infinity: never answers. */
  | { readonly seconds: number; readonly answer: Answer };

interface Job {
  leftSeconds: number;
  readonly end: () => void;
}

export const LATE: Answer = { class: 'failed', reason: 'timeout', message: 'h: timeout' };

/**
 * A client of an engine in simulated time, which evaluates `slots` queries at a time, the others in their order, on
 * `cpus` processors.
 */
export function fakeEngine(options: {
  readonly clock: Clock;
  readonly slots: number;
  readonly cpus: number;
  readonly treat: (query: string) => Treatment;
}) {
  const { clock, slots, cpus, treat } = options;
  const running = new Set<Job>();
  const waiting: Job[] = [];
  let sinceMs = 0;
  let usedSeconds = 0;
  let cancel = (): void => undefined;

  const work = (): void => {
    const nowMs = clock.monotonicMs();
    const rate = Math.min(1, cpus / Math.max(1, running.size));
    const each = ((nowMs - sinceMs) / 1000) * rate;
    sinceMs = nowMs;
    usedSeconds += each * running.size;
    for (const job of running) {
      job.leftSeconds -= each;
      if (job.leftSeconds > 1e-9) continue;
      running.delete(job);
      job.end();
    }
    while (running.size < slots) {
      const next = waiting.shift();
      if (next === undefined) break;
      running.add(next);
    }
    cancel();
    if (running.size === 0) return;
    const least = Math.min(...[...running].map(({ leftSeconds }) => leftSeconds));
    const nextRate = Math.min(1, cpus / running.size);
    cancel = clock.after(Math.max(1e-3, (least / nextRate) * 1000), work);
  };

  const evaluate = (cpuSeconds: number, timeoutMs: number): Promise<boolean> =>
    new Promise((resolve) => {
      const forget = clock.after(timeoutMs, () => {
        work();
        running.delete(job);
        const index = waiting.indexOf(job);
        if (index >= 0) waiting.splice(index, 1);
        work();
        resolve(false);
      });
      const job: Job = {
        leftSeconds: cpuSeconds,
        end: () => {
          forget();
          resolve(true);
        },
      };
      work();
      waiting.push(job);
      work();
    });

  const sent: string[] = [];
  const server: PrometheusServer = {
    query: async (query, { timeoutMs, signal }) => {
      sent.push(query);
      const treatment = treat(query);
      if ('cpuSeconds' in treatment)
        return (await evaluate(treatment.cpuSeconds, timeoutMs)) ? treatment.answer : LATE;
      const ms = treatment.seconds * 1000;
      await sleep(clock, Math.min(ms, timeoutMs), signal);
      return ms <= timeoutMs ? treatment.answer : LATE;
    },
    startTime: () => Promise.resolve(at(-99_999)),
  };
  return {
    createClient: (config: SourceConfig) => aClient(config, server),
    sent,
    usedSeconds: () => usedSeconds,
  };
}
