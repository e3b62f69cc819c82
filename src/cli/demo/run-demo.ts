import { onAbort } from '../../units/abort.js';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MissingProgramError } from './programs/find-program.js';
import { findPrometheus } from './programs/prometheus-release.js';
import { startPrometheus, type RunningPrometheus } from './programs/prometheus-server.js';
import { DEFAULT_START } from '../../backtest/simulation/load.js';
import { NODE_CORES } from '../../simulator/controllers/kinds.js';
import { startSimulator } from '../../simulator/simulator.js';
import { openTrace } from '../backtest/read-trace.js';
import { type CommandIo, type ExitCode, CommandError, type OutputStream } from '../output/io.js';
import { type Instant, secondsBetween } from '../../units/time.js';
import type { CycleOutput } from '../../control/cycle/types.js';
import { scalerKey } from '../../scaler/spec.js';
import { runService } from '../commands/run-service.js';
import { demoPrometheusConfig } from './documents.js';
import { currentDocuments, keepHistory, keptDirectory, offer, whyNoBacktest } from './keep-history.js';
import { createDemoLog, withLogFile } from './demo-log.js';
import { type RevivedPrometheus, revivedPrometheus, OUTAGE_SECONDS } from './revived-prometheus.js';
import { readDemoOptions, type DemoOptions, type DemoSettings } from './options.js';
import { type DemoSetup, setUpDemo, waitUntilScraped } from './set-up-demo.js';
import { atRest, DEMO_NAMESPACE, demoWorkloads, traceCurve, DEMO_SCALERS } from './workloads.js';
import { errorMessage } from '../../units/failure.js';
import { countOf } from '../../units/format.js';

/**
 * Runs the demo with an embedded cluster, a real Prometheus and the service. Prints each change of replicas. At its
 * end, no process and no directory is left.
 */
export async function runDemo(options: DemoOptions, io: CommandIo): Promise<ExitCode> {
  const settings = readDemoOptions(options, io.stdout.isTerminal);
  const trace =
    settings.traceFile === null ? null : traceCurve(await openTrace(settings.traceFile, DEFAULT_START, io));
  const binary = await findBinary(io);
  if (binary === null) return 0;
  io.stdout.write('Starting a simulated cluster, Prometheus and promscaler ...\n\n');
  if (io.signal.aborted) return 0;
  const directory = await mkdtemp(join(tmpdir(), 'promscaler-demo-'));
  let prometheus: RevivedPrometheus | null = null;
  const release = io.guard?.(() => {
    prometheus?.signal('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
  const { clock, env } = io;
  try {
    const workloads = demoWorkloads(settings.speed, trace);
    const simulator = await startSimulator({ clock, workloads: workloads.map(atRest) });
    try {
      const config = demoPrometheusConfig(simulator.sdUrl);
      // The directory is hidden, so that `validate` skips it.
      const own = join(directory, '.prometheus');
      const startAt = (port?: number): Promise<RunningPrometheus> =>
        startPrometheus({
          binary,
          config,
          env,
          clock,
          directory: own,
          ...(port === undefined ? {} : { port }),
        });
      prometheus = revivedPrometheus(await startAt(), { start: startAt, clock });
      try {
        const setup = await setUpDemo({ directory, simulator, prometheus }, settings);
        try {
          const start = (): void => {
            for (const workload of workloads) simulator.setLoad(workload, workload.load);
          };
          const documents = (): Promise<readonly string[]> =>
            currentDocuments(simulator, DEMO_NAMESPACE, join(directory, 'scalers'));
          return await runUntilEnd({ ...setup, start, documents }, settings, io);
        } finally {
          await setup.close();
        }
      } finally {
        await prometheus.stop();
      }
    } finally {
      await simulator.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
    release?.();
  }
}

/** Returns the path of Prometheus; null: the command was interrupted. */
async function findBinary(io: CommandIo): Promise<string | null> {
  const { env, clock, signal, stderr } = io;
  const report = (text: string): void => stderr.write(`${text}\n`);
  const progress = stderr.isTerminal ? (text: string): void => stderr.write(`\r\x1b[K${text}`) : undefined;
  try {
    return await findPrometheus({ env, clock, signal, report, progress });
  } catch (error) {
    if (signal.aborted) return null;
    if (error instanceof MissingProgramError) throw new CommandError(error.message);
    throw error;
  }
}

interface ReadyDemo extends DemoSetup {
  readonly start: () => void;
  readonly documents: () => Promise<readonly string[]>;
}

async function runUntilEnd(setup: ReadyDemo, settings: DemoSettings, io: CommandIo): Promise<ExitCode> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  onAbort(io.signal, end);
  if (io.signal.aborted) end();
  await waitUntilScraped(setup.prometheus.url, { clock: io.clock, signal: stop.signal });
  if (io.signal.aborted) return 0;
  const delayed = createDelayedOutput(
    io,
    introduction({ ...setup, prometheusPid: setup.prometheus.pid, command: io.command }, settings),
  );
  const log = createDemoLog({ ...io, stdout: delayed.stdout });
  setup.prometheus.follow((text) => {
    if (!stop.signal.aborted) log.printNews('Prometheus', text);
  });
  const { durationSeconds } = settings;
  const forget = durationSeconds === null ? end : io.clock.after(durationSeconds * 1000, end);
  let startedAt: Instant | null = null;
  try {
    const env = { ...io.env, POD_NAMESPACE: DEMO_NAMESPACE };
    const { configFile, logFile } = setup;
    const demoIo = { ...io, env, stderr: withLogFile(io.stderr, logFile), signal: stop.signal };
    const { printDocuments: onDocuments } = log;
    const onCycle = (output: CycleOutput): void => {
      log.printCycle(output);
      if (!delayed.noteCycle(scalerKey(output.record.scaler))) return;
      startedAt = io.clock.now();
      setup.start();
    };
    await setup.releasePort();
    const exitCode = await runService(
      { configFile, dryRun: false, strict: true, onCycle, onDocuments },
      demoIo,
    );
    delayed.release();
    io.stdout.write(`\nThe demo ended: ${countOf(log.changes(), 'change')} of replicas.\n`);
    await offerBacktest(setup, { startedAt, changes: log.changes(), settings }, io);
    return exitCode;
  } finally {
    forget();
    io.signal.removeEventListener('abort', end);
  }
}

async function offerBacktest(
  setup: ReadyDemo,
  {
    startedAt,
    changes,
    settings,
  }: { readonly startedAt: Instant | null; readonly changes: number; readonly settings: DemoSettings },
  io: CommandIo,
): Promise<void> {
  const { keepDirectory } = settings;
  const keptIn = keepDirectory === null ? keptDirectory(io) : resolve(io.cwd, keepDirectory);
  if (startedAt === null || keptIn === null) return;
  const why = whyNoBacktest(secondsBetween(startedAt, io.clock.now()), settings);
  if (why !== null) io.stdout.write(`${why}\n`);
  const isOffered = why === null && changes > 0;
  // A directory that the user has named gets the history in any case.
  if (!isOffered && keepDirectory === null) return;
  try {
    const { prometheusUrl } = setup;
    const documents = await setup.documents();
    const kept = await keepHistory({ prometheusUrl, start: startedAt, documents, directory: keptIn }, io);
    if (kept !== null && isOffered) io.stdout.write(offer(kept, io.command));
  } catch (error) {
    const why = errorMessage(error);
    io.stderr.write(`promscaler: warning: the history of the demo is not kept: ${why}\n`);
  }
}

/** Buffers the output until every scaler has made a decision. */
interface DelayedOutput {
  readonly stdout: OutputStream;
  /**
   * Called after each cycle of a scaler. Returns true once: when the last missing scaler has finished its first cycle.
   */
  readonly noteCycle: (scaler: string) => boolean;
  /** Prints the introduction and the buffered output. A second call does nothing. */
  readonly release: () => void;
}

function createDelayedOutput({ stdout }: Pick<CommandIo, 'stdout'>, introduction: string): DelayedOutput {
  let waiting: string[] | null = [];
  const seen = new Set<string>();
  const release = (): void => {
    const kept = waiting ?? [];
    if (waiting !== null) stdout.write(introduction);
    waiting = null;
    for (const text of kept) stdout.write(text);
  };
  return {
    stdout: {
      ...stdout,
      write: (text) => {
        if (waiting === null) stdout.write(text);
        else waiting.push(text);
      },
    },
    noteCycle: (scaler) => {
      seen.add(scaler);
      if (waiting === null || seen.size < DEMO_SCALERS) return false;
      release();
      return true;
    },
    release,
  };
}

interface IntroducedDemo {
  readonly directory: string;
  readonly kubeconfig: string;
  readonly configFile: string;
  readonly logFile: string;
  readonly serviceUrl: string;
  readonly prometheusUrl: string;
  readonly prometheusPid: number;
  /** The command with which the user started promscaler. */
  readonly command: string;
}

function introduction(demo: IntroducedDemo, { speed, durationSeconds }: DemoSettings): string {
  const { directory, kubeconfig, configFile, logFile, serviceUrl, prometheusUrl, prometheusPid, command } =
    demo;
  const end = durationSeconds === null ? 'with Ctrl-C' : `after ${durationSeconds} s or with Ctrl-C`;
  const kubectl = `kubectl --kubeconfig ${kubeconfig}`;
  const reach = `--kubeconfig ${kubeconfig}`;
  return `Dashboard: ${serviceUrl}/

promscaler demo, ${speed}x speed. It ends ${end}.

A simulated cluster, a real Prometheus that scrapes its pods, and the service as \`promscaler run\` starts it:
  checkout  Deployment   cpu at 60 % of the requests
  search    StatefulSet  20 requests per second per pod
  mailer    Deployment   30 waiting messages per pod, with a minimum time between two changes

Commands to try in another terminal:
  ${command} status ${reach}
  ${command} explain checkout ${reach}
  ${command} pause checkout --for 30s ${reach}
  ${command} resume checkout ${reach}
  ${command} doctor --config ${configFile}
  ${kubectl} get scalers
  ${kubectl} get deployments -w
  ${kubectl} describe deployment checkout
  curl ${serviceUrl}/metrics
  curl ${serviceUrl}/api/v1/scalers/shop/checkout

The scaler documents of checkout and search are objects in the cluster. The document of mailer is a file. Edit the documents:
  ${kubectl} edit scaler checkout
  ${join(directory, 'scalers', 'mailer.yaml')}

Without Prometheus, all replicas are held. Stop Prometheus (it is started again after ${OUTAGE_SECONDS} s):
  kill ${prometheusPid}

The node has ${NODE_CORES} cores. A pod that requests more does not start:
  ${kubectl} set resources statefulset search --requests=cpu=${NODE_CORES + 1} --limits=cpu=${NODE_CORES + 1}

Log of the service: ${logFile}
Prometheus UI: ${prometheusUrl}

`;
}
