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
import { rejectWithoutLive } from '../input/service-config.js';
import { contextNamespace } from '../reach/cluster-options.js';
import { type LiveOptions, compareLive } from './compare-live.js';

export interface ImportOptions extends LiveOptions {
  /** Files and directories; `-` is standard input. */
  readonly paths: readonly string[];
  /** Namespace of the objects that do not contain one. */
  readonly namespace?: string;
  readonly adapterConfig?: string;
  /** Whether to reject objects of which a part cannot be converted. */
  readonly strict?: boolean;
  readonly dryRun?: boolean;
  /** Whether to compare each document with the current count of its HPA. */
  readonly live?: boolean;
}

type Known = Omit<ImportContext, 'sources'>;

/**
 * Runs `import`: converts autoscalers and prints scaler documents. For each part that is not converted, prints a line
 * on standard error. Returns 1 if an object cannot be read or converted; with `strict`, also if such a line was
 * printed.
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
  const isComplete = written.length > 0 && written.length === imported.objects.length;
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
  const { file, label, remarks, text } = object;
  const lines = remarks.filter(({ kind }) => kind === 'loss').map((remark) => remarkLine(label, remark));
  for (const line of lines) io.stderr.write(`${file}: ${nameProgram(line, io)}\n`);
  if (isWritten(object, isStrict)) return;
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
