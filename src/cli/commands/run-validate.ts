import { checkLimits } from '../../config/document-set.js';
import {
  isServiceDocument,
  mayBeServiceText,
  readServiceDocument,
} from '../../config/read-service-config.js';
import { resolveServiceConfig, type ServiceConfig } from '../../config/resolve-service-config.js';
import { nameTarget, targetKey } from '../../kubernetes/targets.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import { finding, formatValue, inLineOrder, type LocatedDocument } from '../../scaler/problems/finding.js';
import { countErrors, formatProblem, type Problem } from '../../scaler/problems/problem.js';
import { readLocated, refuseDuplicates, withoutOtherKinds } from '../../scaler/read/read-scalers.js';
import { type Scaler, scalerKey } from '../../scaler/spec.js';
import { readYaml } from '../../scaler/yaml/read-yaml.js';
import { formatLocal } from '../../schedules/local-time.js';
import { nextOccurrences } from '../../schedules/occurrences.js';
import { countOf, listSome } from '../../units/format.js';
import type { Instant } from '../../units/time.js';
import { type CheckResult, resultsOf } from '../checks/check-result.js';
import { checkConfig } from '../checks/config.js';
import { CLUSTER_SUBJECT } from '../checks/context.js';
import { type GivenDocument, readOtherScalers } from '../checks/list-scaler-objects.js';
import { type DoctorReport, makeReport, writeCounts, writeResults } from '../checks/report.js';
import { readReported, readServedScalers } from '../checks/read-reported.js';
import { runChecks } from '../checks/run-checks.js';
import { type ClusterOptions, withCluster } from '../reach/cluster-options.js';
import { type InputFile, readInputFiles, unreadable } from '../input/read-files.js';
import {
  readOptionsOf,
  readServiceInput,
  rejectWithoutLive,
  type ServiceInput,
  withPrometheusUrl,
} from '../input/service-config.js';
import { nameProgramIn, shortTimes } from '../output/lines.js';
import { readOutputFormat, writeStructured } from '../output/output-format.js';
import { paintOf } from '../output/paint.js';
import { type CommandIo, type ExitCode, usageError } from '../output/io.js';
import { groupBy } from '../../units/maps.js';

export interface ValidateOptions extends ClusterOptions {
  /** Files and directories; `-`: standard input. */
  readonly paths: readonly string[];
  /** Namespace of the documents that do not contain a namespace. Unset: such a document is invalid. */
  readonly namespace?: string;
  /** Service config with data sources and defaults for the documents. Default: the service config among `paths`. */
  readonly config?: string;
  readonly live?: boolean;
  /** With `live`, the URL that replaces the URLs of the data source `default`. */
  readonly prometheus?: string;
  readonly output: string;
}

export interface ValidationReport {
  readonly serviceConfigs: number;
  readonly documents: number;
  /** The number of files with tests of documents, which are not validated. Unset: there are none. */
  readonly testFiles?: number;
  /** The number of skipped documents of other kinds, in files that also contain a Scaler. Unset: there are none. */
  readonly otherKinds?: number;
  readonly errors: number;
  readonly warnings: number;
  readonly problems: readonly Problem[];
  readonly schedules: readonly NextTimes[];
  readonly live?: DoctorReport;
}

/**
 * Runs `validate`: prints the problems of service configs and scaler documents, and their numbers. With `live`, also
 * runs the checks of `doctor` for each document without an error; otherwise sends no request. Returns 1 if there is an
 * error or a failed check.
 */
export async function runValidate(options: ValidateOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml']);
  const named = options.config === undefined ? null : await readServiceInput(options.config, io);
  const { files, problems } = await readInputFiles(options.paths, io);
  const others = files.filter(({ absolutePath }) => absolutePath !== named?.absolutePath);
  const {
    report: found,
    config,
    configFile,
    documents,
  } = validate(others, {
    named,
    problems,
    namespace: options.namespace,
    now: io.clock.now(),
  });
  const offline = { ...found, problems: found.problems.map((problem) => nameProgramIn(problem, io)) };
  const { live: isLive = false, prometheus, kubeconfig, context, url } = options;
  if (!isLive) rejectWithoutLive({ prometheus, kubeconfig, context, url });
  if (isLive && config === null && offline.serviceConfigs > 1)
    throw usageError('--live: the paths contain several service configs. Select one with --config');
  // If the service config is invalid, the data sources are unknown, so nothing can be checked.
  const isConfigValid = config !== null || offline.serviceConfigs === 0;
  const report =
    isLive && isConfigValid
      ? {
          ...offline,
          live: await checkLive({ config, configFile, documents, prometheus, cluster: options }, io),
        }
      : offline;
  io.stdout.write(
    format === 'text' ? shortTimes(describe(report, io), io.clock.now()) : writeStructured(format, report),
  );
  return report.errors > 0 || (report.live?.failed ?? 0) > 0 ? 1 : 0;
}

async function checkLive(
  input: {
    readonly config: ServiceConfig | null;
    readonly configFile: string | undefined;
    readonly documents: readonly GivenDocument[];
    readonly prometheus: string | undefined;
    readonly cluster: ClusterOptions;
  },
  io: CommandIo,
): Promise<DoctorReport> {
  const { clock, signal, env } = io;
  const base = withPrometheusUrl(input.config ?? resolveServiceConfig({}, null), input.prometheus);
  const config = withCluster(base, input.cluster);
  const { documents } = input;
  const scalers = documents.map(({ scaler }) => scaler);
  const context = { clock, signal, env, config };
  const paths = input.config?.scalers.paths ?? [];
  const [{ others, live, results: ofOthers }, served] = await Promise.all([
    readOtherScalers(documents, context, paths),
    // Without a service config, the files of the service are unknown, so the service is asked.
    input.config === null ? readServedScalers(scalers, config, io) : { scalers: [], missing: null },
  ]);
  const known = new Set(others.map(({ key }) => key));
  const results = await runChecks({
    ...context,
    scalers,
    allScalers: [...scalers, ...others, ...served.scalers.filter(({ key }) => !known.has(key))],
    live,
    // These checks are skipped, because they would check the account of the user, not the account of the service.
    includesServiceChecks: false,
    // Without a service config, it is unknown whether a service has these documents.
    ...(input.config === null ? {} : { reported: readReported(undefined, config, io) }),
  });
  const { configFile } = input;
  const ofConfig = checkConfig({ configFile, documents: documents.length, problems: [] });
  return makeReport([...ofConfig, ...ofOthers, ...results, ...notCompared(served.missing)], io);
}

function notCompared(why: string | null): readonly CheckResult[] {
  if (why === null) return [];
  const { skipped } = resultsOf('other-scaler', CLUSTER_SUBJECT);
  return [skipped(`some or all scalers of the service are not compared: ${why}`)];
}

/** Returns the text output. Its last line also counts failed checks: `0 errors` alone would be misleading. */
function describe(report: ValidationReport, io: CommandIo): string {
  const { live, documents, otherKinds = 0, problems, schedules } = report;
  const paint = paintOf(io);
  const found = [
    ...problems.map(formatProblem),
    ...schedules.map(describeNextTimes),
    ...(otherKinds === 0
      ? []
      : [
          `${countOf(otherKinds, 'document')} of ${otherKinds === 1 ? 'another kind is' : 'other kinds are'} skipped`,
        ]),
  ];
  const lines =
    live === undefined
      ? [...found, ...(documents === 0 ? [] : [NOT_CHECKED]), describeCounts(report, io)]
      : [
          ...found,
          ...writeResults(live, paint),
          '',
          `${describeCounts(report, io)} (checks: ${writeCounts(live)})`,
        ];
  return `${lines.join('\n')}\n`;
}

function describeCounts(report: ValidationReport, io: CommandIo): string {
  const { serviceConfigs, documents, testFiles = 0, errors, warnings, live } = report;
  return [
    ...(serviceConfigs === 0 ? [] : [countOf(serviceConfigs, 'service config')]),
    countOf(documents, 'document'),
    ...(testFiles === 0 ? [] : [`${countOf(testFiles, 'test file')} (see ${io.command} test)`]),
    countOf(errors + (live?.failed ?? 0), 'error'),
    countOf(warnings + (live?.warnings ?? 0), 'warning'),
  ].join(', ');
}

interface Placed {
  readonly file: InputFile;
  readonly document: LocatedDocument;
}

function validate(
  files: readonly InputFile[],
  {
    named,
    problems: unread,
    namespace,
    now,
  }: {
    readonly named: ServiceInput | null;
    readonly problems: readonly Problem[];
    readonly namespace: string | undefined;
    readonly now: Instant;
  },
): {
  readonly report: ValidationReport;
  readonly config: ServiceConfig | null;
  readonly configFile: string | undefined;
  /** The documents without an error. */
  readonly documents: readonly GivenDocument[];
} {
  let otherKinds = 0;
  const all = files.flatMap((file) => {
    const written = readYaml(file.text, file.name);
    const own = [...withoutOtherKinds(written)];
    otherKinds += written.length - own.length;
    return own.map((document): Placed => ({ file, document }));
  });
  const placed = all.filter((one) => !isTestFile(one));
  const services = placed.filter(isServiceConfig);
  const configs = services.map(({ document, file }) => readServiceDocument(document, file.absolutePath));
  const config = named === null ? onlyOf(configs.map((read) => read.config)) : named.config;
  const documents = placed.filter((one) => !isServiceConfig(one));
  const read = documents.map(({ document, file }) =>
    readLocated(inNamespace(document, namespace), file.name, { ...readOptionsOf(config), now }),
  );
  const unique = refuseDuplicates(read);
  const valid = unique.flatMap((one, index): readonly GivenDocument[] => {
    const { absolutePath } = documents[index]?.file ?? { absolutePath: '-' };
    return one.scaler === null ? [] : [{ ...one, scaler: one.scaler, absolutePath }];
  });
  const scalers = valid.map(({ scaler }) => scaler);
  const scaling = scalers.filter(({ spec }) => !spec.dryRun);
  const byTarget = groupBy(scaling, targetOf);
  const limitProblem = checkLimits(
    files.map(({ text }) => text.length),
    documents.length,
  );
  const problems = [
    ...unread,
    ...(limitProblem === null ? [] : [limitProblem]),
    // A single empty file is valid, but if all files are empty, that is probably a mistake.
    ...(all.length === 0 ? files.map(({ name }) => unreadable(name, 'the file contains no document')) : []),
    ...(named?.problems ?? []),
    ...configs.flatMap((one) => one.problems),
    ...unique.flatMap((one, index) =>
      inLineOrder([
        ...one.problems,
        ...sharedTarget(documents[index]?.document ?? null, one.scaler, byTarget),
      ]),
    ),
  ];
  const errors = countErrors(problems);
  const report = {
    serviceConfigs: configs.length + (named === null ? 0 : 1),
    documents: documents.length,
    ...(all.length === placed.length ? {} : { testFiles: all.length - placed.length }),
    ...(otherKinds === 0 ? {} : { otherKinds }),
    errors,
    warnings: problems.length - errors,
    problems,
    schedules: nextTimes(scalers, now),
  };
  return { report, config, configFile: named?.name ?? services[0]?.file.name, documents: valid };
}

/** Sets the namespace of a document without a namespace and rejects another namespace, like `kubectl apply -n`. */
function inNamespace(document: LocatedDocument, namespace: string | undefined): LocatedDocument {
  const { value, problems, locate } = document;
  if (namespace === undefined || !isPlainObject(value)) return document;
  const metadata = value['metadata'] ?? {};
  if (!isPlainObject(metadata)) return document;
  const own = metadata['namespace'] ?? namespace;
  if (own === namespace) return { ...document, value: { ...value, metadata: { ...metadata, namespace } } };
  const message = `metadata.namespace is ${formatValue(own)}, but --namespace is ${namespace}`;
  const problem = locate(finding('wrong-value', ['metadata', 'namespace'], message));
  return { ...document, problems: [...problems, problem] };
}

function targetOf({ namespace, spec }: Scaler): string {
  return targetKey(namespace, spec.scaleTargetRef);
}

/**
 * If several scalers have the same target, returns a problem for the first scaler, which names the others. The service
 * accepts all of their documents, because it cannot know which document is the mistake, but scales none of them.
 */
function sharedTarget(
  document: LocatedDocument | null,
  scaler: Scaler | null,
  byTarget: ReadonlyMap<string, readonly Scaler[]>,
): readonly Problem[] {
  if (document === null || scaler === null) return [];
  const [first, ...others] = byTarget.get(targetOf(scaler)) ?? [];
  if (first !== scaler || others.length === 0) return [];
  const names = listSome(others.map((one) => `Scaler ${one.key}`));
  const target = nameTarget(scaler.namespace, scaler.spec.scaleTargetRef);
  const message =
    others.length === 1
      ? `this document and ${names} both scale ${target}, so promscaler patches the target for neither of the two documents. Delete one of the two documents, or set spec.dryRun: true in one of them`
      : `this document and ${names} all scale ${target}, so promscaler patches the target for none of these documents. Delete all but one of the documents, or set spec.dryRun: true in all but one`;
  return [document.locate(finding('shared-target', ['spec', 'scaleTargetRef'], message))];
}

/**
 * Returns whether the document is a service config. An object with `spec` is not a service config, and is reported as a
 * scaler without apiVersion and kind. A file with a syntax error counts as a service config if it looks like one,
 * because its lines may contain secrets and must not be shown.
 */
function isServiceConfig({ document: { value }, file }: Placed): boolean {
  if (value === undefined) return mayBeServiceText(file.text);
  return isServiceDocument(value) && isPlainObject(value) && value['spec'] === undefined;
}

/** Returns whether a file contains tests for `promscaler test`, which may be next to the documents. */
function isTestFile({ document: { value } }: Placed): boolean {
  return isPlainObject(value) && Array.isArray(value['tests']) && value['apiVersion'] === undefined;
}

/** Returns the only service config; null: there is none, or there are several, so none of them applies. */
function onlyOf(configs: readonly (ServiceConfig | null)[]): ServiceConfig | null {
  const [first = null] = configs;
  return configs.length === 1 ? first : null;
}

/** The checks that only --live makes. Without --live, types and labels of a query are checked in its syntax tree. */
const NOT_CHECKED =
  'without --live, validate does not check whether the metrics, labels and target exist, nor the number of series, units and permissions';

export interface NextTimes {
  readonly scaler: string;
  readonly schedule: string;
  readonly timeZone: string;
  /** At most three periods, in local time without seconds. The first period may be active. */
  readonly next: readonly {
    readonly start: string;
    readonly end: string;
    /** True for the active period, otherwise unset. */
    readonly active?: true;
  }[];
}

const COUNT = 3;

function nextTimes(scalers: readonly Scaler[], now: Instant): readonly NextTimes[] {
  return scalers.flatMap((scaler) =>
    scaler.spec.schedules.map((schedule) => {
      const { name, timeZone } = schedule;
      const next = nextOccurrences(schedule, now, COUNT).map(({ start, end }) => ({
        start: formatLocal(start, timeZone),
        end: formatLocal(end, timeZone),
        ...(start <= now ? { active: true as const } : {}),
      }));
      return { scaler: scalerKey(scaler), schedule: name, timeZone, next };
    }),
  );
}

/** Returns for example `shop/web, schedule day (Europe/Warsaw): 2026-11-23 08:00 to 19:00 (active now), ...`. */
function describeNextTimes({ scaler, schedule, timeZone, next }: NextTimes): string {
  const times = next.map(
    ({ start, end, active }) =>
      `${spaced(start)} to ${endText(start, end)}${active === undefined ? '' : ' (active now)'}`,
  );
  const text = times.length === 0 ? 'never active again' : times.join(', ');
  return `${scaler}, schedule ${schedule} (${timeZone}): ${text}`;
}

function endText(start: string, end: string): string {
  return start.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : spaced(end);
}

function spaced(time: string): string {
  return time.replace('T', ' ');
}
