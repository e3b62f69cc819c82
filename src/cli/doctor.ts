import { OBJECTS_PATH } from '../config/read-objects.js';
import { readServiceConfig } from '../config/read-service-config.js';
import { createScalerFiles } from '../config/scaler-files.js';
import type { ServiceConfig } from '../config/resolve-service-config.js';
import { resolve } from 'node:path';
import type { Problem } from '../scaler/problems/problem.js';
import { scalerKey, type Scaler } from '../scaler/spec.js';
import { examine } from './doctor/examine.js';
import { type Finding, findingsOf } from './doctor/finding.js';
import { listScalerObjects } from './doctor/list-scaler-objects.js';
import { makeReport, writeReport } from './doctor/report.js';
import { withPrometheusUrl } from './doctor/with-prometheus-url.js';
import { homeFolder } from './home-folder.js';
import type { CommandIo, ExitCode } from './io.js';
import { CommandError } from './io.js';
import { nearestKeys } from './nearest-keys.js';
import { readOutputFormat, writeStructured } from './output-format.js';
import { paintOf } from './paint.js';
import { type ClusterOptions, withCluster } from './reach/cluster-options.js';
import { type NamingOptions, readScalerName } from './scaler-name.js';
import { readOptionsOf, readServiceInput } from './service-input.js';

export interface DoctorOptions extends ClusterOptions, NamingOptions {
  /** `NAMESPACE/NAME`, or `NAME`: this scaler alone. */
  readonly scaler?: string | undefined;
  /** The service config; left out, every value has its default, as with `run`. */
  readonly config?: string;
  /** The service runs with `--dry-run`. */
  readonly dryRun?: boolean;
  /** Asked in place of the urls of the data source `default`. */
  readonly prometheus?: string;
  /** `text`, `json` or `yaml`. */
  readonly output: string;
}

/**
 * `doctor`: why it does not work. Asks Prometheus and the cluster, changes nothing, and prints what is wrong with the
 * line that mends it. Exit code 1 where a check failed; warnings do not count.
 */
export async function runDoctor(options: DoctorOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml']);
  const { config: read, problems } = await readConfig(options.config, io);
  if (read === null) return print(problems.map(findingOfProblem), format, io);
  const config = withCluster(withPrometheusUrl(read, options.prometheus), options);
  const home = homeFolder(io);
  const objects = await listScalerObjects({ clock: io.clock, signal: io.signal, env: io.env, home, config });
  const files = createScalerFiles({
    paths: config.scalers.paths,
    clock: io.clock,
    read: readOptionsOf(config),
    ...(objects === null ? {} : { objects }),
  });
  const loaded = await files.load();
  const key =
    options.scaler === undefined ? undefined : scalerKey(await readScalerName(options.scaler, options, io));
  const scalers = pick(loaded.scalers, key, config.scalers.paths);
  const found = await examine({
    clock: io.clock,
    signal: io.signal,
    env: io.env,
    home,
    config,
    scalers,
    allScalers: loaded.scalers,
    isDryRun: options.dryRun ?? false,
    asksPermissions: true,
  });
  const told = [...problems, ...loaded.problems].map(findingOfProblem);
  const summary = configSummary(options.config, loaded.scalers.length);
  return print([...(told.length === 0 ? [summary] : told), ...found], format, io);
}

async function readConfig(
  file: string | undefined,
  io: CommandIo,
): Promise<{ readonly config: ServiceConfig | null; readonly problems: readonly Problem[] }> {
  if (file !== undefined) return readServiceInput(file, io);
  // As `run` without a file: as if an empty one stood in the present folder.
  return readServiceConfig('', 'promscaler.yaml', resolve(io.cwd, 'promscaler.yaml'));
}

function configSummary(file: string | undefined, documents: number): Finding {
  const config = file ?? 'no --config, so every value has its default';
  return findingsOf('config', 'config').ok(
    `${config}; ${documents} ${documents === 1 ? 'document' : 'documents'}`,
  );
}

function findingOfProblem({ severity, message, file, place, code }: Problem): Finding {
  const make = findingsOf('config', 'config');
  const where = file === null ? '' : `${file}${place === null ? '' : `:${place.line}:${place.column}`}: `;
  const text = `${where}${message.startsWith(`reading ${file ?? ''}`) ? message.slice(`reading ${file ?? ''}: `.length) : message}`;
  if (code === 'no-documents' || code === 'unreadable')
    return make[severity === 'error' ? 'failed' : 'warning'](text, MEND_PATHS);
  return make[severity === 'error' ? 'failed' : 'warning'](text, wayToSee(file));
}

/** The command that shows more of a problem. */
function wayToSee(file: string | null): string {
  const [namespace, name] = file?.startsWith(`${OBJECTS_PATH}/`) === true ? file.split('/').slice(1) : [];
  if (namespace === undefined || name === undefined)
    return `promscaler validate ${file ?? 'PATH'} shows the line`;
  return `kubectl describe ${OBJECTS_PATH} ${name} -n ${namespace} shows the problem`;
}

const MEND_PATHS =
  '--config FILE names the service config, whose scalers.paths names the documents; `promscaler validate --live FILE` examines documents without one; `promscaler new` writes a first one';

function pick(
  scalers: readonly Scaler[],
  key: string | undefined,
  paths: readonly string[],
): readonly Scaler[] {
  if (key === undefined) return scalers;
  const found = scalers.filter((scaler) => scalerKey(scaler) === key);
  if (found.length > 0) return found;
  if (scalers.length === 0)
    throw new CommandError(`${paths.join(', ')} has no document without an error: ${MEND_PATHS}`, 2);
  const near = nearestKeys(key, scalers.map(scalerKey));
  const hint = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
  throw new CommandError(`there is no document ${key} without an error${hint}`, 2);
}

function print(findings: readonly Finding[], format: 'text' | 'json' | 'yaml', io: CommandIo): ExitCode {
  const report = makeReport(findings);
  io.stdout.write(format === 'text' ? writeReport(report, paintOf(io)) : writeStructured(format, report));
  return report.failed > 0 ? 1 : 0;
}
