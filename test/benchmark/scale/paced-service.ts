import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { paceFlags } from './pace.js';
import type { PaceFigures, PaceOrder, PaceReport } from './pace.js';
import type { ClockRate } from './world-clock.js';
import type { RunningWorld } from './world-client.js';

type Decided = Extract<PaceReport, { readonly type: 'all-decided' }>;

/** The built CLI in its process, whose waits can be skipped. */
export interface PacedService {
  readonly pid: number;
  readonly url: string;
  /** Resolves when as many cycles have ended as there are scalers, for the next time. */
  readonly decided: () => Promise<Decided>;
  /** Lets rounds pass; resolves when the last of them is over. Skips the waits between them if `isSkipping`. */
  readonly rounds: (count: number, isSkipping: boolean) => Promise<void>;
  readonly figures: () => Promise<PaceFigures>;
  readonly reset: () => void;
  readonly order: (order: PaceOrder) => Promise<void>;
  /** The highest RSS since the start or the last call. */
  readonly takePeakBytes: () => number;
  /** Lines of the log, which holds warnings and errors only. */
  readonly log: () => readonly string[];
  readonly stop: () => Promise<void>;
}

const CLI = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url));

/** `scalers`: how many documents the config leads to. */
export function startPacedService(options: {
  readonly configFile: string;
  readonly logFile: string;
  readonly port: number;
  readonly scalers: number;
  readonly nodeFlags: readonly string[];
  readonly world: RunningWorld;
  readonly clock: ClockRate;
  readonly signal: AbortSignal;
}): PacedService {
  const { configFile, logFile, port, scalers, nodeFlags, world, clock, signal } = options;
  const log = openSync(logFile, 'w');
  const child = spawn(
    process.execPath,
    [...paceFlags(scalers, clock), ...nodeFlags, CLI, 'run', '--config', configFile],
    { stdio: ['ignore', log, log, 'ipc'], env: { ...process.env, POD_NAMESPACE: 'promscaler' } },
  );
  closeSync(log);
  const reports = new EventEmitter();
  child.on('message', (message) => reports.emit((message as PaceReport).type, message));
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the service has ended with ${code}: ${readFileSync(logFile, 'utf8').slice(-2000)}`);
  });
  ended.catch(() => undefined);
  const interrupted = once(signal, 'abort').then(() => signal.throwIfAborted());
  interrupted.catch(() => undefined);
  const next = async <T extends PaceReport['type']>(
    type: T,
  ): Promise<Extract<PaceReport, { readonly type: T }>> => {
    const [report] = (await Promise.race([once(reports, type), ended, interrupted])) as [
      Extract<PaceReport, { readonly type: T }>,
    ];
    return report;
  };
  const send = (order: PaceOrder): void => void child.send(order);

  /** Until the service waits for a timer, which is skipped if `mustSkip` for the last round that has begun. */
  const wait = async (
    mustSkip: (round: number) => boolean,
  ): Promise<{ readonly round: number; readonly skippedMs: number }> => {
    for (;;) {
      const idle = next('idle');
      send({ type: 'look-again' });
      const { round } = await idle;
      if (!(await world.isIdle())) continue;
      const reply = next('confirmed');
      send({ type: 'confirm', isSkipping: mustSkip(round) });
      const { isStillIdle, skippedMs } = await reply;
      if (isStillIdle) return { round, skippedMs };
    }
  };

  return {
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${port}`,
    decided: () => next('all-decided'),
    rounds: async (count, isSkipping) => {
      let last: number | null = null;
      for (;;) {
        const { round, skippedMs } = await wait((now) => isSkipping && (last === null || now < last));
        world.setSkipped(skippedMs);
        last ??= round + count;
        if (round >= last) return;
      }
    },
    figures: async () => {
      const reply = next('figures');
      send({ type: 'figures' });
      return (await reply).figures;
    },
    reset: () => send({ type: 'reset' }),
    order: async (order) => {
      const reply = next('done');
      send(order);
      await reply;
    },
    takePeakBytes: () => takePeak(child.pid ?? 0),
    log: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await ended.catch(() => undefined);
      clearTimeout(timer);
    },
  };
}

/** NaN if the system does not report it (Linux does). */
function takePeak(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  } catch {
    return NaN;
  }
}
