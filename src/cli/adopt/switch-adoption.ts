import { CommandError, type ExitCode } from '../process/io.js';
import { parseInstant } from '../../units/time.js';
import { type AdoptContext, type ScalerObject, nameScaler, nameWorkload, readAdoption } from './adoption.js';
import { commandFor, nameSource } from './adopt-options.js';
import { managerAdvice, managerOf } from './check-source.js';
import { type Refusal, whyNotInForce, whyRefused } from './check-switch.js';
import { confirmService } from './confirm-service.js';
import { endDryRun, removeSource, waitUntilGone } from './hand-over.js';
import { fetchView, notStarted } from './report-adoption.js';
import { manifestOf, openManifestFile, savedManifest } from './saved-manifest.js';

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
  mustBeAllowed(whyNotInForce(context, scaler));
  const view = await fetchView(context, scaler);
  const onCompared = (text: string): void => io.stdout.write(text);
  mustBeAllowed(await whyRefused(context, scaler, { object, view, onCompared }));
  const manager = object === null ? null : managerOf(object);
  if (manager !== null) io.stderr.write(`promscaler: warning: ${managerAdvice(manager, source)}\n`);
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
  const after = view.row === null ? null : parseInstant(view.row.at);
  return endDryRun(context, scaler, { manifest, after });
}

function mustBeAllowed(refusal: Refusal | null): void {
  if (refusal === null) return;
  const hint = refusal.canBeForced ? '; --force switches nevertheless' : '';
  throw new CommandError(`${refusal.why}. Nothing was changed${hint}`);
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
