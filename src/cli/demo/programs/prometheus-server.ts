import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createServer } from 'node:net';
import { sleep, withDeadline, type Clock } from '../../../units/clock.js';
import { startChild, type Child, type Environment } from './child-process.js';

export interface PrometheusOptions {
  /** Path of the program, see `findPrometheus`. */
  readonly binary: string;
  readonly config: string;
  readonly env: Environment;
  readonly clock: Clock;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** Directory for config and data. Existing data is used. Default: a new directory. */
  readonly directory?: string;
  /** Further flags, such as `--web.enable-remote-write-receiver`. */
  readonly args?: readonly string[];
}

/** A Prometheus on 127.0.0.1 that is ready for queries. */
export interface RunningPrometheus {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  readonly directory: string;
  /** Resolves when the process has exited, with a sentence about the exit that quotes its last lines. Never rejects. */
  readonly ended: Promise<string>;
  /** Sends SIGTERM, and SIGKILL after 5 s. Removes the directory unless `keepData` is set. */
  readonly stop: (options?: { readonly keepData: boolean }) => Promise<void>;
  /** Sends a signal: SIGHUP reloads the config, SIGSTOP suspends, SIGCONT resumes, SIGKILL crashes. */
  readonly signal: (name: NodeJS.Signals) => void;
}

const READY_TIMEOUT_MS = 30_000;
const PROBE_TIMEOUT_MS = 2000;
const PROBE_INTERVAL_MS = 25;
const PORT_ATTEMPTS = 3;

/**
 * Starts Prometheus and resolves when it is ready, which takes about 0.1 s with an empty directory. Throws an `Error`
 * if it exits before it is ready (with its last lines, if it failed), or is not ready within 30 s; then also removes
 * the directory if it was created here.
 */
export async function startPrometheus(options: PrometheusOptions): Promise<RunningPrometheus> {
  const { port = 0 } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(options, port === 0 ? await freePort() : port);
    } catch (error) {
      // Tries another port, because a program may have taken this port after it was found to be free.
      const isTaken = error instanceof Error && error.message.includes('address already in use');
      if (!isTaken || port !== 0 || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function startOnce(options: PrometheusOptions, port: number): Promise<RunningPrometheus> {
  const { clock } = options;
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'promscaler-prometheus-')));
  const url = `http://127.0.0.1:${port}`;
  const child = await launch(options, directory, port);
  const end = async (keep: boolean): Promise<void> => {
    await child.stop();
    if (!keep) await rm(directory, { recursive: true, force: true });
  };
  try {
    await waitUntilReady(clock, child, { url, data: dataDirectory(directory) });
  } catch (error) {
    await end(options.directory !== undefined);
    throw error;
  }
  return {
    pid: child.pid,
    url,
    port,
    directory,
    ended: child.ended,
    signal: child.signal,
    stop: ({ keepData } = { keepData: false }) => end(keepData),
  };
}

function dataDirectory(directory: string): string {
  return join(directory, 'data');
}

async function launch(options: PrometheusOptions, directory: string, port: number): Promise<Child> {
  const config = join(directory, 'prometheus.yml');
  await mkdir(directory, { recursive: true });
  await writeFile(config, options.config);
  return startChild({
    title: 'Prometheus',
    file: options.binary,
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${dataDirectory(directory)}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
      ...(options.args ?? []),
    ],
    env: options.env,
    clock: options.clock,
  });
}

async function waitUntilReady(
  clock: Clock,
  child: Child,
  place: { url: string; data: string },
): Promise<void> {
  const start = clock.monotonicMs();
  while (!child.endedSignal.aborted) {
    const isReady = (await read(clock, `${place.url}/-/ready`)) !== null;
    // Another Prometheus may answer on this port, so the data directory is compared as well.
    const flags = isReady ? await read(clock, `${place.url}/api/v1/status/flags`) : null;
    if (flags?.includes(JSON.stringify(place.data)) === true) return;
    const waitedMs = clock.monotonicMs() - start;
    if (waitedMs >= READY_TIMEOUT_MS) throw new Error(`Prometheus is not ready after ${READY_TIMEOUT_MS} ms`);
    await sleep(clock, PROBE_INTERVAL_MS, child.endedSignal);
  }
  throw new Error(await child.ended);
}

/** Returns the body of a response with status 200; null: there is none, for example because nothing listens yet. */
async function read(clock: Clock, url: string): Promise<string | null> {
  try {
    return await withDeadline(clock, { ms: PROBE_TIMEOUT_MS }, async (signal) => {
      const probe = request(url, { signal, agent: false }).end();
      const [response] = (await once(probe, 'response')) as [IncomingMessage];
      const body = await text(response);
      return response.statusCode === 200 ? body : null;
    });
  } catch {
    return null;
  }
}

/**
 * Returns a free port of 127.0.0.1: `preferred`, or another port if `preferred` is in use. The caller must be able to
 * try again, because another program may take the port first.
 */
export async function freePort(preferred = 0): Promise<number> {
  const { port, release } = await reservePort(preferred);
  await release();
  return port;
}

export interface ReservedPort {
  readonly port: number;
  /** Frees the port, right before another server listens on it. A second call does nothing. */
  readonly release: () => Promise<void>;
}

/**
 * Listens on a free port of 127.0.0.1, so that no other program takes it: `preferred`, or another port if `preferred`
 * is in use. Connections are closed at once. The process can exit before `release`.
 */
export async function reservePort(preferred = 0): Promise<ReservedPort> {
  const server = createServer((socket) => socket.destroy()).unref();
  try {
    server.listen(preferred, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if (preferred !== 0) return reservePort();
    throw error;
  }
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the system returned no free port');
  const release = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  return { port: address.port, release };
}
