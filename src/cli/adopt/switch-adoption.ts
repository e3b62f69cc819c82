import { targetKey } from '../../kubernetes/targets.js';
import { type JsonObject, objectIn, textIn } from '../../kubernetes/api/json.js';
import type { ScalerView } from '../../api/answers.js';
import { OBJECTS_PATH } from '../../scaler/problems/problem.js';
import { ADOPTED_AT, ADOPTED_MANIFEST } from '../../scaler/spec.js';
import { quoteForShell } from '../../units/clean-text.js';
import { parseInstant } from '../../units/time.js';
import { CommandError, type ExitCode, orCommandError } from '../output/io.js';
import { HPA, SCALER, targetOf } from '../reach/source-kinds.js';
import { commandFor, nameSource, kubectlFor, promscalerFor } from './adopt-options.js';
import {
  type AdoptContext,
  type ScalerObject,
  anyConditionOf,
  conditionOf,
  nameScaler,
  nameWorkload,
  notInDryRun,
  notStarted,
  patchCommand,
  waitForCondition,
  readAdoption,
  pollFor,
  whyRejected,
} from './adoption.js';
import { agreementText, whyIdle, whyShort } from './agreement.js';
import { managerAdvice, managerOf, whatDiffers, whatIsOther } from './check-source.js';
import { fetchViewAfterPause, findPause, judgeSwitch, whatResets } from './check-switch.js';
import {
  findSecondScaler,
  whyNextToScaler,
  whyPausedInKeda,
  whyPrevented,
  whySucceeded,
} from './other-autoscaler.js';
import { fetchView, confirmService, type ServiceView, whyZero } from './confirm-service.js';
import {
  adoptionAnnotations,
  annotationsOf,
  manifestOf,
  openManifestFile,
  savedManifest,
  type ManifestFile,
  specChanges,
} from './saved-manifest.js';
import { textToPrint } from '../output/lines.js';

/**
 * Saves and deletes the autoscaler, and then ends the dry run. Waits until promscaler has applied a decision, or has
 * decided that the count need not change; otherwise recreates the autoscaler. If the command was interrupted, running
 * it again continues the switch.
 */
export async function switchAdoption(context: AdoptContext): Promise<ExitCode> {
  const { source, io, options } = context;
  const first = await readAdoption(context);
  if (first.scaler === null) throw await notStarted(context, first);
  if (!first.scaler.isDryRun) return confirmEarlier(context, first.scaler, first.object !== null);
  // Fails now if no service answers: otherwise `waitForCondition` would wait for a condition that no service sets.
  await fetchView(context, first.scaler);
  await waitForCondition(context, first.scaler, 'Accepted');
  const { object, scaler } = await readAdoption(context);
  if (scaler === null) throw await notStarted(context, { object });
  const view = await fetchViewAfterPause(context, scaler);
  const { why, canBeForced, report } = await judgeSwitch(context, scaler, { object, view });
  if (report !== null) io.stdout.write(textToPrint(agreementText(report), io));
  if (why !== null)
    throw new CommandError(
      `${why}. Nothing was changed${canBeForced ? '; use --force to switch anyway' : ''}`,
    );
  const manager = object === null ? null : managerOf(object);
  const warnings = [
    report === null || options.force === true ? null : whyShort(report),
    object === null || report === null || report.now === null
      ? whyNotCompared(context, view, object !== null)
      : null,
    view.row === null ? null : whyZero(view.row),
    manager === null ? null : managerAdvice(manager, source),
    object === null ? null : whatDiffers(context, scaler, object),
    await whatResets(context, scaler),
  ];
  for (const warning of warnings) if (warning !== null) io.stderr.write(`promscaler: warning: ${warning}\n`);
  const file = object === null ? null : await openManifestFile(manifestOf(object, source), source, context);
  if (options.preview === true) {
    const steps =
      file === null
        ? []
        : [
            `${nameSource(source)} would be saved in ${file.path} and in ${nameScaler(context, scaler)}, and deleted`,
          ];
    io.stdout.write([...steps, `the dry run of ${nameScaler(context, scaler)} would end`, ''].join('\n'));
    return 0;
  }
  const manifest =
    object === null || file === null
      ? savedManifest(scaler.object)
      : await removeSource(context, scaler, { first: object, file });
  await waitUntilGone(context, scaler);
  return endDryRun(context, scaler, { manifest, before: view.row });
}

/**
 * Returns the warning for a switch whose replica count could not be compared, because the autoscaler does not exist or
 * has no desired replicas.
 */
function whyNotCompared({ source }: AdoptContext, { row }: ServiceView, exists: boolean): string {
  const wanted = row === null ? null : row.desiredReplicas;
  const change =
    wanted === null || wanted === row?.currentReplicas
      ? ''
      : ` (at present, from ${row?.currentReplicas ?? '?'} to ${wanted})`;
  const why = exists
    ? `the last decision was not compared with ${nameSource(source)}`
    : `${nameSource(source)} does not exist, so its desired replicas cannot be compared`;
  return `${why}. The first decision may change the replica count${change}`;
}

/** Confirms a switch whose dry run ended earlier, possibly long ago. A failure does not recreate the autoscaler. */
async function confirmEarlier(
  context: AdoptContext,
  scaler: ScalerObject,
  isNextToSource: boolean,
): Promise<ExitCode> {
  const { source, io } = context;
  const name = nameScaler(context, scaler);
  if (isNextToSource) throw notInDryRun(context, scaler);
  const succeeded = await whySucceeded(context, scaler);
  if (succeeded !== null)
    throw new CommandError(`${name} does not scale ${nameWorkload(context, scaler)}: ${succeeded}`);
  io.stdout.write(`${nameSource(source)} is gone, and the dry run of ${name} has ended\n`);
  const next = await whyNextToScaler(context, scaler);
  if (next !== null)
    throw new CommandError(`${name} does not scale ${nameWorkload(context, scaler)}: ${next}`);
  const paused = await findPause(context, scaler);
  if (paused !== null) throw new CommandError(paused.why);
  const why = await confirmService(context, scaler, {
    after: null,
    replicasBefore: null,
    isForced: context.options.force === true,
    waits: context.options.preview !== true,
  });
  if (why !== null)
    throw new CommandError(
      `${name} does not scale ${nameWorkload(context, scaler)}: ${why}. To undo the switch: ${commandFor('--undo', context)}`,
    );
  io.stdout.write(`Undo:    ${commandFor('--undo', context)}\n`);
  return 0;
}

const MOST_TRIES = 10;

/**
 * Saves the current manifest and deletes exactly this version of the object. If the HPA controller has written the
 * status in between, tries again. Returns the saved manifest.
 */
async function removeSource(
  context: AdoptContext,
  { name }: ScalerObject,
  { first, file }: { readonly first: JsonObject; readonly file: ManifestFile },
): Promise<JsonObject> {
  const { source, objects, io } = context;
  let manifest = manifestOf(first, source);
  const spec = manifest;
  for (let object: JsonObject | null = first, tries = 0; object !== null; tries += 1) {
    manifest = manifestOf(object, source);
    if (tries === MOST_TRIES || specChanges(manifest, spec).length > 0)
      throw new CommandError(`${nameSource(source)} keeps changing and was not deleted. Try again`);
    const paused = whyPausedInKeda(context, object);
    if (paused !== null) throw new CommandError(`${paused}. ${nameSource(source)} was not deleted`);
    await file.write(manifest);
    const annotations = adoptionAnnotations(source, manifest, io.clock.now());
    await objects.patch(SCALER, name, { metadata: { annotations } });
    const metadata = objectIn(object, 'metadata');
    const version = {
      uid: textIn(metadata, 'uid') ?? '',
      resourceVersion: textIn(metadata, 'resourceVersion') ?? '',
    };
    if (await objects.remove(source.kind, source.name, version)) break;
    object = await objects.get(source.kind, source.name);
  }
  io.stdout.write(
    `${nameSource(source)} saved in ${file.path} and in the annotation ${ADOPTED_MANIFEST} of ${nameScaler(context, { name })}, and deleted\n`,
  );
  return manifest;
}

/** Time limit for the deletion. KEDA deletes the HPA of a ScaledObject before the ScaledObject. */
const GONE_MS = 60_000;

async function waitUntilGone(context: AdoptContext, scaler: ScalerObject): Promise<void> {
  const { source, objects, io } = context;
  let why = `${nameSource(source)}${source.kind === HPA ? '' : ' or its HPA'} still exists`;
  const isGone = async (): Promise<boolean> => {
    if ((await objects.get(source.kind, source.name)) !== null) return false;
    const key = targetKey(source.namespace, scaler.target);
    return (await objects.list(HPA)).every((hpa) => targetKey(source.namespace, targetOf(hpa)) !== key);
  };
  const gone = await pollFor(io, GONE_MS, async () => {
    const answer = await orCommandError(isGone);
    // Tries again: the autoscaler is already deleted, so a failure here would leave the workload without an autoscaler.
    if (answer instanceof CommandError) why = answer.message;
    return answer === true ? true : null;
  });
  if (gone !== null) return;
  throw new CommandError(
    `${io.signal.aborted ? 'interrupted' : why}, so ${nameScaler(context, scaler)} stays in dry run. Continue with ${commandFor('--switch', context)}; to undo the switch: ${commandFor('--undo', context)}`,
  );
}

/** Ends the dry run. If no decision of promscaler confirms the switch, recreates the autoscaler. */
async function endDryRun(
  context: AdoptContext,
  scaler: ScalerObject,
  { manifest, before }: { readonly manifest: JsonObject | null; readonly before: ScalerView | null },
): Promise<ExitCode> {
  const { source, objects, io, options } = context;
  const name = nameScaler(context, scaler);
  const undo = commandFor('--undo', context);
  const failure = await orCommandError(async () => {
    await objects.patch(SCALER, scaler.name, { spec: { dryRun: false } });
    io.stdout.write(`dry run of ${name} ended\n`);
    // `replicasBefore` is taken from the dry run, because the first decision after it may already contain the new
    // count.
    return confirmService(context, scaler, {
      after: before === null ? null : parseInstant(before.at),
      replicasBefore: before?.currentReplicas ?? null,
      isForced: options.force === true,
      waits: true,
    });
  });
  if (failure === null) {
    // Waits for the status: until it is written, kubectl still shows a dry run.
    if ((await waitForCondition(context, scaler, 'Held').catch(() => null)) === null)
      io.stderr.write(
        `promscaler: warning: the service has not written the status of ${name} yet: kubectl get scalers shows an older state\n`,
      );
    io.stdout.write(`Undo:    ${undo}\n`);
    return 0;
  }
  if (io.signal.aborted)
    throw new CommandError(
      `interrupted before the service confirmed that ${name} scales ${nameWorkload(context, scaler)}. See ${promscalerFor(`status -n ${source.namespace}`, context)}; to undo the switch: ${undo}`,
    );
  io.stderr.write(
    `promscaler: ${name} does not scale ${nameWorkload(context, scaler)}: ${typeof failure === 'string' ? failure : failure.message}\n`,
  );
  const rejected = await orCommandError(() => startDryRun(context, scaler));
  // These are only warnings: next to an HPA, promscaler patches nothing even without dry run.
  if (rejected instanceof CommandError)
    io.stderr.write(
      `promscaler: warning: ${rejected.message}. To start the dry run: ${patchCommand(context, scaler, { dryRun: true })}\n`,
    );
  else if (rejected !== null)
    io.stderr.write(`promscaler: warning: ${withoutEffect(context, scaler, rejected).message}\n`);
  if (manifest === null)
    throw new CommandError(
      `${name} has no annotation ${ADOPTED_MANIFEST}: create ${nameSource(source)} from your own copy`,
    );
  await restoreSource(context, manifest);
  const prevented = await whyPrevented(context, manifest, scaler);
  const idle = await whyIdle(context, manifest, { scaler, isNew: true, prevented });
  io.stdout.write(
    `${idle ?? `as soon as ${nameSource(source)} has desired replicas, it scales ${nameWorkload(context, scaler)} again`}\n`,
  );
  return 1;
}

/** Puts the scaler into dry run and recreates the autoscaler. Can be repeated after an interruption. */
export async function undoAdoption(context: AdoptContext): Promise<ExitCode> {
  const { source, io, options } = context;
  const { object, scaler } = await readAdoption(context);
  if (scaler === null) throw await notStarted(context, { object });
  const manifest = object === null ? savedManifest(scaler.object) : null;
  if (object === null && manifest === null)
    throw new CommandError(
      `${nameScaler(context, scaler)} has no annotation ${ADOPTED_MANIFEST} with the manifest of ${nameSource(source)}, because only adopt and its --switch save it: ${scaler.isDryRun ? '' : 'set spec.dryRun: true, then '}create ${nameSource(source)} from your own copy`,
    );
  const succeeded = object === null ? await whySucceeded(context, scaler) : null;
  if (succeeded !== null) throw new CommandError(`${succeeded}. Nothing was changed`);
  const second = object === null ? await findSecondScaler(context, scaler) : null;
  if (second !== null)
    throw new CommandError(
      `${second.what}, and would change the replica count before ${nameSource(source)} exists. Nothing was changed. ${second.first}`,
    );
  if (textIn(objectIn(object, 'metadata'), 'deletionTimestamp') !== null)
    throw new CommandError(`${nameSource(source)} is being deleted: try again after its deletion`);
  const name = nameScaler(context, scaler);
  const accepted = conditionOf(scaler.object, 'Accepted');
  let rejected = isInDryRun(scaler) || textIn(accepted, 'status') === 'True' ? null : accepted;
  const paused = await findPause(context, scaler);
  const notes = [
    paused === null ? null : `${paused.what}. The pause has no effect on ${nameSource(source)}`,
    whatUndoChanges(context, scaler, { object, manifest }),
  ];
  const note = notes.map((text) => (text === null ? '' : `Note:    ${text}\n`)).join('');
  if (options.preview === true) {
    const dryRun =
      rejected === null ? `${name} would be put into dry run` : `spec.dryRun: true would be set in ${name}`;
    const steps = [
      ...(scaler.isDryRun ? [] : [dryRun]),
      ...(object === null ? [`${nameSource(source)} would be created again`] : []),
    ];
    io.stdout.write(`${steps.length === 0 ? 'nothing would change' : steps.join('\n')}\n${note}`);
    if (rejected !== null) throw withoutEffect(context, scaler, rejected);
    return 0;
  }
  if (!scaler.isDryRun) rejected = await startDryRun(context, scaler);
  if (manifest !== null) await restoreSource(context, manifest);
  const deletion = `Delete:  ${kubectlFor(`delete scaler ${scaler.name}`, context)}`;
  if (rejected !== null) {
    const edit = kubectlFor(`edit ${OBJECTS_PATH} ${quoteForShell(scaler.name)}`, context);
    const correction = isReplacedByFile(rejected) ? '' : `Correct: ${edit}\n`;
    io.stdout.write(`${correction}${deletion}\n`);
    throw withoutEffect(context, scaler, rejected);
  }
  const scaling = object ?? manifest ?? {};
  const prevented = await whyPrevented(context, scaling, scaler);
  const idle = await whyIdle(context, scaling, { scaler, isNew: object === null, prevented });
  const effect =
    idle === null
      ? `${object === null ? `as soon as ${nameSource(source)} has desired replicas, it` : nameSource(source)} scales ${nameWorkload(context, scaler)}; ${name} is in dry run`
      : `${name} is in dry run, but ${idle}`;
  io.stdout.write(`${effect}
${note}Compare: ${commandFor('--report', context)}
${deletion}
`);
  return 0;
}

/** Returns that the autoscaler has other values than the scaler, and when its manifest was saved; null: it has not. */
function whatUndoChanges(
  context: AdoptContext,
  scaler: ScalerObject,
  { object, manifest }: { readonly object: JsonObject | null; readonly manifest: JsonObject | null },
): string | null {
  const { [ADOPTED_AT]: at } = annotationsOf(scaler.object);
  const saved = object !== null || at === undefined ? '' : `. Its manifest was saved at ${at}`;
  const other = whatIsOther(context, scaler, object ?? manifest ?? {});
  return other === null ? null : `${other}${saved}`;
}

/**
 * Returns whether the version that is in effect is in dry run. If the service rejects the newest version, the hold of
 * the last valid version shows that.
 */
function isInDryRun({ isDryRun, object }: ScalerObject): boolean {
  const held = anyConditionOf(object, 'Held');
  return isDryRun && DRY_RUN_HOLDS.has(textIn(held, 'reason') ?? '');
}

const DRY_RUN_HOLDS: ReadonlySet<string> = new Set(['DryRun', 'NoAutoscaler']);

/** Returns the error for a dry run that the service has not started, because it rejects the document. */
function withoutEffect(context: AdoptContext, scaler: ScalerObject, rejected: JsonObject): CommandError {
  const why = whyRejected(context, scaler.name, rejected) ?? '';
  const step = isReplacedByFile(rejected) ? '. Remove the document from the file' : '';
  return new CommandError(
    `spec.dryRun: true has no effect until the service accepts the document: ${why}${step}. While ${nameSource(context.source)} exists, promscaler patches nothing`,
  );
}

/** Returns whether the object is not used because a file has a document with the same name. */
function isReplacedByFile(rejected: JsonObject): boolean {
  return textIn(rejected, 'reason') === 'Duplicate';
}

/** Returns the condition `Accepted` if the service rejects the document, so that the dry run has no effect. */
async function startDryRun(context: AdoptContext, scaler: ScalerObject): Promise<JsonObject | null> {
  const { io, objects } = context;
  await objects.patch(SCALER, scaler.name, { spec: { dryRun: true } });
  const name = nameScaler(context, scaler);
  const found = await waitForCondition(context, scaler, 'Held');
  if (textIn(found, 'type') === 'Accepted') return found;
  if (found === null)
    io.stderr.write(
      `promscaler: warning: the service has not confirmed the dry run of ${name}; the service patches nothing while the autoscaler exists\n`,
    );
  else io.stdout.write(`${name} is in dry run\n`);
  return null;
}

async function restoreSource({ source, objects, io }: AdoptContext, manifest: JsonObject): Promise<void> {
  const isCreated = await objects.create(source.kind, manifest);
  io.stdout.write(`${nameSource(source)} ${isCreated ? 'created again' : 'exists'}\n`);
}
