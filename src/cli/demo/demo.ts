import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MissingPartError } from '../../parts/context.js';
import { findPrometheus } from '../../parts/find-part.js';
import { freePort } from '../../parts/free-port.js';
import { startPrometheus } from '../../parts/prometheus-server.js';
import type { RunningPrometheus } from '../../parts/prometheus-server.js';
import type { Curve } from '../../simulator/model/curves.js';
import { parseTrace, traceCurve } from '../../simulator/model/trace.js';
import { startSimulator } from '../../simulator/simulator.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { CommandIo, ExitCode } from '../io.js';
import { CommandError } from '../io.js';
import { runService } from '../run.js';
import { demoDocuments, demoPrometheusConfig, demoServiceConfig } from './documents.js';
import { createNarrator } from './narrate.js';
import { readDemoOptions } from './options.js';
import type { DemoOptions, DemoSettings } from './options.js';
import { DEMO_NAMESPACE, demoStateMaps, demoWorkloads, SERVICE_NAMESPACE } from './workloads.js';

/** The parts that the demo has started and must end, whatever happens. */
interface Stage {
  readonly folder: string;
  readonly simulator: Simulator;
  readonly prometheus: RunningPrometheus;
}

/**
 * `demo`: an embedded cluster, a real Prometheus and the service together, from start to stop. Tells every change of
 * replicas; leaves no process and no folder behind.
 */
export async function runDemo(options: DemoOptions, io: CommandIo): Promise<ExitCode> {
  const settings = readDemoOptions(options, io.stdout.isTerminal);
  const trace = settings.traceFile === null ? null : await readTrace(settings.traceFile, io);
  const binary = await findBinary(io);
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-demo-'));
  const { clock, env } = io;
  try {
    const simulator = await startSimulator({ clock, workloads: demoWorkloads(settings.speed, trace) });
    try {
      for (const manifest of demoStateMaps()) simulator.addObject(manifest);
      const config = demoPrometheusConfig(simulator.sdUrl);
      const prometheus = await startPrometheus({ binary, config, env, clock });
      try {
        return await play({ folder, simulator, prometheus }, settings, io);
      } finally {
        await prometheus.stop();
      }
    } finally {
      await simulator.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function findBinary(io: CommandIo): Promise<string> {
  const report = (text: string): void => io.stderr.write(`${text}\n`);
  try {
    return await findPrometheus({ env: io.env, clock: io.clock, report });
  } catch (error) {
    if (error instanceof MissingPartError) throw new CommandError(error.message);
    throw error;
  }
}

async function readTrace(file: string, io: CommandIo): Promise<Curve> {
  try {
    return traceCurve(parseTrace(await readFile(resolve(io.cwd, file), 'utf8')));
  } catch (error) {
    throw new CommandError(`--trace ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function play(stage: Stage, settings: DemoSettings, io: CommandIo): Promise<ExitCode> {
  const port =
    settings.port === null || settings.port === 0
      ? await freePort(settings.port ?? DEFAULT_PORT)
      : settings.port;
  const configFile = await writeFiles(stage, settings.speed, port);
  io.stdout.write(introduction(stage, settings, port));
  const narrator = createNarrator(io.stdout, io.clock.now());
  const stop = new AbortController();
  const end = (): void => stop.abort();
  io.signal.addEventListener('abort', end);
  if (io.signal.aborted) end();
  const { durationSeconds } = settings;
  const forget = durationSeconds === null ? end : io.clock.after(durationSeconds * 1000, end);
  const lost: string[] = [];
  void stage.prometheus.ended.then((why) => {
    if (!stop.signal.aborted) lost.push(why);
    end();
  });
  try {
    const demoIo = { ...io, env: { ...io.env, POD_NAMESPACE: SERVICE_NAMESPACE }, signal: stop.signal };
    const exitCode = await runService(
      { configFile, dryRun: false, strict: true, onCycle: narrator.tell },
      demoIo,
    );
    io.stdout.write(`\nThe demo has ended: ${narrator.changes()} changes of replicas.\n`);
    if (lost.length > 0) throw new CommandError(`Prometheus has ended by itself: ${lost.join('')}`);
    return exitCode;
  } finally {
    forget();
    io.signal.removeEventListener('abort', end);
  }
}

const DEFAULT_PORT = 8080;

async function writeFiles(
  { folder, simulator, prometheus }: Stage,
  speed: number,
  port: number,
): Promise<string> {
  const scalers = join(folder, 'scalers');
  await mkdir(scalers);
  for (const [name, text] of demoDocuments(speed)) await writeFile(join(scalers, name), text);
  const configFile = join(folder, 'promscaler.yaml');
  const addresses = { prometheusUrl: prometheus.url, kubernetesUrl: simulator.url, port, speed };
  await writeFile(configFile, demoServiceConfig(addresses));
  return configFile;
}

function introduction(
  { folder, simulator, prometheus }: Stage,
  settings: DemoSettings,
  port: number,
): string {
  const end = settings.durationSeconds === null ? 'Ctrl-C' : `${settings.durationSeconds} s or Ctrl-C`;
  return `promscaler demo, ${settings.speed} times as fast as life, until ${end}.

A simulated cluster, a real Prometheus that scrapes its pods, and the service as \`promscaler run\` starts it:
  checkout  Deployment   cpu at 60 % of the requests
  search    StatefulSet  20 requests per second for each pod
  mailer    Deployment   30 waiting messages for each pod, with CHPA's windows

To look further, from another terminal:
  kubectl --server ${simulator.url} -n ${DEMO_NAMESPACE} get deployments -w
  kubectl --server ${simulator.url} -n ${DEMO_NAMESPACE} describe deployment checkout
  promscaler status --url http://127.0.0.1:${port}            in a checkout: node dist/cli/main.js status ...
  promscaler explain ${DEMO_NAMESPACE}/checkout --url http://127.0.0.1:${port}
  curl http://127.0.0.1:${port}/metrics
  curl http://127.0.0.1:${port}/api/v1/scalers/${DEMO_NAMESPACE}/checkout
  ${prometheus.url}/graph                           Prometheus' own page
  ${join(folder, 'scalers')}    the documents: edit one, it is picked up

`;
}
