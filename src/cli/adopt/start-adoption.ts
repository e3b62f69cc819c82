import { asObject } from '../../scaler/plain-json.js';
import { targetKey } from '../../kubernetes/targets.js';
import { isIncomplete, type Remark } from '../../importers/draft/draft.js';
import { remarkLine } from '../../importers/import-object.js';
import { NO_QUERIES } from '../../importers/manifest/named-metric.js';
import { IMPORT_BOUNDS } from '../../importers/read-manifests.js';
import { documentOf } from '../../importers/draft/write-document.js';
import { type JsonObject, objectIn, textIn, textsIn } from '../../kubernetes/api/json.js';
import { OBJECTS_PATH } from '../../scaler/problems/problem.js';
import { readLocated } from '../../scaler/read/read-scalers.js';
import { readYaml } from '../../scaler/yaml/read-yaml.js';
import { quoteForShell } from '../../units/clean-text.js';
import { readAdapterFile } from '../input/read-adapter-file.js';
import { readInput } from '../input/read-files.js';
import { writeStructured } from '../output/output-format.js';
import { CommandError, type ExitCode } from '../output/io.js';
import { nameProgram, writeProblems } from '../output/lines.js';
import { SCALER, targetOf } from '../reach/source-kinds.js';
import { commandFor, kubectlFor, nameSource } from './adopt-options.js';
import {
  type AdoptContext,
  isMadeFrom,
  nameScaler,
  notInDryRun,
  patchCommand,
  pausedIn,
  readAdoption,
  readWorkload,
  type ScalerObject,
  nameWorkload,
  notStarted,
  pollFor,
  waitForCondition,
  whyRejected,
} from './adoption.js';
import { whyIdle } from './agreement.js';
import { importNow, whatChanged, whyOwned } from './check-source.js';
import { findPause, whyManaged, whyNoTarget } from './check-switch.js';
import {
  whyNextToScaler,
  whyPausedInKeda,
  whyPrevented,
  whySecondIfListed,
  whySucceeded,
} from './other-autoscaler.js';
import { adoptionAnnotations, manifestOf, savedManifest } from './saved-manifest.js';
import { tryService } from '../reach/service-client.js';

/**
 * Creates a Scaler object in dry run next to the autoscaler, which continues to scale. Does not change an existing
 * Scaler object.
 */
export async function startAdoption(context: AdoptContext): Promise<ExitCode> {
  const { source, objects, io, options } = context;
  const { object, scaler } = await readAdoption(context);
  if (object === null) {
    if (scaler === null) throw await notStarted(context, { object });
    const left =
      savedManifest(scaler.object) !== null
        ? `To create the autoscaler again: ${commandFor('--undo', context)}`
        : `To end the dry run: ${commandFor('--switch', context)}`;
    const next = (await whySucceeded(context, scaler)) ?? left;
    throw new CommandError(
      `${nameSource(source)} does not exist; ${nameScaler(context, scaler)} was made from this autoscaler. ${next}`,
    );
  }
  const owned = whyOwned(object, source);
  if (owned !== null) throw new CommandError(owned);
  if (scaler !== null) {
    if (!scaler.isDryRun) throw notInDryRun(context, scaler);
    if (options.filename !== undefined)
      throw new CommandError(
        `${nameScaler(context, scaler)} exists, so -f ${options.filename} was not used. To create the scaler from this file, delete the scaler first: ${kubectlFor(`delete ${OBJECTS_PATH} ${quoteForShell(scaler.name)}`, context)}`,
      );
    const accepted = await waitForCondition(context, scaler, 'Accepted');
    const rejected = whyRejected(context, scaler.name, accepted);
    if (rejected !== null)
      throw new CommandError(
        `${rejected}. Nothing was changed. Correct the scaler, or delete the scaler to import again`,
      );
    io.stdout.write(
      `${nameScaler(context, scaler)} is already in dry run next to ${nameSource(source)}; nothing was changed. To import again, delete the scaler first\n`,
    );
    const isMade = isMadeFrom(source, scaler);
    if (!isMade)
      io.stderr.write(
        `note: ${nameScaler(context, scaler)} was not made from ${nameSource(source)}, but has the same target. Compare the metrics and bounds of scaler and autoscaler before the switch. The switch needs --force\n`,
      );
    const workload = await readWorkload(context, scaler);
    const prevented =
      whyNoTarget(context, scaler, { workload, row: null }) ??
      whyPausedInKeda(context, object, scaler) ??
      (await whySecondIfListed(context, scaler)) ??
      (await whyNextToScaler(context, scaler)) ??
      whyManaged(context, scaler) ??
      whatChanged(context, scaler, object) ??
      // `announceNext` prints the pause of a document.
      (pausedIn(scaler.object) === false ? (await findPause(context, scaler))?.why : null) ??
      null;
    if (prevented !== null) io.stderr.write(`promscaler: warning: ${prevented}\n`);
    return announceNext(context, { scaler, accepted, offersSwitch: isMade && prevented === null });
  }
  const { document, text, notes } =
    options.filename === undefined
      ? await importSource(context, object)
      : await readScalerFile(context, options.filename, object);
  if (options.preview === true) {
    io.stdout.write(text);
    return 0;
  }
  const created = {
    name: textIn(objectIn(document, 'metadata'), 'name') ?? source.name,
    target: targetOf(document),
  };
  await checkFiles(context, created);
  // A workload that cannot be read may exist.
  if ((await readWorkload(context, created)) === null)
    throw new CommandError(
      `${nameWorkload(context, created)} does not exist, so ${nameSource(source)} scales nothing. Nothing was created. Create the workload, or delete ${nameSource(source)}`,
    );
  const isCreated = await objects.create(SCALER, withAnnotations(document, object, context));
  if (!isCreated)
    throw new CommandError(
      `${nameScaler(context, created)} exists with another target. Pass the document with another name: -f FILE`,
    );
  const prevented = await whyPrevented(context, object, created);
  const idle = await whyIdle(context, object, { scaler: created, isNew: false, prevented });
  const effect = idle ?? `${nameSource(source)} goes on scaling ${nameWorkload(context, created)}`;
  io.stdout.write(`${nameScaler(context, created)} created, in dry run: ${effect}\n`);
  for (const note of notes) io.stdout.write(`Note:    ${nameProgram(note, io)}\n`);
  const accepted = await waitForCondition(context, created, 'Accepted');
  const rejected = whyRejected(context, created.name, accepted);
  if (rejected !== null) throw new CommandError(rejected);
  const scalerObject = { name: created.name, object: document };
  return announceNext(context, { scaler: scalerObject, accepted, offersSwitch: prevented === null });
}

interface FirstDocument {
  readonly document: JsonObject;
  /** The document as YAML. */
  readonly text: string;
  /** The comments of the document, which an object cannot contain. */
  readonly notes: readonly string[];
}

type Created = Pick<ScalerObject, 'name' | 'target'>;

/**
 * Throws `CommandError` if a file of the service contains a document with the same name, because the new object would
 * have no effect. Prints a note about a document with the same target, which does not affect a dry run.
 */
async function checkFiles(context: AdoptContext, created: Created): Promise<void> {
  const { io } = context;
  const found = await findInFile(context, created);
  if (found === null) return;
  const name = nameScaler(context, { name: found });
  if (found === created.name)
    throw new CommandError(
      `${name} is a document in a file of the service, and takes precedence over an object with the same name. Nothing was created. Delete the document from the files first, or pass the document with another name: -f FILE`,
    );
  io.stderr.write(
    `note: ${name}, a document in a file of the service, has the same target as ${nameSource(context.source)}. Delete this document from the files, or put it in dry run, before ${commandFor('--switch', context)}\n`,
  );
}

/** Maximum time until the service removes a scaler whose object was deleted. */
const FORGET_MS = 5000;

/**
 * Returns the name of a scaler with the same name or target that the service read from a file; null: there is none, or
 * the service does not answer.
 */
async function findInFile(
  { io, objects, options, source: { namespace } }: AdoptContext,
  created: Created,
): Promise<string | null> {
  const key = targetKey(namespace, created.target);
  const found = await tryService(options, io, async (client) => {
    const find = async (): Promise<string | null> => {
      const { rows } = await client.listScalers(namespace);
      const objectNames = (await objects.list(SCALER)).map((one) =>
        textIn(objectIn(one, 'metadata'), 'name'),
      );
      const row =
        rows.find(({ name }) => name === created.name) ??
        rows.find(({ target }) => targetKey(namespace, target) === key);
      return row === undefined || objectNames.includes(row.name) ? null : row.name;
    };
    const isNone = await pollFor(io, FORGET_MS, async () => ((await find()) === null ? true : null));
    return isNone === null ? find() : null;
  });
  return found instanceof CommandError ? null : found;
}

async function importSource(context: AdoptContext, object: JsonObject): Promise<FirstDocument> {
  const { source, io, options } = context;
  const { adapterConfig } = options;
  const queries = adapterConfig === undefined ? NO_QUERIES : await readAdapterFile(adapterConfig, io);
  const { kind } = source;
  const imported = importNow(source, object, queries);
  const linesOf = (kind: Remark['kind']): readonly string[] =>
    (imported?.remarks ?? [])
      .filter((remark) => remark.kind === kind)
      .map((remark) => remarkLine(imported?.label ?? '', remark));
  for (const line of linesOf('loss')) io.stderr.write(`${nameProgram(line, io)}\n`);
  const draft = imported?.draft ?? null;
  if (draft === null)
    throw new CommandError(`${nameSource(source)} cannot be converted to a scaler document`);
  const rules = adapterConfig === undefined ? '' : ` --adapter-config ${adapterConfig}`;
  if (isIncomplete(draft))
    throw new CommandError(
      `${nameSource(source)} cannot be converted completely, and nothing was created. Write the document to a file, replace each FILL IN, and pass the file:
  ${kubectlFor(`get ${kind.types[0] ?? ''} ${source.name} -o yaml`, context)} | ${io.command} import --dry-run${rules} - > ${source.name}.yaml
  ${commandFor(`-f ${source.name}.yaml`, context)}`,
    );
  return { document: documentOf(draft) as JsonObject, text: imported?.text ?? '', notes: linesOf('note') };
}

function withAnnotations(document: JsonObject, object: JsonObject, { source, io }: AdoptContext): JsonObject {
  const metadata = objectIn(document, 'metadata') ?? {};
  const added = adoptionAnnotations(source, manifestOf(object, source), io.clock.now());
  const annotations = { ...textsIn(metadata, 'annotations'), ...added };
  return { ...document, metadata: { ...metadata, annotations } };
}

/** Prints the next steps. `accepted`: null if no service has read the scaler in time. */
function announceNext(
  context: AdoptContext,
  {
    scaler,
    accepted,
    offersSwitch,
  }: {
    readonly scaler: Pick<ScalerObject, 'name' | 'object'>;
    readonly accepted: JsonObject | null;
    readonly offersSwitch: boolean;
  },
): ExitCode {
  const { io, source } = context;
  if (accepted === null)
    io.stderr.write(
      `promscaler: warning: no service has accepted ${nameScaler(context, scaler)} yet. The service must run with scalers.customResources: true and without --dry-run, and watch namespace ${source.namespace}\n`,
    );
  const paused = pausedIn(scaler.object);
  if (paused !== false)
    io.stdout.write(
      `Paused:  spec.paused is ${String(paused)}, so nothing is compared or switched. To end the pause: ${patchCommand(context, scaler, { paused: null })}\n`,
    );
  io.stdout.write(`Compare: ${commandFor('--report', context)}\n`);
  if (offersSwitch && paused === false) io.stdout.write(`Switch:  ${commandFor('--switch', context)}\n`);
  return 0;
}

/** Reads a document that the user has completed, and sets `dryRun: true`. It must have the target of the autoscaler. */
async function readScalerFile(
  context: AdoptContext,
  file: string,
  object: JsonObject,
): Promise<FirstDocument> {
  const { io, source } = context;
  const input = await readInput(file, io, IMPORT_BOUNDS.bytes);
  if ('code' in input) throw new CommandError(`-f ${file}: ${input.message}`);
  const [document, second] = readYaml(input.text, file);
  if (document === undefined || second !== undefined)
    throw new CommandError(`-f ${file}: must have exactly one scaler document`);
  const { scaler, problems } = readLocated(document, file, {});
  writeProblems(problems, io);
  const value = asObject(document.value);
  if (scaler === null || value === null)
    throw new CommandError(`-f ${file}: the scaler document is invalid. Nothing was created`);
  const { namespace } = source;
  if (scaler.namespace !== namespace)
    throw new CommandError(`-f ${file}: metadata.namespace is ${scaler.namespace}, must be ${namespace}`);
  const target = targetOf(value);
  const wanted = targetOf(object);
  if (targetKey(namespace, target) !== targetKey(namespace, wanted))
    throw new CommandError(
      `-f ${file}: the target is ${nameWorkload(context, { target })}, but ${nameSource(source)} scales ${nameWorkload(context, { target: wanted })}`,
    );
  const metadata = { ...objectIn(value, 'metadata'), name: textIn(objectIn(value, 'metadata'), 'name') };
  const made = { ...value, metadata, spec: { ...objectIn(value, 'spec'), dryRun: true } };
  return { document: made, text: writeStructured('yaml', made), notes: [] };
}
