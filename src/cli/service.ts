import { setMaxListeners } from 'node:events';
import type { ServiceConfig } from '../config/service-config.js';
import { createController } from '../control/controller.js';
import { runCycle } from '../control/cycle.js';
import { eventsOf } from '../control/events.js';
import { alwaysLeads } from '../control/leadership.js';
import { metricObserver } from '../control/observe-metrics.js';
import type { CycleOutput } from '../control/ports.js';
import { createTurns } from '../control/turns.js';
import { snapshotToJson, decisionToJson } from '../decision/write-json.js';
import { createCluster } from '../kubernetes/cluster.js';
import type { RequestReport, Transport } from '../kubernetes/transport.js';
import type { Cluster } from '../kubernetes/types.js';
import { FAILURE_REASONS } from '../prometheus/answer.js';
import { createMetricSource, type MetricSourceOptions } from '../prometheus/planner.js';
import type { Scaler } from '../scaler/spec.js';
import { scalerKey } from '../scaler/spec.js';
import { createApp } from '../server/app.js';
import { startServer } from '../server/server.js';
import { createLedger } from '../telemetry/ledger.js';
import { factsFirst } from '../telemetry/log.js';
import type { Log } from '../telemetry/log.js';
import { createMetrics, createRegistry } from '../telemetry/metrics.js';
import type { Metrics } from '../telemetry/metrics.js';
import { createRecorder } from '../telemetry/recorder.js';
import type { Recorder } from '../telemetry/recorder.js';
import type { Clock } from '../units/clock.js';
import { VERSION } from './version.js';

/** The parts of a service, put together but not running. Only this file knows all of them. */
export interface Service {
  /** The present set of documents and how many errors the last reading found. */
  readonly setScalers: (scalers: readonly Scaler[], errors: number) => void;
  /** Serves and scales until `signal` is aborted, then ends what is under way. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface ServiceOptions {
  readonly config: ServiceConfig;
  /** Requests to the API server; each is to be reported. */
  readonly openTransport: (onRequest: (report: RequestReport) => void) => Transport;
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** How a data source is asked; over HTTP unless said otherwise. */
  readonly createClient?: MetricSourceOptions['createClient'];
  /** The pod's name, in Events. */
  readonly instance: string;
  /** Whether pages are served; yes unless said otherwise. In simulated time there are no sockets. */
  readonly serves?: boolean;
  /** Called after each cycle: for those who want to tell of it in another way. */
  readonly onCycle?: ((output: CycleOutput) => void) | undefined;
}

/** Builds clients, ledger, metrics, controller and server, and listens. Throws `ListenError` where it can't listen. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, clock, log, dryRun } = options;
  const ledger = createLedger();
  const sources = new Map(Object.entries(config.prometheus));
  const serves = options.serves ?? true;
  const metrics = createMetrics(createRegistry({ process: serves }), {
    ledger,
    version: VERSION,
    clock,
    sources: [...sources.keys()],
    failureReasons: FAILURE_REASONS,
  });
  // One process does all the work in this version: it always leads.
  metrics.setLeader(true);
  const recorder = createRecorder({ ledger, metrics, log });
  const cluster = createCluster({
    transport: options.openTransport(metrics.observeKubernetesRequest),
    namespaces: config.kubernetes.namespaces,
    clock,
    log: factsFirst(log),
    instance: options.instance,
  });
  const source = createMetricSource({
    sources,
    clock,
    onQuery: metrics.observeQuery,
    ...(options.createClient === undefined ? {} : { createClient: options.createClient }),
  });
  const observeMetrics = metricObserver({ sources, recoveryHoldMaxSeconds: config.recoveryHoldMaxSeconds });
  const leadership = alwaysLeads(options.instance);
  const takeTurn = createTurns(MAX_CHANGES_UNDER_WAY);
  const controller = createController({
    clock,
    isSynced: cluster.isSynced,
    follow: (scalers) => cluster.follow(scalers.map(targetOf)),
    startRound: source.startRound,
    runCycle: async (input) => {
      const output = await runCycle(input, { clock, cluster, observeMetrics, dryRun, leadership, takeTurn });
      try {
        tell(output, { recorder, cluster });
        options.onCycle?.(output);
      } catch (error) {
        // What was done must be remembered, even if it can't be told.
        log.error('a cycle could not be told of', { scaler: scalerKey(input.scaler), error });
      }
      return output;
    },
    onRound: tellRound(metrics),
    onFault: (scaler, error) =>
      log.error('a cycle failed by a fault of promscaler itself', { scaler: scalerKey(scaler), error }),
    onRemoved: recorder.remove,
  });
  const app = createApp({
    ailments: () => [],
    waitingFor: () =>
      cluster.isSynced() ? [] : ['the pods and targets of the cluster have not been listed yet'],
    metrics,
    api: { ledger, writeSnapshot: snapshotToJson, writeDecision: decisionToJson },
    onError: (error, path) => log.error('a page failed', { path, error }),
  });
  const server = serves ? await startServer({ app, port: config.server.port, clock }) : null;
  if (server !== null) log.info('listening', { url: server.url });
  return {
    setScalers: (scalers, errors) => {
      controller.setScalers(scalers);
      metrics.recordReload(errors);
    },
    run: async (signal) => {
      // Every query and request under way listens to it, which is no leak: Node would warn of the eleventh.
      setMaxListeners(0, signal);
      const ending = new AbortController();
      setMaxListeners(0, ending.signal);
      const watching = cluster.run(ending.signal);
      try {
        await controller.run(signal);
      } finally {
        ending.abort();
        await Promise.all([server?.close(), watching]);
      }
    },
  };
}

/** Changes of replicas that may be under way at once, over all scalers. */
const MAX_CHANGES_UNDER_WAY = 10;

function targetOf({ namespace, spec }: Scaler): { namespace: string; ref: Scaler['spec']['scaleTargetRef'] } {
  return { namespace, ref: spec.scaleTargetRef };
}

function tell(
  { record, target }: CycleOutput,
  { recorder, cluster }: { readonly recorder: Recorder; readonly cluster: Cluster },
): void {
  const { before } = recorder.record(record);
  if (target === null) return;
  const standing = before === null ? null : { conditions: before.conditions, outcome: before.record.outcome };
  for (const event of eventsOf(standing, record)) cluster.recordEvent(target, event);
}

function tellRound(metrics: Metrics): (round: { latenessSeconds: number; missed: number }) => void {
  return ({ latenessSeconds, missed }) => {
    metrics.observeLateness(latenessSeconds);
    if (missed > 0) metrics.countMissedRounds(missed);
  };
}
