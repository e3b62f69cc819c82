import { targetKey } from '../../control/cycle/shared-targets.js';
import type { ScalerView } from '../../api/answers.js';
import { type JsonObject, objectIn, textIn } from '../../kubernetes/api/json.js';
import { CommandError, type ExitCode } from '../process/io.js';
import { parseInstant } from '../../units/time.js';
import {
  type AdoptContext,
  type ScalerObject,
  conditionOf,
  nameScaler,
  nameWorkload,
  readAdoption,
  targetOf,
} from './adoption.js';
import { commandFor, nameSource } from './adopt-options.js';
import { agreementText, readAgreement } from './agreement.js';
import { checkDeletion, checkOwner, managerAdvice, managerOf } from './check-source.js';
import { confirmService } from './confirm-service.js';
import { endDryRun, removeSource, waitUntilGone } from './hand-over.js';
import { fetchView, notStarted } from './report-adoption.js';
import { isSameSpec, manifestOf, openManifestFile, savedManifest } from './saved-manifest.js';
import { type ServiceView, whyLacking, whyNoValue, whyPaused, whyUnable } from './service-view.js';
import { HPA } from '../reach/source-kinds.js';

/**
 * Saves and deletes the autoscaler, ends the dry run when it is gone, and waits for a decision of promscaler that was
 * or would have been carried out. Without one, the autoscaler is created again. After an interruption, a second run
 * continues.
 */
export async function switchAdoption(context: AdoptContext): Promise<ExitCode> {
  const { source, io, options } = context;
  const { object, scaler } = await readAdoption(context);
  if (scaler === null) throw notStarted(context);
  if (!scaler.isDryRun) return confirmEarlier(context, scaler, object !== null);
  checkScaler(context, scaler);
  const { row } = await checkService(context, scaler);
  if (object !== null) {
    checkOwner(object, source);
    checkDeletion(object, source);
    await checkOthers(context, scaler);
    checkAgreement(context, scaler, { object, row });
    const manager = managerOf(object);
    if (manager !== null) io.stderr.write(`promscaler: warning: ${managerAdvice(manager, source)}\n`);
  }
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
  const after = row === null ? null : parseInstant(row.at);
  return endDryRun(context, scaler, { manifest, after });
}

/** A run that was interrupted has ended the dry run, or a user has. Puts nothing back: that may be long ago. */
async function confirmEarlier(
  context: AdoptContext,
  scaler: ScalerObject,
  isNextToSource: boolean,
): Promise<ExitCode> {
  const { source, io } = context;
  const name = nameScaler(context, scaler);
  if (isNextToSource)
    throw new CommandError(
      `${name} is next to ${nameSource(source)} without dry run: set its spec.dryRun to true first`,
    );
  io.stdout.write(`${nameSource(source)} is gone, and the dry run of ${name} has ended\n`);
  const why = await confirmService(context, scaler, {
    after: null,
    isForced: context.options.force === true,
  });
  if (why !== null)
    throw new CommandError(
      `${name} does not scale ${nameWorkload(context, scaler)}: ${why}. The way back is ${commandFor('--undo', source, context)}`,
    );
  io.stdout.write(`Way back: ${commandFor('--undo', source, context)}\n`);
  return 0;
}

/** After the switch, nothing else scales the workload: the document must be in force and must stay so. */
function checkScaler(context: AdoptContext, scaler: ScalerObject): void {
  const name = nameScaler(context, scaler);
  const accepted = conditionOf(scaler.object, 'Accepted');
  if (accepted === null)
    throw new CommandError(
      `no service has accepted ${name}: it must run with scalers.customResources: true and without --dry-run. Nothing was changed`,
    );
  if (textIn(accepted, 'status') !== 'True')
    throw new CommandError(`${name} is invalid: ${textIn(accepted, 'message') ?? ''}. Nothing was changed`);
  const paused = objectIn(scaler.object, 'spec')?.['paused'] ?? false;
  if (paused !== false)
    throw new CommandError(
      `${name} has spec.paused: ${JSON.stringify(paused)}: remove it first. Nothing was changed`,
    );
  const manager = managerOf(scaler.object);
  if (manager !== null && context.options.force !== true)
    throw new CommandError(
      `${manager} manages ${name}, and would set spec.dryRun: true again, so that nothing scales. Remove dryRun and ${nameSource(context.source)} there, in one commit: while the HPA exists, promscaler patches nothing. Nothing was changed; --force switches nevertheless`,
    );
}

/** Returns the last decision, which is current. */
async function checkService(context: AdoptContext, scaler: ScalerObject): Promise<ServiceView> {
  const view = await fetchView(context, scaler);
  const paused = view.row === null ? null : whyPaused(view.row);
  if (paused !== null)
    throw new CommandError(
      `${nameScaler(context, scaler)} is paused: ${paused}. End the pause first, see promscaler resume. Nothing was changed`,
    );
  if (!view.isLed)
    throw new CommandError(
      `no replica of the service leads, so that nothing would scale. Nothing was changed`,
    );
  return view;
}

/** Of several HPAs on one target, promscaler is compared with one only, and the others would stay. */
async function checkOthers(context: AdoptContext, scaler: ScalerObject): Promise<void> {
  const [other] = await otherHpas(context, scaler);
  if (other === undefined) return;
  throw new CommandError(
    `HPA ${context.source.namespace}/${other} also scales ${nameWorkload(context, scaler)}: delete it first. Nothing was changed`,
  );
}

/** Returns the HPAs of the target, except the adopted one and that of the adopted ScaledObject. */
async function otherHpas(
  { source, objects }: AdoptContext,
  { target }: ScalerObject,
): Promise<readonly string[]> {
  const { namespace } = source;
  const hpas = await objects.list(HPA);
  return hpas.flatMap((hpa) => {
    const metadata = objectIn(hpa, 'metadata');
    const name = textIn(metadata, 'name') ?? '';
    const isOwn = source.kind === HPA ? name === source.name : isOwnedBy(metadata, source.name);
    const isSame = targetKey(namespace, targetOf(hpa)) === targetKey(namespace, target);
    return isSame && !isOwn ? [name] : [];
  });
}

function isOwnedBy(metadata: JsonObject | null, owner: string): boolean {
  const owners: unknown = metadata?.['ownerReferences'];
  return Array.isArray(owners) && owners.some((one) => objectIn({ one }, 'one')?.['name'] === owner);
}

/** Throws `CommandError` if the hand-over would change the count, or the document may be outdated. */
function checkAgreement(
  context: AdoptContext,
  scaler: ScalerObject,
  { object, row }: { readonly object: JsonObject; readonly row: ScalerView | null },
): void {
  const { source, io, options } = context;
  const saved = savedManifest(scaler.object);
  const isChanged = saved !== null && !isSameSpec(saved, manifestOf(object, source));
  const report = readAgreement(`${source.namespace}/${scaler.name}`, row);
  if (typeof report !== 'string') io.stdout.write(agreementText(report));
  const problem =
    typeof report === 'string'
      ? `no round was compared yet: ${report}`
      : report.now === null
        ? `the last round was not compared: ${report.notCompared ?? ''}`
        : report.now.desiredReplicas !== report.now.theirReplicas
          ? `the count would change from ${report.now.theirReplicas} to ${report.now.desiredReplicas}: try again when both agree`
          : ((row === null ? null : whyNoValue(row)) ??
            (isChanged
              ? `${nameSource(source)} has changed since it was imported: carry the change over to ${nameScaler(context, scaler)}`
              : null));
  const unable = whyUnready(context, scaler, row);
  const refused = options.force === true ? unable : (problem ?? unable);
  if (refused === null) return;
  const hint = unable === null ? '; --force switches nevertheless' : '';
  throw new CommandError(`${refused}. Nothing was changed${hint}`);
}

/** Returns why the scaler would not scale after the switch, so that the HPA would be created again; null: it would. */
function whyUnready(context: AdoptContext, scaler: ScalerObject, row: ScalerView | null): string | null {
  if (row === null) return `the service has not decided about ${nameScaler(context, scaler)} yet`;
  return whyUnable(row) ?? whyLacking(row);
}
