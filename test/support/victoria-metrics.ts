import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { startChild } from '../../src/cli/demo/programs/child-process.js';
import { findVictoriaMetrics } from '../programs/find-programs.js';
import { freePort } from '../../src/cli/demo/programs/prometheus-server.js';
import { sleep } from '../../src/units/clock.js';

/** A single-node VictoriaMetrics on 127.0.0.1. */
export interface RunningVictoriaMetrics {
  readonly url: string;
  readonly port: number;
  /** Resolves when earlier writes can be queried. */
  readonly flush: () => Promise<void>;
  /** Sends SIGKILL and deletes the data, unless the directory was given. */
  readonly kill: () => Promise<void>;
  /** Sends a signal: SIGSTOP suspends, SIGCONT resumes, SIGKILL crashes. */
  readonly signal: (name: NodeJS.Signals) => void;
  /** Resolves when the process has exited. Never rejects. */
  readonly ended: Promise<string>;
}

const READY_TIMEOUT_MS = 20_000;
const PROBE_INTERVAL_MS = 20;

/**
 * Starts the one on the PATH or of Debian; ready in about 0.1 s. `port` 0: any free one. `folder`: default: a new one.
 */
export async function startVictoriaMetrics({
  port: wanted = 0,
  args = ['-search.latencyOffset=0s'],
  folder,
}: {
  readonly port?: number;
  readonly args?: readonly string[];
  readonly folder?: string;
} = {}): Promise<RunningVictoriaMetrics> {
  const [env, clock] = [process.env, SYSTEM_CLOCK];
  const file = await findVictoriaMetrics({ env, clock });
  const port = wanted === 0 ? await freePort() : wanted;
  const directory = folder ?? (await mkdtemp(join(tmpdir(), 'promscaler-victoria-metrics-')));
  const url = `http://127.0.0.1:${port}`;
  const child = startChild({
    title: 'VictoriaMetrics',
    file,
    args: [
      `-storageDataPath=${join(directory, 'data')}`,
      `-httpListenAddr=127.0.0.1:${port}`,
      '-retentionPeriod=1',
      '-loggerLevel=ERROR',
      // Otherwise a cached query hides samples that were written after it.
      '-search.disableCache',
      ...args,
    ],
    env,
    clock,
  });
  const kill = async (): Promise<void> => {
    child.signal('SIGKILL');
    await child.ended;
    if (folder === undefined) await rm(directory, { recursive: true, force: true });
  };
  const startMs = clock.monotonicMs();
  while (!(await isReady(url))) {
    if (child.endedSignal.aborted) throw new Error(await child.ended);
    if (clock.monotonicMs() - startMs > READY_TIMEOUT_MS) throw new Error('VictoriaMetrics is not ready');
    await sleep(clock, PROBE_INTERVAL_MS, child.endedSignal);
  }
  return {
    url,
    port,
    flush: async () => {
      await fetch(`${url}/internal/force_flush`);
    },
    kill,
    signal: child.signal,
    ended: child.ended,
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}

interface Vector {
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [number, string];
    }[];
  };
}

/**
 * Runs an instant query at a time, and returns the values by their sorted labels without the name:
 * `container=app,pod=a` -> 1.
 */
export async function askAt(
  url: string,
  query: string,
  seconds: number,
): Promise<Readonly<Record<string, number>>> {
  const form = new URLSearchParams({ query, time: String(seconds), nocache: '1' });
  const response = await fetch(`${url}/api/v1/query`, { method: 'POST', body: form });
  const { data, error } = (await response.json()) as Vector;
  if (data === undefined) throw new Error(`${query}: ${error ?? response.status}`);
  return Object.fromEntries(
    data.result.map(({ metric, value }) => {
      const labels = Object.entries(metric)
        .filter(([label]) => label !== '__name__')
        .sort();
      return [labels.map(([label, text]) => `${label}=${text}`).join(','), Number(value[1])];
    }),
  );
}
