import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { startChild } from '../../src/cli/demo/programs/child-process.js';
import { readPage, sumOf } from './exposition.js';
import { pause } from './pause.js';
import { statusOf } from './status-of.js';
import { allWorkloads } from './workloads.js';
import { CLI } from './report.js';

/** A service in its process, and the time from the start of the process to its decisions. */
export interface RunningService {
  readonly url: string;
  readonly pid: number;
  readonly firstDecisionSeconds: number;
  readonly lastDecisionSeconds: number;
  /** Cpu time of the process until then. */
  readonly startCpuSeconds: number;
  readonly stop: () => Promise<void>;
}

const POLL_MS = 40;
const LONGEST_START_MS = 30_000;

/**
 * The default of Node.js in a container with 1 GiB of memory, the limit of the chart. Without it, the memory of the
 * machine decides how late garbage is collected: 323 MB of RSS instead of 203 MB with 23 GiB.
 */
const CONTAINER_HEAP = '--max-old-space-size=512';

/** Starts the built CLI and resolves when all scalers have decided once. `nodeFlags`: for example `--cpu-prof`. */
export async function startService(options: {
  readonly configFile: string;
  readonly port: number;
  readonly nodeFlags: readonly string[];
  readonly signal: AbortSignal;
}): Promise<RunningService> {
  const startMs = performance.now();
  const child = startChild({
    title: 'the service',
    file: process.execPath,
    args: [CONTAINER_HEAP, ...options.nodeFlags, CLI, 'run', '--config', options.configFile],
    env: process.env,
    clock: SYSTEM_CLOCK,
  });
  const url = `http://127.0.0.1:${options.port}`;
  const decidedSeconds = async (workload: string): Promise<number> => {
    while (!child.endedSignal.aborted) {
      const status = await statusOf(`${url}/api/v1/scalers/${workload}`);
      const waitedMs = performance.now() - startMs;
      if (status === 200) return waitedMs / 1000;
      if (waitedMs > LONGEST_START_MS) throw new Error(`no decision after ${LONGEST_START_MS} ms`);
      await pause(POLL_MS, options.signal);
    }
    throw new Error(await child.ended);
  };
  try {
    const names = allWorkloads().map(({ namespace, name }) => `${namespace}/${name}`);
    const firstDecisionSeconds = await decidedSeconds(names.at(0) ?? '');
    const lastDecisionSeconds = await decidedSeconds(names.at(-1) ?? '');
    const startCpuSeconds = sumOf(await readPage(`${url}/metrics`), 'process_cpu_seconds_total');
    return {
      url,
      pid: child.pid,
      firstDecisionSeconds,
      lastDecisionSeconds,
      startCpuSeconds,
      stop: child.stop,
    };
  } catch (error) {
    await child.stop();
    throw error;
  }
}
