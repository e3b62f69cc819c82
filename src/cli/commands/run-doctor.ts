import { resolve } from 'node:path';
import { readServiceConfig } from '../../config/read-service-config.js';
import { createScalerFiles, type LoadedScalers } from '../../config/scaler-files.js';
import type { ServiceConfig } from '../../config/resolve-service-config.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { scalerKey, type Scaler } from '../../scaler/spec.js';
import { nameVersions } from '../../decision/rejection.js';
import { type ClusterOptions, withCluster } from '../reach/cluster-options.js';
import { keysHint } from '../input/nearest-keys.js';
import { type NamingOptions, readScalerName } from '../reach/scaler-name.js';
import { tryService } from '../reach/service-client.js';
import { type CommandIo, type ExitCode, CommandError, usageError } from '../output/io.js';
import { readOutputFormat, writeStructured } from '../output/output-format.js';
import { paintOf } from '../output/paint.js';
import { type CheckResult, resultsOf } from '../checks/check-result.js';
import { checkConfig, DOCUMENTS_FIX } from '../checks/config.js';
import { textIn } from '../../kubernetes/api/json.js';
import type { ScalerStore } from '../../kubernetes/scaler-objects.js';
import { listScalerObjects } from '../checks/list-scaler-objects.js';
import { makeReport, writeReport } from '../checks/report.js';
import { runChecks } from '../checks/run-checks.js';
import { readReported, servedScaler, waysTo } from '../checks/read-reported.js';
import { shortTimes } from '../output/lines.js';
import { mapAtOnce } from '../../units/semaphore.js';
import { withPrometheusUrl, readOptionsOf, readServiceInput } from '../input/service-config.js';

export interface DoctorOptions extends ClusterOptions, NamingOptions {
  readonly scaler?: string | undefined;
  /** Service config. Unset: every field has its default, as in `run`. */
  readonly config?: string;
  readonly dryRun?: boolean;
  /** URL that replaces the URLs of the data source `default`. */
  readonly prometheus?: string;
  readonly output: string;
}

const REQUESTS_AT_ONCE = 8;

/**
 * Runs `doctor`: prints the problems of configuration, Prometheus and cluster, each with its fix. Sends only read
 * requests. Returns 1 if a check failed; a warning does not change the exit code.
 */
export async function runDoctor(options: DoctorOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml']);
  const { config: read, problems } = await readConfig(options.config, io);
  if (read === null)
    return print(checkConfig({ configFile: options.config, documents: 0, problems }), format, io);
  const config = withCluster(withPrometheusUrl(read, options.prometheus), options);
  const { clock, signal, env } = io;
  const objects = await listScalerObjects({ clock, signal, env, config });
  const files = createScalerFiles({
    paths: config.scalers.paths,
    clock,
    read: readOptionsOf(config),
    ...(objects === null ? {} : { objects }),
  });
  const loaded = await files.load();
  const key =
    options.scaler === undefined ? undefined : scalerKey(await readScalerName(options.scaler, options, io));
  const selected = selectScalers(loaded, key, config.scalers.paths);
  const rejected = key === undefined ? rejectedKeys(loaded) : selected === null ? [key] : [];
  const inEffect = await mapAtOnce(rejected, REQUESTS_AT_ONCE, (each) => readInEffect(each, config, io));
  const results = await runChecks({
    clock,
    signal,
    env,
    config,
    scalers: [...(selected ?? []), ...inEffect.flatMap(({ scalers }) => scalers)],
    allScalers: loaded.scalers,
    isDryRun: options.dryRun ?? false,
    includesServiceChecks: true,
    reported: readReported(key, config, io),
    scaled: scaledBefore(objects),
  });
  const ofConfig = checkConfig({
    configFile: options.config,
    documents: loaded.scalers.length,
    problems: [...problems, ...problemsOf(loaded, key)],
  });
  return print(
    [...ofConfig, ...inEffect.flatMap(({ results: ofVersion }) => ofVersion), ...results],
    format,
    io,
  );
}

/**
 * If the document of a scaler is rejected, returns the version that the service uses, and a result that says which
 * version is checked.
 */
async function readInEffect(
  key: string,
  config: ServiceConfig,
  io: CommandIo,
): Promise<{ readonly scalers: readonly Scaler[]; readonly results: readonly CheckResult[] }> {
  const make = resultsOf('config', key);
  const [namespace = '', name = ''] = key.split('/');
  const failures: string[] = [];
  for (const way of waysTo(config)) {
    const served = await tryService(way, io, async (client) => {
      const detail = await client.readDetail({ namespace, name });
      const where = way.url === undefined ? client.where : `the service at ${way.url}`;
      return { detail, where, scaler: servedScaler(detail, config) };
    });
    if (served instanceof CommandError) failures.push(served.message);
    else if (served.scaler === null) failures.push(`${served.where} has a version that this command rejects`);
    else {
      const { detail, where, scaler } = served;
      const { inEffect, newest } = nameVersions(detail);
      const rejected = detail.generation === null ? '' : `; ${newest} is rejected`;
      const message = `${inEffect} of the document is checked, which is in effect at ${where}${rejected}`;
      return { scalers: [scaler], results: [make.ok(message)] };
    }
  }
  // Both ways usually reach the same service, so equal reasons are joined. Further lines only repeat the errors of the
  // document.
  const why = [...new Set(failures.map((text) => text.split(/:?\n/, 1)[0] ?? text))].join('; ');
  return { scalers: [], results: [make.skipped(`no version in effect is checked: ${why}`)] };
}

/** Returns the keys of the objects whose targets were scaled. */
function scaledBefore(objects: ScalerStore | null): ReadonlySet<string> {
  const scaled = [...(objects?.list() ?? [])].filter(
    ({ status }) => textIn(status, 'lastScaleTime') !== null,
  );
  return new Set(scaled.map(scalerKey));
}

async function readConfig(
  file: string | undefined,
  io: CommandIo,
): Promise<{ readonly config: ServiceConfig | null; readonly problems: readonly Problem[] }> {
  if (file !== undefined) return readServiceInput(file, io);
  // Without --config, `run` uses the defaults and resolves paths as if an empty promscaler.yaml were in the working
  // directory.
  return readServiceConfig('', 'promscaler.yaml', resolve(io.cwd, 'promscaler.yaml'));
}

/** Returns the problems of one scaler, including the problems of documents whose name cannot be read. */
function problemsOf({ problems }: LoadedScalers, key: string | undefined): readonly Problem[] {
  if (key === undefined) return problems;
  return problems.filter(({ scaler }) => scaler === undefined || scaler === key);
}

/** Returns the scalers whose documents are all invalid, as far as their names can be read. */
function rejectedKeys({ scalers, problems }: LoadedScalers): readonly string[] {
  const valid = new Set(scalers.map(scalerKey));
  const ofErrors = problems.flatMap(({ severity, scaler }) =>
    severity === 'error' && scaler !== undefined && !valid.has(scaler) ? [scaler] : [],
  );
  return [...new Set(ofErrors)];
}

/**
 * Returns the selected scalers; null: the document of the scaler is rejected, as far as its name can be read. Throws
 * `CommandError` if there is no document.
 */
function selectScalers(
  loaded: LoadedScalers,
  key: string | undefined,
  paths: readonly string[],
): readonly Scaler[] | null {
  const { scalers } = loaded;
  if (key === undefined) return scalers;
  const found = scalers.filter((scaler) => scalerKey(scaler) === key);
  if (found.length > 0) return found;
  // A rejected document without a readable name may be the document of the scaler.
  if (problemsOf(loaded, key).some(({ severity }) => severity === 'error')) return null;
  if (scalers.length === 0)
    throw usageError(`no valid scaler document in ${paths.join(', ')}: ${DOCUMENTS_FIX}`);
  throw usageError(`there is no document of scaler ${key}${keysHint(key, scalers.map(scalerKey))}`);
}

function print(results: readonly CheckResult[], format: 'text' | 'json' | 'yaml', io: CommandIo): ExitCode {
  const report = makeReport(results, io);
  io.stdout.write(
    format === 'text'
      ? shortTimes(writeReport(report, paintOf(io)), io.clock.now())
      : writeStructured(format, report),
  );
  return report.failed > 0 ? 1 : 0;
}
