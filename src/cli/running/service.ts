import type { ObjectVerdict } from '../../config/object-set.js';
import type { ServiceConfig } from '../../config/service-config.js';
import { createController } from '../../control/controller.js';
import { runCycle } from '../../control/cycle.js';
import { eventsOf } from '../../control/record/kubernetes-events.js';
import { createDeletionCosts } from '../../control/deletion-costs/deletion-costs.js';
import { metricObserver } from '../../control/observe/observe-metrics.js';
import type { CycleOutput } from '../../control/ports.js';
import { snapshotToJson, decisionToJson } from '../../decision/write-json.js';
import { createCluster } from '../../kubernetes/cluster.js';
import type { RequestReport, Transport } from '../../kubernetes/requests/transport.js';
import type { ScalerStore } from '../../kubernetes/scaler-objects/scaler-store.js';
import type { Cluster, FollowedTarget } from '../../kubernetes/types.js';
import { FAILURE_REASONS } from '../../prometheus/answer.js';
import { createMetricSource, type MetricSourceOptions } from '../../prometheus/planner.js';
import { type Problem, countErrors } from '../../scaler/problems/problem.js';
import { scalerKey, type Scaler } from '../../scaler/spec.js';
import { createApp } from '../../server/app.js';
import { createEventStreams } from '../../server/event-streams.js';
import { startServer } from '../../server/server.js';
import type { OutcomeKind } from '../../telemetry/cycle-record.js';

import type { Log } from '../../units/log.js';
import { createMetrics, createRegistry, type Metrics } from '../../telemetry/metrics.js';
import { createRecorder, type Recorder } from '../../telemetry/recorder.js';
import { createRecords } from '../../telemetry/records.js';
import { watchSourceClocks } from '../../telemetry/source-clocks.js';
import { onAbort } from '../../units/abort.js';
import { endedWithin } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import { createSemaphore } from '../../units/semaphore.js';
import { createCustomResources } from './custom-resources.js';
import { openElection } from './open-election.js';
import { openState } from './open-state.js';
import type { OwnObjects } from './own-objects.js';
import { VERSION } from '../version.js';

/** The parts of a service, put together but not running. Only this file knows all of them. */
export interface Service {
  /** The present set of documents, what the last reading found wrong, and what became of each scaler object. */
  readonly setScalers: (
    scalers: readonly Scaler[],
    problems: readonly Problem[],
    verdicts?: ReadonlyMap<string, ObjectVerdict>,
  ) => void;
  /**
   * Serves, and scales while it leads, until `signal` is aborted; then ends what is under way. Throws
   * `ElectionRefusedError` where the Lease is forbidden.
   */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface ServiceOptions extends OwnObjects {
  readonly config: ServiceConfig;
  /** Requests to the API server; each is to be reported. */
  readonly openTransport: (
    onRequest: (report: RequestReport) => void,
    onServerNames: (names: readonly string[]) => void,
  ) => Transport;
  /** Whether this process runs in a pod: it then listens on all addresses unless the config says otherwise. */
  readonly isInCluster?: boolean;
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Filled while the service runs; null, or left out: documents are files alone. */
  readonly scalerStore?: ScalerStore | null;
  /** How a data source is asked; over HTTP unless said otherwise. */
  readonly createClient?: MetricSourceOptions['createClient'];
  /** The pod's name, in Events and in the Lease. */
  readonly instance: string;
  /** Whether pages are served; yes unless said otherwise. In simulated time there are no sockets. */
  readonly serves?: boolean;
  /** Called after each cycle: for those who want to tell of it in another way. */
  readonly onCycle?: ((output: CycleOutput) => void) | undefined;
}

/** Builds clients, ledger, metrics, controller and server, and listens. Throws `ListenError` where it can't listen. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, clock, log, dryRun } = options;
  const serves = options.serves ?? true;
  const records = createRecords(clock, { hasReaders: serves });
  const { ledger, feed } = records;
  const sources = new Map(Object.entries(config.prometheus));
  const metrics = createMetrics(createRegistry({ process: serves }), {
    ledger,
    version: VERSION,
    clock,
    sources: [...sources.keys()],
    failureReasons: FAILURE_REASONS,
  });
  const recorder = createRecorder({ ...records, metrics, log });
  let apiServerNames: readonly string[] = [];
  const transport = options.openTransport(
    metrics.observeKubernetesRequest,
    (names) => (apiServerNames = names),
  );
  const cluster = createCluster({
    transport,
    namespaces: config.kubernetes.namespaces,
    clock,
    log,
    instance: options.instance,
  });
  const tellClock = watchSourceClocks(log);
  const source = createMetricSource({
    sources,
    clock,
    onQuery: (report) => {
      metrics.observeQuery(report);
      if (report.clockAheadSeconds !== null) tellClock(report.source, report.clockAheadSeconds);
    },
    seeksDuplicates: true,
    onDuplicates: metrics.setDuplicates,
    onRecognized: ({ name, flavor }) =>
      log.warn('a data source is recognized by its answers only; set its flavor', {
        source: name,
        set: `prometheus.${name}.flavor: ${flavor}`,
      }),
    ...(options.createClient === undefined ? {} : { createClient: options.createClient }),
  });
  const observeMetrics = metricObserver({ sources, recoveryHoldMaxSeconds: config.recoveryHoldMaxSeconds });
  const changes = createSemaphore(MAX_CHANGES_UNDER_WAY);
  const election = openElection(options, { transport, metrics, isIdle: () => changes.held() === 0 });
  const state = openState(options, transport, election);
  const resources = createCustomResources({
    store: options.scalerStore ?? null,
    transport,
    clock,
    log,
    lastOf: ledger.get,
    leadership: election,
    dryRun,
  });
  const deletionCosts = createDeletionCosts({
    clock,
    podCosts: cluster.podCosts,
    leadership: election,
    log,
    dryRun,
  });
  const takeTurn = async (): Promise<() => void> => {
    const done = await changes.acquire();
    await election.untilSteady();
    return done;
  };
  const controller = createController({
    clock,
    isSynced: cluster.isSynced,
    follow: (scalers) => cluster.follow(scalers.map((scaler) => targetOf(scaler, dryRun))),
    startRound: source.startRound,
    runCycle: async (input) => {
      const output = await runCycle(input, {
        clock,
        cluster,
        observeMetrics,
        dryRun,
        leadership: election,
        state,
        deletionCosts,
        takeTurn,
      });
      try {
        // The queries of a term that is over were canceled: that is no failure to tell of, only a change is.
        if (input.signal.aborted && !CHANGES.has(output.record.outcome.kind)) return output;
        tell(output, { recorder, cluster });
        options.onCycle?.(output);
      } catch (error) {
        // What was done must be remembered, even if it can't be told.
        log.error('a cycle could not be told of', { scaler: scalerKey(input.scaler), error });
      }
      // It was under way when the term ended: what it leaves is the log, not a row that another replica shows, too.
      if (!election.isLeading()) recorder.remove(scalerKey(input.scaler));
      return output;
    },
    onRound: tellRound(metrics),
    onFault: (scaler, error) =>
      log.error('a cycle failed by a fault of promscaler itself', { scaler: scalerKey(scaler), error }),
    onClockSet: (seconds) =>
      log.warn('the clock was set; windows go on as if it had not been', { seconds: Math.round(seconds) }),
    onRemoved: recorder.remove,
  });
  let documentProblems: readonly Problem[] = [];
  const streams = createEventStreams({ feed, clock });
  let connections = 0;
  const app = createApp({
    ailments: election.ailments,
    waitingFor: () => [
      ...(cluster.isSynced() ? [] : ['the pods and targets of the cluster have not been listed yet']),
      ...resources.waitingFor(),
    ],
    metrics,
    api: {
      ...records,
      streams,
      writeSnapshot: snapshotToJson,
      writeDecision: decisionToJson,
      version: VERSION,
      isLeading: election.isLeading,
      problems: () => documentProblems,
    },
    clock,
    hosts: { allowed: config.server.allowedHosts, apiServerNames: () => apiServerNames },
    connections: () => connections,
    onError: (error, path) => log.error('a page failed', { path, error }),
  });
  const host = config.server.host ?? (options.isInCluster === true ? undefined : LOOPBACK);
  const onConnection = (): void => void (connections += 1);
  const listening = { app, host, port: config.server.port, clock, onConnection };
  const server = serves ? await startServer(listening) : null;
  if (server !== null) log.info('listening', { url: server.url });
  const lead = async (signal: AbortSignal): Promise<void> => {
    const telling = resources.lead(signal);
    try {
      await state.reload();
      await controller.run(signal);
    } finally {
      await telling;
      await endedWithin(clock, FLUSH_MS, state.flush());
      for (const { key } of [...ledger.list()]) recorder.remove(key);
    }
  };
  return {
    setScalers: (scalers, problems, verdicts) => {
      documentProblems = problems;
      const errors = countErrors(problems);
      resources.setVerdicts(verdicts ?? new Map());
      state.setKnown(scalers);
      controller.setScalers(scalers);
      metrics.recordReload(errors);
      feed.publish({ type: 'reload', at: clock.now(), scalers: scalers.length, errors });
    },
    run: async (signal) => {
      // Whoever watches learns at once that the service stops, not when its last change is done.
      onAbort(signal, streams.close);
      const ending = new AbortController();
      const watching = Promise.all([cluster.run(ending.signal), resources.watch(ending.signal)]);
      try {
        await election.run(signal, lead);
      } finally {
        ending.abort();
        await Promise.all([server?.close(), watching]);
      }
    },
  };
}

/** What came of a decision that has reached the API server. */
const CHANGES: ReadonlySet<OutcomeKind> = new Set(['patched', 'replaced', 'failed']);

/** Outside of a cluster nobody else on the network is to read what is scaled. */
const LOOPBACK = '127.0.0.1';

/** How long the end waits for state to be stored: where it can't be, the next start finds the intents. */
const FLUSH_MS = 3000;

/** Changes of replicas that may be under way at once, over all scalers. */
const MAX_CHANGES_UNDER_WAY = 10;

function targetOf({ namespace, spec }: Scaler, dryRun: boolean): FollowedTarget {
  return { namespace, ref: spec.scaleTargetRef, isDryRun: dryRun || spec.dryRun };
}

function tell(
  { record, target }: CycleOutput,
  { recorder, cluster }: { readonly recorder: Recorder; readonly cluster: Cluster },
): void {
  const { before } = recorder.record(record);
  if (target === null) return;
  const standing = before === null ? null : { ...before.record, conditions: before.conditions };
  for (const event of eventsOf(standing, record)) cluster.recordEvent(target, event);
}

function tellRound(metrics: Metrics): (round: { latenessSeconds: number; missed: number }) => void {
  return ({ latenessSeconds, missed }) => {
    metrics.observeLateness(latenessSeconds);
    if (missed > 0) metrics.countMissedRounds(missed);
  };
}
