import { remarkLine } from '../../importers/import-object.js';
import {
  type ImportedManifest,
  type ImportedManifests,
  importObjects,
} from '../../importers/import-objects.js';
import type { ImportContext } from '../../importers/manifest/context.js';
import { NO_QUERIES } from '../../importers/manifest/named-metric.js';
import { IMPORT_BOUNDS, readManifests } from '../../importers/read-manifests.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { readAdapterFile } from '../input/read-adapter-file.js';
import { type InputFiles, readInputFiles } from '../input/read-files.js';
import type { CommandIo, ExitCode } from '../output/io.js';
import { nameProgram, writeProblems } from '../output/lines.js';
import {
  rejectWithoutLive,
  readOptionsOf,
  requireServiceConfig,
  withPrometheusUrl,
} from '../input/service-config.js';
import { contextNamespace, type ClusterOptions, withCluster } from '../reach/cluster-options.js';
import { resolveServiceConfig, type ServiceConfig } from '../../config/resolve-service-config.js';
import { findOtherScaler, whyNotScaling } from '../../control/cycle/shared-targets.js';
import { unreadTarget } from '../../decision/failing.js';
import { isIncomplete } from '../../importers/draft/draft.js';
import { oneLine } from '../../importers/draft/comments.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import type { Answer } from '../../prometheus/answers/answer.js';
import { readScalers } from '../../scaler/read/read-scalers.js';
import type { Scaler } from '../../scaler/spec.js';
import type { CycleRecord } from '../../telemetry/cycle-record.js';
import { describeFailure } from '../../units/failure.js';
import { mapAtOnce } from '../../units/semaphore.js';
import { decideOnce } from '../checks/decision.js';
import type { ClusterContext, SourceContext } from '../checks/context.js';
import { openCluster } from '../checks/cluster.js';
import { openDataSource, readAllAnswers } from '../checks/open-data-source.js';
import { readClusterFacts } from '../checks/scaler-facts.js';
import { countOf } from '../../units/format.js';

export interface ImportOptions extends LiveOptions {
  /** Files and directories; `-` is standard input. */
  readonly paths: readonly string[];
  /** Namespace of the objects that do not contain a namespace. */
  readonly namespace?: string;
  readonly adapterConfig?: string;
  /** Whether to reject objects that can be converted only in part. */
  readonly strict?: boolean;
  readonly dryRun?: boolean;
  /** Whether to compare each document with the current count of its HPA. */
  readonly live?: boolean;
}

type Known = Omit<ImportContext, 'sources'>;

/**
 * Runs `import`: converts autoscalers and prints scaler documents. For each part that is not converted, prints a line
 * on standard error. Returns 1 if there is no document, or if an object cannot be read or converted, except an HPA that
 * KEDA has created; with `strict`, also if a part is not converted.
 */
export async function runImport(options: ImportOptions, io: CommandIo): Promise<ExitCode> {
  const { strict: isStrict = false, live: isLive = false, config, prometheus, url } = options;
  if (!isLive) rejectWithoutLive({ config, prometheus, url });
  const context = await readContext(options, io);
  const input = await readInputFiles(options.paths, io, IMPORT_BOUNDS.bytes);
  const { imported, problems } = importFiles(input, context);
  const written = imported.objects.filter((object) => isWritten(object, isStrict));
  io.stdout.write(written.map(({ text }) => text ?? '').join('---\n'));
  writeProblems(problems, io);
  for (const object of imported.objects) writeRemarks(object, isStrict, io);
  for (const line of sharedTargetLines(written)) io.stderr.write(`${line}\n`);
  if (isLive)
    for (const line of await compareLive(written, options, io)) io.stderr.write(`${nameProgram(line, io)}\n`);
  if (imported.objects.length === 0 && problems.length === 0)
    io.stderr.write(`promscaler: ${nothingFound(imported)}\n`);
  const wanted = imported.objects.filter(({ madeFrom }) => isStrict || madeFrom === undefined);
  const isComplete = written.length > 0 && written.length === wanted.length;
  return isComplete && problems.every(({ severity }) => severity === 'warning') ? 0 : 1;
}

async function readContext(options: ImportOptions, io: CommandIo): Promise<Known> {
  const { namespace, adapterConfig, dryRun: isDryRun = false } = options;
  return {
    namespace: namespace ?? (await contextNamespace(options, io)),
    isNamespaceGiven: namespace !== undefined,
    queries: adapterConfig === undefined ? NO_QUERIES : await readAdapterFile(adapterConfig, io),
    isDryRun,
  };
}

function importFiles(
  { files, problems: unreadable }: InputFiles,
  context: Known,
): { readonly imported: ImportedManifests; readonly problems: readonly Problem[] } {
  const read = files.map(({ text, name }) => readManifests(text, name));
  return {
    imported: importObjects(
      read.flatMap(({ values }) => values),
      context,
    ),
    problems: [...unreadable, ...read.flatMap(({ problems }) => problems)],
  };
}

function isWritten({ text, remarks }: ImportedManifest, isStrict: boolean): boolean {
  return text !== null && !(isStrict && remarks.some(({ kind }) => kind === 'loss'));
}

function writeRemarks(object: ImportedManifest, isStrict: boolean, io: CommandIo): void {
  const { file, label, remarks, text, madeFrom } = object;
  const lines = remarks.filter(({ kind }) => kind === 'loss').map((remark) => remarkLine(label, remark));
  for (const line of lines) io.stderr.write(`${file}: ${nameProgram(line, io)}\n`);
  if (isWritten(object, isStrict) || madeFrom !== undefined) return;
  const why = text === null ? '' : ', because --strict requires a complete conversion';
  io.stderr.write(`${file}: ${label}: not imported${why}\n`);
}

function nothingFound({ others }: ImportedManifests): string {
  const kinds = [...others].map(([kind, count]) => `${count} ${kind}`).slice(0, 10);
  const found = kinds.length === 0 ? 'the input has no documents' : `the input has ${kinds.join(', ')}`;
  return `no autoscaler to import: ${found}`;
}

/**
 * Returns a line for each document whose target an earlier document already has. promscaler does not scale a target
 * that has two documents.
 */
function sharedTargetLines(objects: readonly ImportedManifest[]): readonly string[] {
  const first = new Map<string, ImportedManifest>();
  return objects.flatMap((object) => {
    const { file, label, draft } = object;
    const target = draft?.spec['scaleTargetRef'];
    if (draft === null || !isPlainObject(target)) return [];
    const { apiVersion = '', kind = '', name } = target;
    const key = JSON.stringify([draft.metadata['namespace'], apiVersion, kind, name]);
    const other = first.get(key);
    if (other === undefined) {
      first.set(key, object);
      return [];
    }
    return [
      `${file}: ${label} has the same target as ${other.label}: promscaler scales this target only after one of the documents is removed`,
    ];
  });
}

interface LiveOptions extends ClusterOptions {
  /** File with the service config, which contains the data sources. */
  readonly config?: string;
  /** URL that replaces the URLs of the data source `default`. */
  readonly prometheus?: string;
}

const CONCURRENT = 8;

/**
 * Compares what each document decides now with the current count of its HPA. Returns one line for each document, in the
 * same order. Sends only read requests.
 */
async function compareLive(
  objects: readonly ImportedManifest[],
  options: LiveOptions,
  io: CommandIo,
): Promise<readonly string[]> {
  const config = await readConfig(options, io);
  const documents = objects.map((object) => ({ object, read: readDocument(object, config) }));
  const scalers = documents.flatMap(({ read }) => (typeof read === 'string' ? [] : [read]));
  const { clock, signal, env } = io;
  const context = { clock, signal, env, config, scalers };
  const opened = await openCluster(context);
  if ('status' in opened) return documents.map(({ object }) => notCompared(object, opened.message));
  const sources = new Map(
    await Promise.all(
      Object.entries(config.prometheus).map(async ([name, source]) => {
        const { recognized } = openDataSource(context, source);
        return [name, await recognized()] as const;
      }),
    ),
  );
  const answers = readAllAnswers(context, sources);
  try {
    return await mapAtOnce(documents, CONCURRENT, async ({ object, read }) =>
      typeof read === 'string'
        ? notCompared(object, read)
        : compareOne(object, read, { context: opened, sources, answers }),
    );
  } finally {
    opened.transport.close();
  }
}

async function readConfig(options: LiveOptions, io: CommandIo): Promise<ServiceConfig> {
  const { config: file, prometheus } = options;
  const config = (await requireServiceConfig(file, io)) ?? resolveServiceConfig({}, null);
  return withCluster(withPrometheusUrl(config, prometheus), options);
}

/** Returns the document, or a string that says why it cannot be compared. */
function readDocument({ text, draft }: ImportedManifest, config: ServiceConfig): Scaler | string {
  if (draft === null || isIncomplete(draft)) return 'the document is incomplete: replace each FILL IN';
  const { scalers, problems } = readScalers(text ?? '', 'document', readOptionsOf(config));
  const [error] = problems.filter(({ severity }) => severity === 'error');
  return scalers[0] ?? error?.message ?? 'the document is invalid';
}

async function compareOne(
  object: ImportedManifest,
  scaler: Scaler,
  input: {
    readonly context: ClusterContext;
    readonly sources: ReadonlyMap<string, SourceContext>;
    readonly answers: Promise<ReadonlyMap<Scaler, readonly Answer[]>>;
  },
): Promise<string> {
  const { context, sources } = input;
  const cluster = await readClusterFacts(context, scaler);
  const { target, pods, others } = cluster;
  const failed = [target, pods, others].find((one) => one instanceof KubernetesError);
  if (failed instanceof KubernetesError) return notCompared(object, failed.message);
  const other =
    others instanceof KubernetesError
      ? null
      : findOtherScaler(scaler.namespace, scaler.spec.scaleTargetRef, others);
  if (other === null) {
    const workload = nameTarget(scaler.namespace, scaler.spec.scaleTargetRef);
    return notCompared(object, `no HPA scales ${workload}`);
  }
  if (other.desiredReplicas === undefined) return notCompared(object, whyNotScaling(other));
  const answers = (await input.answers).get(scaler) ?? [];
  const record = await decideOnce({ scaler, cluster, context, sources, answers, sharesTargetWith: null });
  return compared(object, record, other.desiredReplicas);
}

function compared(object: ImportedManifest, { decision, conditions }: CycleRecord, theirs: number): string {
  if (decision === null)
    return notCompared(object, unreadTarget(conditions)?.message ?? 'no decision is possible');
  for (const { name, error } of decision.metrics)
    if (error !== null) return notCompared(object, `${name} has no value: ${describeFailure(error)}`);
  const ours = decision.desiredReplicas;
  if (ours === theirs) return lineOf(object, `${countOf(ours, 'replica')}, the same as the HPA`);
  const difference = `${Math.abs(ours - theirs)} ${ours > theirs ? 'more' : 'fewer'} than the HPA (${theirs})`;
  return lineOf(object, `${countOf(ours, 'replica')}, ${difference}: ${decision.reason}`);
}

function notCompared(object: ImportedManifest, why: string): string {
  return lineOf(object, `not compared: ${why}`);
}

function lineOf({ file, label }: ImportedManifest, text: string): string {
  return oneLine(`${file}: ${label}: live: ${text}`);
}
