import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { createBackgroundReader } from '../../config/background-reader.js';
import {
  createScalerFiles,
  rejectionEffects,
  type DocumentOrigin,
  type LoadedScalers,
  type RejectionEffect,
} from '../../config/scaler-files.js';
import { readServiceConfig, serviceFacts } from '../../config/read-service-config.js';
import type { ServiceConfig } from '../../config/resolve-service-config.js';
import { readNamedFile } from '../input/read-files.js';
import { ElectionRefusedError } from '../../control/election/election-refusal.js';
import { findSharedTargets } from '../../control/cycle/shared-targets.js';
import type { CycleOutput } from '../../control/cycle/types.js';
import { findConnection, type Connection } from '../../kubernetes/access/connection.js';
import { ConnectionError } from '../../kubernetes/access/kubeconfig.js';
import { createScalerStore, type ScalerStore } from '../../kubernetes/scaler-objects.js';
import { createTransport } from '../../kubernetes/requests/transport.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { createPrometheusClient } from '../../prometheus/client/client.js';
import { createRangeClient } from '../../prometheus/client/range-client.js';
import { MAX_FILE_BYTES } from '../../scaler/yaml/read-yaml.js';
import { countErrors, formatProblem, type Problem } from '../../scaler/problems/problem.js';
import { scalerKey, type Scaler } from '../../scaler/spec.js';
import { ListenError } from '../../server/server.js';
import { createLog } from '../../telemetry/log.js';
import type { Clock } from '../../units/clock.js';
import type { Log } from '../../units/log.js';
import { quoteForShell } from '../../units/clean-text.js';
import {
  type ClusterOptions,
  connectionSettings,
  withCluster,
  connectionAccess,
} from '../reach/cluster-options.js';
import { type CommandIo, type ExitCode, type FaultListener, CommandError } from '../output/io.js';
import { allowHeapGrowth } from './heap-growth.js';
import { ownObjects } from '../../service/own-objects.js';
import { createService, type Service, type ServiceOptions } from '../../service/service.js';
import { writeProblems } from '../output/lines.js';
import { VERSION } from '../output/version.js';
import { groupBy } from '../../units/maps.js';

interface RunOptions {
  /** Path of the service config; null: every field has its default. */
  readonly configFile: string | null;
  readonly dryRun: boolean;
  readonly strict: boolean;
  readonly cluster?: ClusterOptions;
  readonly onCycle?: ((output: CycleOutput) => void) | undefined;
  readonly onDocuments?: ((loaded: LoadedScalers) => void) | undefined;
}

/** Runs `run`: loads the config and runs the service until the signal is aborted. */
export async function runService(options: RunOptions, io: CommandIo): Promise<ExitCode> {
  const config = withCluster(await loadConfig(options.configFile, io), options.cluster ?? {});
  const { clock } = io;
  allowHeapGrowth(0);
  const log = createLog({ stream: io.stderr, ...config.log, clock });
  let countInternalError = (): void => undefined;
  io.onFault?.(logFault(log, clock, () => countInternalError()));
  const read = { defaults: config.defaults, service: serviceFacts(config) };
  const scalerStore = config.scalers.customResources ? createScalerStore(config.kubernetes.namespaces) : null;
  const files = createScalerFiles({
    paths: config.scalers.paths,
    clock,
    deadlines: clock,
    read,
    reader: createBackgroundReader({ clock, signal: io.signal }),
    ...(scalerStore === null ? {} : { objects: scalerStore }),
  });
  const first = await files.load();
  const errors = first.problems.filter(({ severity }) => severity === 'error');
  if (options.strict && errors.length > 0) throw problemsError('the scaler documents are invalid', errors);
  const connection = await connect(config, { io, log });
  const { originOf } = files;
  const service = await buildService({ config, connection, log, options, io, scalerStore, originOf });
  ({ countInternalError } = service);
  log.info('started', {
    kubernetes: connection.source,
    scalers: first.scalers.length,
    dryRun: options.dryRun,
  });
  applyDocuments(first, { service, log, before: null });
  options.onDocuments?.(first);
  let present = first;
  const reload = async (): Promise<void> => {
    const next = await files.load();
    if (io.signal.aborted) return;
    applyDocuments(next, { service, log, before: present });
    // After an incomplete load, a document that appears is not necessarily new, so it is not logged.
    if (present.isComplete) logAddedAndRemoved(present.scalers, next.scalers, log);
    options.onDocuments?.(next);
    present = next;
  };
  const ended = new AbortController();
  const watching = files.watch(reload, AbortSignal.any([io.signal, ended.signal]), (error) =>
    log.error('reload failed with an internal error; the current documents stay in effect', { error }),
  );
  try {
    await service.run(io.signal);
  } catch (error) {
    if (error instanceof ElectionRefusedError) throw new CommandError(error.message);
    throw error;
  } finally {
    ended.abort();
    await watching;
  }
  log.info('stopped');
  return 0;
}

const REJECTIONS_MS = 60_000;
const MOST_REJECTIONS = 10;

/**
 * Logs faults, so that standard error contains only log lines. Logs at most 10 unhandled rejections in a minute: a
 * rejection in each cycle of 10,000 scalers would fill the log.
 */
function logFault(log: Log, clock: Clock, countInternalError: () => void): FaultListener {
  let sinceMs = Number.NEGATIVE_INFINITY;
  let logged = 0;
  let notLogged = 0;
  const logRejection = (facts: Readonly<Record<string, unknown>>): void => {
    if (clock.monotonicMs() - sinceMs >= REJECTIONS_MS) {
      sinceMs = clock.monotonicMs();
      logged = 0;
    }
    logged += 1;
    if (logged > MOST_REJECTIONS) {
      notLogged += 1;
      return;
    }
    log.error('internal error: a promise without a handler was rejected; the service continues', {
      ...facts,
      notLogged,
    });
    notLogged = 0;
  };
  return ({ kind, error }) => {
    const facts = { name: error.name, error, stack: error.stack };
    if (kind === 'warning') {
      log.warn('Node.js warning', facts);
      return;
    }
    countInternalError();
    if (kind === 'rejection') logRejection(facts);
    else log.error('uncaught exception; exiting', facts);
  };
}

async function loadConfig(configFile: string | null, io: CommandIo): Promise<ServiceConfig> {
  // Without --config, uses the defaults and resolves paths as if an empty promscaler.yaml were in the working
  // directory.
  const name = configFile ?? 'promscaler.yaml';
  const path = resolve(io.cwd, name);
  const bounds = { mostBytes: MAX_FILE_BYTES, pipe: { signal: io.signal } };
  const text =
    configFile === null ? '' : await readNamedFile(`reading the service config ${name}`, path, bounds);
  const { config, problems } = readServiceConfig(text, name, path);
  if (config === null) throw problemsError('the service config is invalid', problems);
  writeProblems(problems, io);
  return config;
}

function problemsError(what: string, problems: readonly Problem[]): CommandError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  return new CommandError(`${what} (${count})\n\n${problems.map(formatProblem).join('\n\n')}`);
}

async function connect(
  config: ServiceConfig,
  { io, log }: { readonly io: CommandIo; readonly log: Log },
): Promise<Connection> {
  try {
    return await findConnection({
      settings: connectionSettings(config),
      log,
      ...connectionAccess(io),
    });
  } catch (error) {
    if (error instanceof ConnectionError) throw new CommandError(error.message);
    throw error;
  }
}

async function buildService(given: {
  readonly config: ServiceConfig;
  readonly connection: Connection;
  readonly log: Log;
  readonly options: RunOptions;
  readonly io: CommandIo;
  readonly scalerStore: ScalerStore | null;
  readonly originOf: (key: string) => DocumentOrigin;
}): Promise<Service> {
  const { config, connection, log, options, io, scalerStore, originOf } = given;
  const { dryRun, onCycle } = options;
  const { clock } = io;
  const openTransport: ServiceOptions['openTransport'] = (onRequest, onServerNames) =>
    createTransport({ connection, clock, onRequest, onServerNames, userAgent: `promscaler/${VERSION}` });
  // Identifies the replica. In a pod, the host name equals the pod name.
  const instance = io.env['POD_NAME'] ?? hostname();
  const isInCluster = (io.env['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  const own = ownObjects(config, io.env, connection);
  const doctorOf = doctorCommand(options, isInCluster ? { namespace: own.namespace, pod: instance } : null);
  try {
    return await createService({
      config,
      version: VERSION,
      openTransport,
      createClient: (source) => createPrometheusClient(source, clock, io.env),
      createRangeClient: (source) => createRangeClient(source, clock, io.env),
      dryRun,
      clock,
      log,
      scalerStore,
      instance,
      podIp: io.env['POD_IP'],
      isInCluster,
      originOf: (key) => ({ ...originOf(key), doctor: doctorOf(key) }),
      ...own,
      onCycle,
    });
  } catch (error) {
    if (error instanceof ListenError) throw new CommandError(error.message);
    throw error;
  }
}

/** Returns the command that runs `doctor` as this process runs: with its account, its files and its network. */
export function doctorCommand(
  { configFile, dryRun }: Pick<RunOptions, 'configFile' | 'dryRun'>,
  inCluster: { readonly namespace: string; readonly pod: string } | null,
): (key: string) => string {
  const exec = inCluster === null ? [] : ['kubectl', 'exec', '-n', inCluster.namespace, inCluster.pod, '--'];
  const config = configFile === null ? [] : ['--config', configFile];
  const flags = [...config, ...(dryRun ? ['--dry-run'] : [])];
  return (key) => [...exec, 'promscaler', 'doctor', key, ...flags].map(quoteForShell).join(' ');
}

const REJECTION_MESSAGES: Readonly<Record<RejectionEffect, string>> = {
  'last-valid': 'document rejected; its last valid version stays in effect',
  none: 'document rejected; no valid version is in effect',
  file: 'document rejected; the file with the same name is in effect',
  unknown: 'document rejected; the last valid version, if any, stays in effect',
};

function applyDocuments(
  loaded: LoadedScalers,
  given: { readonly service: Service; readonly log: Log; readonly before: LoadedScalers | null },
): void {
  const { service, log, before } = given;
  const { scalers, problems, changed, verdicts } = loaded;
  allowHeapGrowth(scalers.length);
  service.setScalers(scalers, problems, verdicts);
  if (!changed) return;
  const effectOf = rejectionEffects(loaded);
  const logged = new Set((before?.problems ?? []).map((problem) => JSON.stringify(problem)));
  for (const problem of problems) {
    // Logs only new problems: otherwise each change of one document would repeat the problems of all documents.
    if (logged.has(JSON.stringify(problem))) continue;
    const { code, severity, message, file, place, path } = problem;
    const fields = { code, problem: message, file, ...place, ...(path === '' ? {} : { path }) };
    if (severity === 'error') log.error(REJECTION_MESSAGES[effectOf(problem)], fields);
    else log.warn('document has warnings', fields);
  }
  logSharedTargets(before?.scalers ?? [], scalers, log);
  log.info('scaler documents loaded', { scalers: scalers.length, errors: countErrors(problems) });
}

/** Logs removed scalers, because a document may have been deleted by mistake, and its workload is no longer scaled. */
function logAddedAndRemoved(before: readonly Scaler[], after: readonly Scaler[], log: Log): void {
  const names = { before: new Set(before.map(scalerKey)), after: new Set(after.map(scalerKey)) };
  for (const key of names.before) {
    if (!names.after.has(key)) log.info('scaler removed; its workload keeps its replicas', { scaler: key });
  }
  for (const key of names.after) {
    if (!names.before.has(key)) log.info('scaler added', { scaler: key });
  }
}

/** Logs all scalers of a shared target in one line, because the line of each scaler names only one other scaler. */
function logSharedTargets(before: readonly Scaler[], after: readonly Scaler[], log: Log): void {
  const known = new Set(sharingOf(before).map((sharing) => JSON.stringify(sharing)));
  for (const sharing of sharingOf(after)) {
    if (known.has(JSON.stringify(sharing))) continue;
    log.warn(
      'several scalers scale the same target: promscaler patches the target for none of them',
      sharing,
    );
  }
}

function sharingOf(
  scalers: readonly Scaler[],
): readonly { readonly target: string; readonly scalers: string }[] {
  const shared = findSharedTargets(scalers);
  if (shared.size === 0) return [];
  const sharing = scalers.filter(({ key, spec }) => shared.has(key) && !spec.dryRun);
  const byTarget = groupBy(sharing, ({ namespace, spec }) => nameTarget(namespace, spec.scaleTargetRef));
  return Array.from(byTarget, ([target, same]) => ({
    target,
    scalers: same.map(({ key }) => key).join(', '),
  }));
}
