import { checkLimits } from '../config/document-set.js';
import { resolveServiceConfig, type ServiceConfig } from '../config/resolve-service-config.js';
import { isServiceDocument, mayBeServiceText, readServiceDocument } from '../config/read-service-config.js';
import { formatProblem } from '../scaler/problems/format-problem.js';
import { isPlainObject, valueAt } from '../scaler/plain-json.js';
import type { Problem } from '../scaler/problems/problem.js';
import { readScalerDocument, refuseDuplicates } from '../scaler/read-scalers.js';
import type { LocatedDocument } from '../scaler/problems/located-document.js';
import { readYaml } from '../scaler/yaml/read-yaml.js';
import type { Instant } from '../units/time.js';
import type { Scaler } from '../scaler/spec.js';
import { examine } from './doctor/examine.js';
import { type DoctorReport, makeReport, writeReport } from './doctor/report.js';
import { withPrometheusUrl } from './doctor/with-prometheus-url.js';
import { type InputFile, readInputFiles, unreadable } from './input-files.js';
import { homeFolder } from './home-folder.js';
import { CommandError, type CommandIo, type ExitCode } from './io.js';
import { readOutputFormat, writeStructured } from './output-format.js';
import { paintOf } from './paint.js';
import { type ClusterOptions, withCluster } from './reach/cluster-options.js';
import { type NextTimes, describeNextTimes, nextTimes } from './next-times.js';
import { type ServiceInput, readOptionsOf, readServiceInput } from './service-input.js';

export interface ValidateOptions extends ClusterOptions {
  /** Files and folders; `-` is standard input. */
  readonly paths: readonly string[];
  /** The service config whose data sources and defaults the documents use; left out, the one among the paths. */
  readonly config?: string;
  /** Asks Prometheus and the cluster for the documents, too. */
  readonly live?: boolean;
  /** With `live`: asked in place of the urls of the data source `default`. */
  readonly prometheus?: string;
  /** `text`, `json` or `yaml`. */
  readonly output: string;
}

/** What `-o json` prints. */
export interface ValidationReport {
  readonly serviceConfigs: number;
  readonly documents: number;
  readonly errors: number;
  readonly warnings: number;
  readonly problems: readonly Problem[];
  readonly schedules: readonly NextTimes[];
  /** With `--live`: what Prometheus and the cluster say. */
  readonly live?: DoctorReport;
}

/**
 * `validate PATH...`: prints every problem of service configs and scaler documents, and counts at the end. Exit code 1
 * where one of them is an error. No server is asked, unless with `live`: then the checks of `doctor` follow for the
 * documents without an error, and one that fails is an error as well.
 */
export async function runValidate(options: ValidateOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml']);
  const named = options.config === undefined ? null : await readServiceInput(options.config, io);
  const { files, problems } = await readInputFiles(options.paths, io);
  const others = files.filter(({ absolutePath }) => absolutePath !== named?.absolutePath);
  const {
    report: offline,
    config,
    scalers,
    hasQueries,
  } = validate(others, {
    named,
    problems,
    now: io.clock.now(),
  });
  const { live: isLive = false, prometheus } = options;
  refuseWithoutLive(options);
  if (isLive && config === null && offline.serviceConfigs > 1)
    throw new CommandError('--live: there are several service configs; --config says which holds', 2);
  // A service config with an error says nothing of whom to ask.
  const isAskable = config !== null || offline.serviceConfigs === 0;
  const report =
    isLive && isAskable
      ? { ...offline, live: await askLive({ config, scalers, prometheus, cluster: options }, io) }
      : offline;
  io.stdout.write(format === 'text' ? describe(report, hasQueries, io) : writeStructured(format, report));
  return report.errors > 0 || (report.live?.failed ?? 0) > 0 ? 1 : 0;
}

/** What only `--live` uses is a mistake without it. */
function refuseWithoutLive({ live = false, prometheus, kubeconfig, context, url }: ValidateOptions): void {
  const given = Object.entries({ prometheus, kubeconfig, context, url });
  const [unused] = given.find(([, value]) => value !== undefined) ?? [];
  if (!live && unused !== undefined) throw new CommandError(`--${unused} needs --live`, 2);
}

async function askLive(
  asked: {
    readonly config: ServiceConfig | null;
    readonly scalers: readonly Scaler[];
    readonly prometheus: string | undefined;
    readonly cluster: ClusterOptions;
  },
  io: CommandIo,
): Promise<DoctorReport> {
  const { clock, signal, env } = io;
  const written = withPrometheusUrl(asked.config ?? resolveServiceConfig({}, null), asked.prometheus);
  const config = withCluster(written, asked.cluster);
  const { scalers } = asked;
  // The permissions of whoever validates are not those of the service.
  const examination = {
    clock,
    signal,
    env,
    home: homeFolder(io),
    config,
    scalers,
    allScalers: scalers,
    asksPermissions: false,
  };
  return makeReport(await examine(examination));
}

function describe(report: ValidationReport, hasQueries: boolean, io: CommandIo): string {
  const offline = describeReport(report, hasQueries);
  if (report.live === undefined) return offline;
  return `${offline}\n${writeReport(report.live, paintOf(io))}`;
}

interface Placed {
  readonly file: InputFile;
  readonly document: LocatedDocument;
}

function validate(
  files: readonly InputFile[],
  {
    named,
    problems: unreadable,
    now,
  }: { readonly named: ServiceInput | null; readonly problems: readonly Problem[]; readonly now: Instant },
): {
  readonly report: ValidationReport;
  readonly config: ServiceConfig | null;
  /** Those of the documents without an error. */
  readonly scalers: readonly Scaler[];
  /** Whether a document has a query of its own, of which the syntax tree does not tell all. */
  readonly hasQueries: boolean;
} {
  const placed = files.flatMap((file) =>
    readYaml(file.text, file.name).map((document): Placed => ({ file, document })),
  );
  const services = placed.filter(isService);
  const configs = services.map(({ document, file }) => readServiceDocument(document, file.absolutePath));
  const config = named === null ? onlyOf(configs.map((read) => read.config)) : named.config;
  const documents = placed.filter((one) => !isService(one));
  const read = documents.map(({ document, file }) =>
    readScalerDocument(document, file.name, { ...readOptionsOf(config), now }),
  );
  const unique = refuseDuplicates(read);
  const scalers = unique.flatMap(({ scaler }) => (scaler === null ? [] : [scaler]));
  const tooMuch = checkLimits(
    files.map(({ text }) => text.length),
    documents.length,
  );
  const problems = [
    ...unreadable,
    ...(tooMuch === null ? [] : [tooMuch]),
    ...(placed.length === 0 ? files.map(empty) : []),
    ...(named?.problems ?? []),
    ...configs.flatMap((one) => one.problems),
    ...unique.flatMap((document) => document.problems),
  ];
  const report = {
    serviceConfigs: configs.length + (named === null ? 0 : 1),
    documents: documents.length,
    errors: problems.filter(({ severity }) => severity === 'error').length,
    warnings: problems.filter(({ severity }) => severity === 'warning').length,
    problems,
    schedules: nextTimes(scalers, now),
  };
  return { report, config, scalers, hasQueries: documents.some(({ document }) => hasQuery(document)) };
}

function hasQuery({ value }: LocatedDocument): boolean {
  const metrics = valueAt(value, ['spec', 'metrics']);
  return (
    Array.isArray(metrics) &&
    metrics.some((metric) =>
      ['pods', 'object', 'external'].some((member) => valueAt(metric, [member, 'query']) !== undefined),
    )
  );
}

/**
 * A mapping that has a `spec` is a scaler whose first two lines were forgotten, which is what it must be told. A broken
 * text may be a service config, whose lines are not shown.
 */
function isService({ document: { value }, file }: Placed): boolean {
  if (value === undefined) return mayBeServiceText(file.text);
  return isServiceDocument(value) && isPlainObject(value) && value['spec'] === undefined;
}

/** Several service configs are each checked; which of them the documents are for cannot be told. */
function onlyOf(configs: readonly (ServiceConfig | null)[]): ServiceConfig | null {
  const [first = null] = configs;
  return configs.length === 1 ? first : null;
}

/** An empty file is fine beside others; where there is nothing else, something has gone wrong before. */
function empty({ name }: InputFile): Problem {
  return unreadable(name, 'there is no document in this file');
}

function describeReport(report: ValidationReport, hasQueries: boolean): string {
  const { serviceConfigs, documents, errors, warnings, problems, schedules } = report;
  const counts = [
    ...(serviceConfigs === 0 ? [] : [count(serviceConfigs, 'service config')]),
    count(documents, 'document'),
    count(errors, 'error'),
    count(warnings, 'warning'),
  ];
  const lines = [
    ...problems.map(formatProblem),
    ...schedules.map(describeNextTimes),
    ...(hasQueries && report.live === undefined ? [NOT_CHECKED] : []),
    counts.join(', '),
  ];
  return `${lines.join('\n')}\n`;
}

/** What takes a server: types and labels are inferred from the syntax tree, no more than that. */
const NOT_CHECKED =
  'not checked without --live: whether metrics, labels and the target exist, the number of series, units, permissions';

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
