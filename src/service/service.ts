import type { ObjectVerdict } from '../config/read-objects.js';
import type { ServiceConfig } from '../config/resolve-service-config.js';
import { createChangeSlots } from '../control/cycle/change.js';
import { createClockWarnings, createOutages, dataSourceId } from '../telemetry/outages.js';
import { createController } from '../control/controller.js';
import { createDeletionCosts } from '../control/cycle/deletion-costs.js';
import type { CycleOutput, CyclePorts } from '../control/cycle/types.js';
import type { Shards } from '../control/election/leadership.js';
import { createRotatingFile } from '../files/rotating-file.js';
import { createCluster } from '../kubernetes/cluster.js';
import { bucketOf } from '../kubernetes/state/state-key.js';
import { createStateStore, stateInMemory, type StateStore } from '../kubernetes/state/state-store.js';
import type { RequestReport, Transport } from '../kubernetes/requests/transport.js';
import type { ScalerStore } from '../kubernetes/scaler-objects.js';
import type { MetricSourceOptions } from '../prometheus/metric-source.js';
import { shownQueries } from '../prometheus/queries/compile-queries.js';
import { invalidScalers, rejectionsOf } from '../telemetry/rejections.js';
import { countErrors, type Problem } from '../scaler/problems/problem.js';
import type { Scaler } from '../scaler/spec.js';
import type { Log } from '../units/log.js';
import { createNotifier } from '../notifications/notifier.js';
import { createDecisionRecord, type DecisionRecord } from '../recording/decision-record.js';
import { createMetrics, createRegistry, type Metrics } from '../telemetry/metrics.js';
import { buildEvent } from '../control/cycle/kubernetes-events.js';
import { createRecorder } from '../control/cycle/report.js';
import { earlierTimes } from '../control/status/stored-status.js';
import { createRecommendations, type RecommendationPorts } from '../recommendations/recommendations.js';
import { createRecords } from '../telemetry/records.js';
import { createServiceHealth } from '../telemetry/service-health.js';
import { onAbort } from '../units/abort.js';
import type { Clock } from '../units/clock.js';
import { createCustomResources, createEventSender } from './custom-resources.js';
import { type HttpOptions, openHttp } from './open-http.js';
import type { InvalidScaler } from '../telemetry/scaler-series.js';
import { type OnFault, openMetricSource } from './open-metric-source.js';
import { bucketOfKey, openShards } from './open-shards.js';
import type { OwnObjects } from './own-objects.js';
import { runTerm } from './run-term.js';

/** The service with all its parts. Only this file knows all parts. Before `run`, the service only listens. */
export interface Service {
  readonly setScalers: (
    scalers: readonly Scaler[],
    problems: readonly Problem[],
    verdicts?: ReadonlyMap<string, ObjectVerdict>,
  ) => void;
  /**
   * Serves HTTP, and scales while it is the leader, until `signal` is aborted. Then it finishes changes in flight.
   * Throws `ElectionRefusedError` if access to the Lease is forbidden.
   */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly countInternalError: () => void;
}

export interface ServiceOptions extends OwnObjects {
  readonly config: ServiceConfig;
  /** The version of promscaler, such as `1.2.3`. */
  readonly version: string;
  /**
   * Creates the client of the API server. The client reports each request, and the names in the server's certificate.
   */
  readonly openTransport: (
    onRequest: (report: RequestReport) => void,
    onServerNames: (names: readonly string[]) => void,
  ) => Transport;
  /** Whether the process runs in a pod, where it listens on all addresses by default. */
  readonly isInCluster?: boolean;
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The store of Scaler objects, which the service fills. Default: null, which means that documents are only in files.
   */
  readonly scalerStore?: ScalerStore | null;
  /** Default: a client over HTTP. */
  readonly createClient?: MetricSourceOptions['createClient'];
  /** Creates the client that reads histories for charts and forecasts. Default: a client over HTTP. */
  readonly createRangeClient?: HttpOptions['createRangeClient'];
  /** Default: back-tests run in a worker thread. */
  readonly backTest?: RecommendationPorts['backTest'];
  /** Default: the API does not know the files of documents. */
  readonly originOf?: HttpOptions['originOf'];
  readonly instance: string;
  /** The IP address of the pod, for other replicas. Default: 127.0.0.1 with sharding, otherwise none. */
  readonly podIp?: string | undefined;
  /** Whether to listen. Default: true; simulations, which have no sockets, set false. */
  readonly listens?: boolean;
  readonly onCycle?: ((output: CycleOutput) => void) | undefined;
}

/**
 * Creates the service and starts to listen. Throws `ListenError` if it cannot listen. Each part is created before the
 * parts that need it. If two parts need each other, the earlier part gets a function that is called only after
 * `createService`, such as `() => state`. The result of a query goes to metrics, health and outages (`onQuery`). The
 * result of a cycle goes to `reporting`: the recorder (ledger, feed, metrics, log, record of decisions) and Events.
 * `/metrics`, the HTTP API and the status of Scaler objects read the ledger.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, version, clock, log, dryRun } = options;
  const listens = options.listens ?? true;
  const records = createRecords(clock, {
    hasReaders: listens,
    earlierTimes: (key) => {
      const [namespace = '', name = ''] = key.split('/');
      return earlierTimes(options.scalerStore?.get(namespace, name)?.status ?? null);
    },
  });
  const { ledger, feed } = records;
  const sources = new Map(Object.entries(config.prometheus));
  const metrics = createMetrics(createRegistry({ process: listens }), {
    ledger,
    invalid: () => ownInvalid(),
    detail: config.metrics.detail,
    version,
    clock,
    sources: [...sources.keys()],
    receivers: Object.keys(config.notifications),
  });
  const outages = createOutages(sources, clock, log);
  const health = createServiceHealth(clock, [...sources.keys()], outages);
  const decisionRecord = openRecord(options, metrics);
  const recorder = createRecorder({ ...records, metrics, log, outages, onRecord: decisionRecord?.add });
  let apiServerNames: readonly string[] = [];
  const transport = options.openTransport(
    (request) => {
      metrics.observeKubernetesRequest(request);
      health.observeKubernetesRequest(request);
      outages.observeRequest(request);
    },
    (names) => (apiServerNames = names),
  );
  const cluster = createCluster({
    transport,
    namespaces: config.kubernetes.namespaces,
    clock,
    log,
    instance: options.instance,
    onHpaRemoved: ({ namespace, target }) => controller.decideSoon(namespace, target),
  });
  const clockWarnings = createClockWarnings(log);
  const onFault: OnFault = (message, error, facts = {}) => {
    metrics.countInternalError();
    log.error(message, { ...facts, error, ...(error instanceof Error ? { stack: error.stack } : {}) });
  };
  const source = openMetricSource(options, { sources, metrics, health, outages, clockWarnings, onFault });
  const slots = createChangeSlots(() => shards.untilSteady());
  let scalers: readonly Scaler[] = [];
  let invalid: readonly InvalidScaler[] = [];
  const ownInvalid = (): readonly InvalidScaler[] =>
    shards.isLeading() ? invalid.filter((one) => shards.serves(bucketOf(one))) : [];
  let address: string | null = null;
  const setOwnScalers = (): void => {
    const own = scalers.filter((scaler) => shards.serves(bucketOf(scaler)));
    source.setScalers(own);
    recommendations?.setScalers(own);
    controller.setScalers(own, scalers);
  };
  const shards = openShards(options, {
    transport,
    metrics,
    isIdle: () => slots.isIdle() && deletionCosts.isIdle(),
    state: () => state,
    onServed: setOwnScalers,
    address: () => address,
  });
  const state = openState(options, transport, shards);
  const resources = createCustomResources({
    store: options.scalerStore ?? null,
    transport,
    clock,
    log,
    lastOf: ledger.get,
    rejectedSince: ledger.rejectedSince,
    recordEvent: cluster.recordEvent,
    leadership: shards,
    isOwn: (key) => shards.serves(bucketOfKey(key)),
    dryRun,
  });
  const deletionCosts = createDeletionCosts({
    clock,
    podCosts: cluster.podCosts,
    track: (scaler, work) => shards.track(bucketOf(scaler), work),
    log,
    dryRun,
  });
  const reporting: CyclePorts['reporting'] = {
    recorder,
    sendEvent: createEventSender({ cluster, resources, records, clock }),
    isLeading: shards.isLeading,
    log,
    onEnd: health.endCycle,
    onCycle: options.onCycle,
  };
  const controller = createController({
    clock,
    isSynced: cluster.isSynced,
    isListing: cluster.isListing,
    follow: (scalers) =>
      cluster.follow(scalers.map(({ namespace, spec }) => ({ namespace, ref: spec.scaleTargetRef }))),
    startRound: source.startRound,
    cycle: {
      clock,
      cluster,
      recoveryHoldMaxSeconds: config.recoveryHoldMaxSeconds,
      dryRun,
      state,
      deletionCosts,
      takeSlot: slots.take,
      reporting,
    },
    shards,
    onRound: (round) => {
      health.startRound(round);
      outages.startRound();
      metrics.observeLateness(round.latenessSeconds);
      if (round.missed > 0) metrics.countMissedRounds(round.missed);
    },
    onFault: (scaler, error) => onFault('cycle failed: internal error', error, { scaler: scaler.key }),
    onClockSet: clockWarnings.wallClockSet,
    onRemoved: recorder.remove,
  });
  const recommendations =
    config.recommendations === null
      ? null
      : createRecommendations({
          config: config.recommendations,
          clock,
          log,
          historyOf: source.historyOf,
          backTest: options.backTest,
          isFailing: (name) => outages.since(dataSourceId(name)) !== null,
          keep: ledger.keepRecommendation,
          publish: ({ namespace, name }, message) =>
            feed.publish({ type: 'recommendation', at: clock.now(), namespace, name, message }),
          sendEvent: async ({ key, namespace, spec }, message, signal) => {
            const target = await cluster.readTarget(namespace, spec.scaleTargetRef, signal);
            reporting.sendEvent(target, buildEvent('ChangeRecommended', message), key);
          },
        });
  const notifier = createNotifier({
    receivers: Object.values(config.notifications),
    ...records,
    clock,
    log,
    counters: { count: metrics.countNotifications },
  });
  let documentProblems: readonly Problem[] = [];
  const http = listens
    ? await openHttp(options, {
        records,
        metrics,
        health,
        shards,
        transport,
        waitingFor: () => [
          ...(cluster.isSynced() ? [] : ['pods and targets are not listed yet']),
          ...resources.waitingFor(),
        ],
        problems: () => documentProblems,
        invalid: ownInvalid,
        generationsOf: resources.generationsOf,
        loadAhead: source.loadAhead,
        labelOf: resources.labelOf,
        queriesOf: (scaler) => shownQueries(scaler, sources),
        scalers: () => scalers,
        apiServerNames: () => apiServerNames,
        address: () => address,
      })
    : null;
  // Without sharding, a leader without `podIp` has no address for other replicas, so its standbys show no scalers.
  const ip = options.podIp ?? (config.sharding.enabled ? '127.0.0.1' : null);
  if (http !== null && ip !== null) address = `http://${ip.includes(':') ? `[${ip}]` : ip}:${http.port}`;
  const termPorts = {
    clock,
    // With sharding, the state of a bucket is read when this process acquires the bucket.
    reloadState: config.sharding.enabled ? () => Promise.resolve() : state.reload,
    runController: controller.run,
    pollStatuses: resources.pollStatuses,
    recommend: (term: AbortSignal) => recommendations?.run(term) ?? Promise.resolve(),
    flushState: state.flush,
    forgetScalers: () => {
      for (const { key } of [...ledger.list()]) recorder.remove(key);
    },
  };
  return {
    countInternalError: metrics.countInternalError,
    setScalers: (next, problems, verdicts) => {
      scalers = next;
      documentProblems = problems;
      const rejections = rejectionsOf(problems);
      ledger.setRejections(rejections, clock.now());
      invalid = invalidScalers(rejections, new Set(next.map(({ key }) => key)));
      const errors = countErrors(problems);
      resources.setVerdicts(verdicts ?? new Map());
      state.setKnown(scalers);
      setOwnScalers();
      metrics.recordReload(errors);
      feed.publish({ type: 'reload', at: clock.now(), scalers: scalers.length, errors });
    },
    run: async (signal) => {
      // Closes event streams at once: otherwise they would stay open until changes in flight have ended.
      if (http !== null) onAbort(signal, http.closeStreams);
      const ending = new AbortController();
      const watching = Promise.all([
        cluster.run(ending.signal),
        resources.watch(ending.signal),
        notifier.run(ending.signal),
      ]);
      try {
        await shards.run(signal, (term) => runTerm(termPorts, term));
      } finally {
        ending.abort();
        outages.stop();
        await Promise.all([http?.close(), watching, decisionRecord?.close()]);
      }
    },
  };
}

function openState(
  { keepsState, namespace, clock, log }: ServiceOptions,
  transport: Transport,
  shards: Shards,
): StateStore {
  if (keepsState) {
    const { leadershipOf } = shards;
    return createStateStore({ transport, namespace, clock, log, leadership: shards, leadershipOf });
  }
  log.info('state is not persisted: stabilization windows restart with the process');
  return stateInMemory();
}

/** Returns the decision record; null: decisions are not recorded. */
function openRecord(
  { config: { record }, version, clock, log }: ServiceOptions,
  metrics: Metrics,
): DecisionRecord | null {
  if (record === null) return null;
  const { path, which, maxFileBytes } = record;
  const { append } = createRotatingFile(path, record);
  const report = {
    countWritten: metrics.countRecorded,
    countDropped: metrics.countRecordDropped,
    countWriteError: metrics.countRecordError,
  };
  return createDecisionRecord({ path, which, maxFileBytes, append, version, clock, log, report });
}
