import { targetKey } from '../../control/observe/shared-targets.js';
import { type JsonObject, objectIn, textIn } from '../../kubernetes/api/json.js';
import { CommandError, type ExitCode } from '../process/io.js';
import {
  type AdoptContext,
  type ScalerObject,
  conditionOf,
  nameScaler,
  pollFor,
  readAdoption,
  targetOf,
  workloadOf,
} from './adoption.js';
import { commandFor, nameSource } from './adopt-options.js';
import { agreementText } from './agreement.js';
import { checkDeletion, checkOwner, managerWarning } from './check-source.js';
import { confirmService } from './confirm-service.js';
import { fetchAgreement, notStarted } from './report-adoption.js';
import { ADOPT_ANNOTATIONS, isSameSpec, manifestOf, originOf, savedManifest } from './saved-manifest.js';
import { HPA, SCALER } from './source-kinds.js';

/**
 * Deletes the autoscaler, whose manifest is saved in the Scaler object, and ends the dry run when it is gone. After an
 * interruption, a second run continues.
 */
export async function switchAdoption(context: AdoptContext): Promise<ExitCode> {
  const { source, objects, io, options } = context;
  const { object, scaler } = await readAdoption(context);
  if (scaler === null) throw notStarted(context);
  if (!scaler.isDryRun) {
    if (object !== null)
      throw new CommandError(
        `${nameScaler(context, scaler)} is next to ${nameSource(source)} without dry run: set its spec.dryRun to true first`,
      );
    io.stdout.write(
      `${nameSource(source)} is gone, and the dry run of ${nameScaler(context, scaler)} has ended\n`,
    );
    return confirmService(context, scaler, { isDryRun: false });
  }
  checkScaler(context, scaler);
  if (object !== null) {
    checkOwner(object, source);
    checkDeletion(object, source);
    await checkOthers(context, scaler);
    await checkAgreement(context, scaler, object);
    const warning = managerWarning(object, source);
    if (warning !== null) io.stderr.write(`promscaler: warning: ${warning}\n`);
  }
  if (options.preview === true) {
    const steps =
      object === null
        ? []
        : [`${nameSource(source)} would be saved in ${nameScaler(context, scaler)} and deleted`];
    io.stdout.write([...steps, `the dry run of ${nameScaler(context, scaler)} would end`, ''].join('\n'));
    return 0;
  }
  if (object !== null) await removeSource(context, scaler, object);
  await waitUntilGone(context, scaler);
  await objects.patch(SCALER, scaler.name, { spec: { dryRun: false } });
  io.stdout.write(`dry run of ${nameScaler(context, scaler)} ended\n`);
  return confirmService(context, scaler, { isDryRun: false });
}

/** After the switch, nothing else scales the workload: the document must be in force and must not be paused. */
function checkScaler(context: AdoptContext, scaler: ScalerObject): void {
  const name = nameScaler(context, scaler);
  const accepted = conditionOf(scaler.object, 'Accepted');
  if (accepted === null)
    throw new CommandError(
      `no service has accepted ${name}: it must run with scalers.customResources: true and without --dry-run. Nothing was changed`,
    );
  if (textIn(accepted, 'status') !== 'True')
    throw new CommandError(`${name} is invalid: ${textIn(accepted, 'message') ?? ''}. Nothing was changed`);
  if (objectIn(scaler.object, 'spec')?.['paused'] === true)
    throw new CommandError(`${name} has spec.paused: true: remove it first. Nothing was changed`);
}

/** Of several HPAs on one target, promscaler is compared with one only, and the others would stay. */
async function checkOthers(context: AdoptContext, scaler: ScalerObject): Promise<void> {
  const [other] = await otherHpas(context, scaler);
  if (other === undefined) return;
  throw new CommandError(
    `HPA ${context.source.namespace}/${other} also scales ${workloadOf(context, scaler)}: delete it first. Nothing was changed`,
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
async function checkAgreement(
  context: AdoptContext,
  scaler: ScalerObject,
  object: JsonObject,
): Promise<void> {
  const { source, io, options } = context;
  const isForced = options.force === true;
  const saved = savedManifest(scaler.object);
  const isChanged = saved !== null && !isSameSpec(saved, manifestOf(object, source));
  const report = await fetchAgreement(context, scaler);
  if (typeof report !== 'string') io.stdout.write(agreementText(report));
  const problem =
    typeof report === 'string'
      ? `no round was compared yet: ${report}`
      : report.now === null
        ? `the last round was not compared: ${report.notCompared ?? ''}`
        : report.now.desiredReplicas !== report.now.theirReplicas
          ? `the count would change from ${report.now.theirReplicas} to ${report.now.desiredReplicas}: try again when both agree`
          : isChanged
            ? `${nameSource(source)} has changed since it was imported: carry the change over to ${nameScaler(context, scaler)}`
            : null;
  if (problem !== null && !isForced)
    throw new CommandError(`${problem}. Nothing was changed; --force switches nevertheless`);
}

const MOST_TRIES = 10;

/** Saves the present manifest, then deletes exactly this version. The HPA controller writes the status meanwhile. */
async function removeSource(context: AdoptContext, { name }: ScalerObject, first: JsonObject): Promise<void> {
  const { source, objects, io } = context;
  const spec = manifestOf(first, source);
  for (let object: JsonObject | null = first, tries = 0; object !== null; tries += 1) {
    const manifest = manifestOf(object, source);
    if (tries === MOST_TRIES || !isSameSpec(manifest, spec))
      throw new CommandError(`${nameSource(source)} keeps changing: it was not deleted. Try again`);
    const annotations = {
      [ADOPT_ANNOTATIONS.from]: originOf(source),
      [ADOPT_ANNOTATIONS.manifest]: JSON.stringify(manifest),
    };
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
    `${nameSource(source)} saved in the annotation ${ADOPT_ANNOTATIONS.manifest} of ${nameScaler(context, { name })}, and deleted\n`,
  );
}

/** KEDA removes the HPA of a ScaledObject before the ScaledObject itself is gone. */
const GONE_MS = 60_000;

async function waitUntilGone(context: AdoptContext, scaler: ScalerObject): Promise<void> {
  const { source, objects, io } = context;
  const gone = await pollFor(io, GONE_MS, async () => {
    if ((await objects.get(source.kind, source.name)) !== null) return null;
    const key = targetKey(source.namespace, scaler.target);
    const hpas = await objects.list(HPA);
    return hpas.some((hpa) => targetKey(source.namespace, targetOf(hpa)) === key) ? null : true;
  });
  if (gone !== null) return;
  throw new CommandError(
    `${nameSource(source)} or its HPA still exists, so ${nameScaler(context, scaler)} stays in dry run. When it is gone, continue with ${commandFor('--switch', source, context)}; the way back is ${commandFor('--undo', source, context)}`,
  );
}
