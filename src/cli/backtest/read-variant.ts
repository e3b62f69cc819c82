import { importObjects } from '../../importers/import-objects.js';
import { type Draft, isIncomplete } from '../../importers/draft/draft.js';
import { documentOf } from '../../importers/draft/write-document.js';
import { PLACEHOLDER } from '../../scaler/read/parse-scaler.js';
import { writeStructured } from '../output/output-format.js';
import { NO_QUERIES } from '../../importers/manifest/named-metric.js';
import { readManifests } from '../../importers/read-manifests.js';
import { formatPath } from '../../scaler/problems/finding.js';
import { type ReadDocument, type ReadOptions, readDocuments } from '../../scaler/read/read-scalers.js';
import { type Scaler, scalerKey } from '../../scaler/spec.js';
import { readInput } from '../input/read-files.js';
import { CommandError, type CommandIo } from '../output/io.js';
import { nameProgram, writeProblems } from '../output/lines.js';
import { listSome } from '../../units/format.js';

/**
 * Reads a scaler from a file: a scaler document, or an HPA, ScaledObject or other autoscaler, which is converted as by
 * `import`. If the file contains several, the argument must end with `#NAMESPACE/NAME` or `#NAME`.
 */
export async function readVariant(
  option: string,
  argument: string,
  options: ReadOptions,
  io: CommandIo,
): Promise<Scaler> {
  const [file = '', wanted] = argument.split('#', 2);
  const input = await readInput(file, io);
  if ('code' in input) throw new CommandError(`${option}: reading ${file}: ${input.message}`);
  const all = importText(input.text, file);
  const written = readDocuments(input.text, file, options);
  const ownDocuments = all.text === null ? written : written.filter(isScalerDocument);
  const isOwn = all.text === null || ownDocuments.some(({ key }) => isWanted(key, wanted));
  const imported = isOwn ? NOT_IMPORTED : all;
  if (isOwn && all.text !== null)
    io.stderr.write(`${file}: the Scaler document is used, not ${listSome(all.labels)} of the same file\n`);
  for (const { key, line } of imported.remarks)
    if (key === null || isWanted(key, wanted)) io.stderr.write(`${nameProgram(line, io)}\n`);
  const documents = imported.text === null ? ownDocuments : readDocuments(imported.text, file, options);
  // Problems of a converted document have no line numbers, because the lines of the document are not lines of the file.
  const isConverted = imported.text !== null;
  // Includes the problems of a document whose name cannot be read, because it may be the wanted document.
  const problems = documents
    .filter(({ key }) => key === null || isWanted(key, wanted))
    .flatMap(({ key, problems: each }) =>
      isConverted
        ? each.map((problem) => ({
            ...problem,
            ...{ file: `${file}#${key ?? ''} (converted)`, place: null, sourceLine: null },
          }))
        : each,
    );
  writeProblems(problems, io);
  const scalers = documents.flatMap(({ scaler }) => (scaler === null ? [] : [scaler]));
  const [scaler, second] = scalers.filter((each) => isWanted(scalerKey(each), wanted));
  if (scaler === undefined) throw new CommandError(`${option}: ${whyNone(argument, scalers)}`);
  if (second !== undefined)
    throw new CommandError(
      `${option}: ${file} has several scalers (${listSome(scalers.map(scalerKey))}); select one: ${file}#${scalerKey(scaler)}`,
    );
  const missing = imported.incomplete.get(scalerKey(scaler));
  if (missing !== undefined)
    throw new CommandError(
      `${option}: ${file}: ${missing}. Without these parts, the back-test would run a different autoscaler. Convert the file with promscaler import, complete the document, and pass the document instead`,
    );
  return scaler;
}

/** Returns whether the document has the kind Scaler, even if it is invalid. */
function isScalerDocument({ problems }: ReadDocument): boolean {
  return problems.every(({ code }) => code !== 'wrong-kind');
}

/**
 * Returns whether a document is wanted. `key`: `NAMESPACE/NAME` of the document; null: its name cannot be read.
 * `wanted`: `NAMESPACE/NAME` or `NAME`; undefined: any document is wanted.
 */
function isWanted(key: string | null, wanted: string | undefined): boolean {
  return (
    wanted === undefined || key === wanted || (key !== null && key.slice(key.indexOf('/') + 1) === wanted)
  );
}

function whyNone(argument: string, scalers: readonly Scaler[]): string {
  if (scalers.length === 0) return `${argument} has no valid scaler document or autoscaler`;
  return `${argument} does not exist; the scalers of the file are ${listSome(scalers.map(scalerKey))}`;
}

interface ImportedText {
  /** Names of the converted autoscalers, such as `HPA shop/web`. */
  readonly labels: readonly string[];
  /** The scaler documents as YAML; null: the file contains no other autoscaler. */
  readonly text: string | null;
  /** Remarks, each with the `NAMESPACE/NAME` of its document; null: the remark belongs to no document. */
  readonly remarks: readonly { readonly key: string | null; readonly line: string }[];
  /** Maps an incomplete document to the metrics or schedules that it lacks. */
  readonly incomplete: ReadonlyMap<string, string>;
}

const NOT_IMPORTED: ImportedText = { labels: [], text: null, remarks: [], incomplete: new Map() };

function importText(text: string, file: string): ImportedText {
  const { values } = readManifests(text, file);
  const { objects } = importObjects(values, {
    namespace: 'default',
    isNamespaceGiven: true,
    queries: NO_QUERIES,
    isDryRun: false,
  });
  if (objects.length === 0) return NOT_IMPORTED;
  const incomplete = new Map<string, string>();
  const remarks = objects.flatMap(({ label, key, draft, remarks: all }) => {
    const losses = all.filter(({ kind }) => kind === 'loss');
    const missing = losses.filter(({ message }) => message.includes('FILL IN'));
    if (key !== null && draft !== null && isIncomplete(draft)) {
      const parts = missing.map(
        ({ path, message }) => `${formatPath(path)}: ${message.split('\n')[0] ?? ''}`,
      );
      incomplete.set(key, `${label} cannot be converted completely: ${parts.join('; ')}`);
    }
    return losses
      .filter((one) => !missing.includes(one))
      .map(({ path, message }) => ({ key, line: `${file}: ${label}: ${formatPath(path)} ${message}` }));
  });
  const documents = objects.flatMap(({ text: whole, draft }) => {
    if (whole === null || draft === null) return [];
    // The placeholders are removed, because their values are invalid. `incomplete` says what is missing.
    return isIncomplete(draft) ? [writeStructured('yaml', documentOf(withoutPlaceholder(draft)))] : [whole];
  });
  const labels = objects.map(({ label }) => label);
  return { labels, text: documents.join('---\n'), remarks, incomplete };
}

function withoutPlaceholder(draft: Draft): Draft {
  const { paused, ...spec } = draft.spec;
  return paused === PLACEHOLDER ? { ...draft, spec } : draft;
}
