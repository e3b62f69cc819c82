import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { IMAGE_ENV, IMAGE_FLAGS } from '../../support/image-process.js';
import { paceFlags } from './pace.js';
import type { PaceFigures, PaceOrder, PaceReport, ProfileKind, StartTimes } from './pace.js';

/** The bundled program in its process, whose clock can run faster. */
export interface PacedService {
  readonly pid: number;
  readonly url: string;
  /** Resolves when all scalers have ended their cycles of the next round, or at the round after it. */
  readonly roundOver: () => Promise<StartTimes>;
  readonly figures: () => Promise<PaceFigures>;
  readonly reset: (watchesDelay: boolean) => void;
  readonly order: (order: PaceOrder) => Promise<void>;
  /** The highest RSS since the start or the last call. */
  readonly takePeakBytes: () => number;
  /** Lines of the log, which holds warnings and errors only. */
  readonly log: () => readonly string[];
  readonly stop: () => Promise<void>;
}

const CLI = fileURLToPath(new URL('../../../../dist/bundle/main.js', import.meta.url));

/** `scalers`: how many documents the config leads to. */
export function startPacedService(options: {
  readonly configFile: string;
  readonly logFile: string;
  readonly port: number;
  readonly scalers: number;
  readonly nodeFlags: readonly string[];
  /** The profile that begins with the process; null: none. */
  readonly profilesStart: ProfileKind | null;
  readonly signal: AbortSignal;
}): PacedService {
  const { configFile, logFile, port, scalers, nodeFlags, profilesStart, signal } = options;
  const log = openSync(logFile, 'w');
  const child = spawn(
    process.execPath,
    [...paceFlags(scalers, profilesStart), ...IMAGE_FLAGS, ...nodeFlags, CLI, 'run', '--config', configFile],
    {
      stdio: ['ignore', log, log, 'ipc'],
      env: { ...process.env, ...IMAGE_ENV, POD_NAMESPACE: 'promscaler' },
    },
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

  return {
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${port}`,
    roundOver: async () => (await next('round-over')).start,
    figures: async () => {
      const reply = next('figures');
      send({ type: 'figures' });
      return (await reply).figures;
    },
    reset: (watchesDelay) => send({ type: 'reset', watchesDelay }),
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
