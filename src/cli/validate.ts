import { checkLimits } from '../config/document-set.js';
import { resolveServiceConfig, type ServiceConfig } from '../config/service-config.js';
import { isServiceDocument, readServiceDocument } from '../config/read-service-config.js';
import { formatProblem } from '../scaler/problems/format-problem.js';
import { isPlainObject } from '../scaler/plain.js';
import type { Problem } from '../scaler/problems/problem.js';
import { readScalerDocument, refuseDuplicates } from '../scaler/read-scalers.js';
import { type YamlDocument, readYaml } from '../scaler/yaml/read-yaml.js';
import type { Instant } from '../units/time.js';
import type { Scaler } from '../scaler/spec.js';
import { examine } from './doctor/examine.js';
import { type DoctorReport, makeReport, writeReport } from './doctor/report.js';
import { withPrometheusUrl } from './doctor/with-prometheus-url.js';
import { type InputFile, readInputFiles, unreadable } from './input-files.js';
import { homeFolder } from './home-folder.js';
import { CommandError, type CommandIo, type ExitCode } from './io.js';
import { readOutputFormat } from './output-format.js';
import { type NextTimes, describeNextTimes, nextTimes } from './next-times.js';
import { type ServiceInput, readOptionsOf, readServiceInput } from './service-input.js';

export interface ValidateOptions {
  /** Files and folders; `-` is standard input. */
  readonly paths: readonly string[];
  /** The service config whose data sources and defaults the documents use; left out, the one among the paths. */
  readonly config?: string;
  /** Asks Prometheus and the cluster for the documents, too. */
  readonly live?: boolean;
  /** With `live`: asked in place of the urls of the data source `default`. */
  readonly prometheus?: string;
  /** `text` or `json`. */
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
  const format = readOutputFormat(options.output, ['text', 'json']);
  const named = options.config === undefined ? null : await readServiceInput(options.config, io);
  const { files, problems } = await readInputFiles(options.paths, io);
  const others = files.filter(({ absolutePath }) => absolutePath !== named?.absolutePath);
  const {
    report: offline,
    config,
    scalers,
  } = validate(others, {
    named,
    problems,
    now: io.clock.now(),
  });
  const { live: isLive = false, prometheus } = options;
  if (!isLive && prometheus !== undefined) throw new CommandError('--prometheus needs --live', 2);
  if (isLive && config === null && offline.serviceConfigs > 1)
    throw new CommandError('--live: there are several service configs; --config says which holds', 2);
  // A service config with an error says nothing of whom to ask.
  const isAskable = config !== null || offline.serviceConfigs === 0;
  const report =
    isLive && isAskable ? { ...offline, live: await askLive({ config, scalers, prometheus }, io) } : offline;
  io.stdout.write(format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : describe(report, io));
  return report.errors > 0 || (report.live?.failed ?? 0) > 0 ? 1 : 0;
}

async function askLive(
  asked: {
    readonly config: ServiceConfig | null;
    readonly scalers: readonly Scaler[];
    readonly prometheus: string | undefined;
  },
  io: CommandIo,
): Promise<DoctorReport> {
  const { clock, signal, env } = io;
  const config = withPrometheusUrl(asked.config ?? resolveServiceConfig({}, null), asked.prometheus);
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

function describe(report: ValidationReport, { stdout, env }: CommandIo): string {
  const offline = describeReport(report);
  if (report.live === undefined) return offline;
  const isColored = stdout.isTerminal && env['NO_COLOR'] === undefined;
  return `${offline}\n${writeReport(report.live, { isColored })}`;
}

interface Placed {
  readonly file: InputFile;
  readonly document: YamlDocument;
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
} {
  const placed = files.flatMap((file) =>
    readYaml(file.text, file.name).map((document): Placed => ({ file, document })),
  );
  const services = placed.filter(({ document }) => isService(document));
  const configs = services.map(({ document, file }) => readServiceDocument(document, file.absolutePath));
  const config = named === null ? onlyOf(configs.map((read) => read.config)) : named.config;
  const documents = placed.filter(({ document }) => !isService(document));
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
  return { report, config, scalers };
}

/** A mapping that has a `spec` is a scaler whose first two lines were forgotten, which is what it must be told. */
function isService({ value }: YamlDocument): boolean {
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

function describeReport(report: ValidationReport): string {
  const { serviceConfigs, documents, errors, warnings, problems, schedules } = report;
  const counts = [
    ...(serviceConfigs === 0 ? [] : [count(serviceConfigs, 'service config')]),
    count(documents, 'document'),
    count(errors, 'error'),
    count(warnings, 'warning'),
  ];
  return `${[...problems.map(formatProblem), ...schedules.map(describeNextTimes), counts.join(', ')].join('\n')}\n`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
