import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createService } from '../../../src/service/service.js';
import { readServiceConfig, serviceFacts } from '../../../src/config/read-service-config.js';
import { createScalerFiles } from '../../../src/config/scaler-files.js';
import { findConnection } from '../../../src/kubernetes/access/connection.js';
import { createTransport } from '../../../src/kubernetes/requests/transport.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { ManualClock, settle } from '../../support/manual-clock.js';
import { createApiServer } from './api-server.js';
import { configOf, writeDocuments } from './documents.js';
import { createMetricsServer } from './metrics-server.js';
import { listen } from './traffic.js';
import { createSimulationClock } from './simulation-clock.js';
import { createSimulation } from './simulation.js';
import { PERIOD_SECONDS } from './workloads.js';
import type { SimulationSize } from './workloads.js';

/** What the service has asked for since the last look, and what it holds now. */
export interface Counts {
  readonly requests: Readonly<Record<string, number>>;
  readonly queries: Readonly<Record<string, number>>;
  readonly cycles: number;
  readonly failures: number;
  readonly timers: number;
  /** Open connections, as the servers see them. */
  readonly connections: { readonly api: number; readonly metrics: number };
  /** Listeners of all abort signals that are still in use. */
  readonly abortListeners: number;
}

export interface CountsFixture {
  /** Lets rounds pass, each with what follows it. */
  readonly rounds: (count: number) => Promise<Counts>;
  /** Of this process, after garbage has been collected. */
  readonly heapBytes: () => number;
  readonly stop: () => Promise<void>;
}

/** The service in this process, in its own time, over sockets to the servers of the benchmark. */
export async function startCountsFixture(size: SimulationSize): Promise<CountsFixture> {
  const clock = new ManualClock('2026-03-01T00:00:00Z');
  const simulationClock = createSimulationClock(() => clock.now());
  const simulation = createSimulation(size, simulationClock);
  const api = createApiServer(simulation, simulationClock);
  // Decompression happens in threads, whose work this fixture cannot see.
  const metrics = createMetricsServer(simulation, simulationClock, false);
  const [kubernetesUrl, prometheusUrl] = [await listen(api.server), await listen(metrics.server)];
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-counts-'));
  const addresses = { kubernetesUrl, prometheusUrl, port: 0 };
  await writeDocuments(folder, size);
  const { config } = readServiceConfig(
    configOf(addresses),
    'promscaler.yaml',
    join(folder, 'promscaler.yaml'),
  );
  if (config === null) throw new Error('the config of the benchmark is invalid');
  const files = createScalerFiles({
    paths: config.scalers.paths,
    clock,
    read: { defaults: config.defaults, service: serviceFacts(config) },
  });
  const { scalers, problems } = await files.load();
  const connection = await findConnection({
    settings: { url: kubernetesUrl },
    env: {},
    home: null,
    clock,
    log: SILENT_LOG,
  });
  let cycles = 0;
  let failures = 0;
  const service = await createService({
    config,
    version: '1.0.0',
    clock,
    log: SILENT_LOG,
    dryRun: false,
    instance: 'bench',
    namespace: 'promscaler',
    electsLeader: true,
    keepsState: true,
    listens: false,
    openTransport: (onRequest) => createTransport({ connection, clock, onRequest }),
    onCycle: ({ record }) => {
      cycles += 1;
      if (record.decision === null) failures += 1;
    },
  });
  service.setScalers(scalers, problems);
  const signals = watchAbortListeners();
  const stop = new AbortController();
  const running = service.run(stop.signal);

  const isBusy = (): boolean => api.meter.inFlight() + metrics.meter.inFlight() > 0;
  /** Until nothing is asked and everything answered is read. */
  const quiet = async (): Promise<void> => {
    for (let calm = 0; calm < CALM_TURNS; calm += 1) {
      await settle(1);
      if (isBusy()) calm = 0;
    }
  };
  const total = (): { requests: Record<string, number>; queries: Record<string, number> } => ({
    requests: { ...api.meter.traffic().requests },
    queries: { ...metrics.meter.traffic().requests },
  });
  let before = { ...total(), cycles, failures };
  // Between two rounds: some cycles of a round end a moment after its start.
  let endMs = clock.monotonicMs() + (PERIOD_SECONDS * 1000) / 2;

  return {
    rounds: async (count) => {
      endMs += count * PERIOD_SECONDS * 1000;
      await quiet();
      while (clock.monotonicMs() < endMs) {
        clock.advance(Math.min(clock.nextMs ?? Infinity, endMs - clock.monotonicMs()));
        simulationClock.tick();
        await quiet();
      }
      const after = { ...total(), cycles, failures };
      const counts = {
        requests: grown(before.requests, after.requests),
        queries: grown(before.queries, after.queries),
        cycles: after.cycles - before.cycles,
        failures: after.failures - before.failures,
        timers: clock.pending,
        connections: { api: api.meter.connections(), metrics: metrics.meter.connections() },
        abortListeners: signals.count(),
      };
      before = after;
      return counts;
    },
    heapBytes: retainedBytes,
    stop: async () => {
      signals.stop();
      stop.abort();
      const ended = new AbortController();
      const over = running.finally(() => ended.abort());
      while (!ended.signal.aborted) {
        clock.advance(clock.nextMs ?? 0);
        await quiet();
      }
      await over;
      for (const { server } of [api, metrics]) {
        server.closeAllConnections();
        server.close();
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the size of the heap of this process without garbage. */
export function retainedBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What the first collection finalizes is freed by the second one.
  for (let times = 0; times < 3; times += 1) collect();
  return process.memoryUsage().heapUsed;
}

/** Turns of the event loop without a request: an answer takes some to be read. */
const CALM_TURNS = 30;

function grown(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const changed = Object.entries(after).map(([what, count]) => [what, count - (before[what] ?? 0)] as const);
  return Object.fromEntries(changed.filter(([, count]) => count > 0));
}

/** Counts what is added to abort signals and not removed, without those that were aborted. */
function watchAbortListeners(): { readonly count: () => number; readonly stop: () => void } {
  const held = new Map<AbortSignal, number>();
  const { prototype } = AbortSignal;
  // Called with the signal as `this` below.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const { addEventListener, removeEventListener } = prototype;
  const add = (signal: AbortSignal, change: number): void => {
    const count = (held.get(signal) ?? 0) + change;
    if (count > 0) held.set(signal, count);
    else held.delete(signal);
  };
  Object.assign(prototype, {
    addEventListener(this: AbortSignal, ...given: Parameters<typeof addEventListener>) {
      add(this, 1);
      addEventListener.apply(this, given);
    },
    removeEventListener(this: AbortSignal, ...given: Parameters<typeof removeEventListener>) {
      add(this, -1);
      removeEventListener.apply(this, given);
    },
  });
  return {
    count: () => Array.from(held).reduce((sum, [{ aborted }, count]) => sum + (aborted ? 0 : count), 0),
    stop: () => {
      // Inherited from EventTarget.
      Reflect.deleteProperty(prototype, 'addEventListener');
      Reflect.deleteProperty(prototype, 'removeEventListener');
    },
  };
}
