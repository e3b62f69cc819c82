import { type JsonObject, objectIn, textIn } from '../../kubernetes/api/json.js';
import { CommandError, type ExitCode } from '../output/io.js';
import {
  type AdoptContext,
  type ScalerObject,
  nameScaler,
  waitForCondition,
  readAdoption,
  nameWorkload,
  notStarted,
} from './adoption.js';
import { commandFor, kubectlFor, nameSource } from './adopt-options.js';
import { ADOPT_ANNOTATIONS, savedManifest } from './saved-manifest.js';
import { SCALER } from '../reach/source-kinds.js';

/** Puts the scaler into dry run and recreates the autoscaler. After an interruption, running it again continues. */
export async function undoAdoption(context: AdoptContext): Promise<ExitCode> {
  const { source, io, options } = context;
  const { object, scaler } = await readAdoption(context);
  if (scaler === null) throw await notStarted(context, { object });
  const manifest = object === null ? savedManifest(scaler.object) : null;
  if (object === null && manifest === null)
    throw new CommandError(
      `${nameScaler(context, scaler)} has no annotation ${ADOPT_ANNOTATIONS.manifest} with the manifest of ${nameSource(source)}: set spec.dryRun: true, then create ${nameSource(source)} from your own copy`,
    );
  if (textIn(objectIn(object, 'metadata'), 'deletionTimestamp') !== null)
    throw new CommandError(`${nameSource(source)} is being deleted: try again when it is gone`);
  if (options.preview === true) {
    const steps = [
      ...(scaler.isDryRun ? [] : [`${nameScaler(context, scaler)} would be put into dry run`]),
      ...(object === null ? [`${nameSource(source)} would be created again`] : []),
    ];
    io.stdout.write(`${steps.length === 0 ? 'nothing would change' : steps.join('\n')}\n`);
    return 0;
  }
  if (!scaler.isDryRun) await startDryRun(context, scaler);
  if (manifest !== null) await restoreSource(context, manifest);
  io.stdout
    .write(`${nameSource(source)} scales ${nameWorkload(context, scaler)}; ${nameScaler(context, scaler)} is in dry run
Compare: ${commandFor('--report', source, context)}
Delete:  ${kubectlFor(`delete scaler ${scaler.name}`, source, context)}
`);
  return 0;
}

export async function startDryRun(context: AdoptContext, scaler: ScalerObject): Promise<void> {
  const { io, objects } = context;
  await objects.patch(SCALER, scaler.name, { spec: { dryRun: true } });
  const name = nameScaler(context, scaler);
  if ((await waitForCondition(context, scaler, 'Held')) === null)
    io.stderr.write(
      `promscaler: warning: the service has not confirmed the dry run of ${name}; it does not scale next to an HPA\n`,
    );
  else io.stdout.write(`${name} is in dry run\n`);
}

export async function restoreSource(
  { source, objects, io }: AdoptContext,
  manifest: JsonObject,
): Promise<void> {
  const isCreated = await objects.create(source.kind, manifest);
  io.stdout.write(`${nameSource(source)} ${isCreated ? 'created again' : 'exists'}\n`);
}
