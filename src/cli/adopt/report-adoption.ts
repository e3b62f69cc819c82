import { objectIn, textIn } from '../../kubernetes/api/json.js';
import { CommandError, type ExitCode } from '../output/io.js';
import { readOutputFormat, writeStructured } from '../output/output-format.js';
import { HPA } from '../reach/source-kinds.js';
import {
  type AdoptContext,
  type ScalerObject,
  conditionOf,
  nameScaler,
  notInDryRun,
  notStarted,
  nameWorkload,
  readAdoption,
  readWorkload,
  whyRejected,
} from './adoption.js';
import { commandFor, nameSource } from './adopt-options.js';
import { whatDiffers, whatIsOther } from './check-source.js';
import { agreementText, readAgreement } from './agreement.js';
import { judgeSwitch, whatResets, whyNoTarget, whyPaused } from './check-switch.js';
import {
  findHpa,
  findSuccessor,
  type Successor,
  whyNextToScaler,
  whyPausedInKeda,
} from './other-autoscaler.js';
import { fetchView, type ServiceView, whyZero } from './confirm-service.js';
import { savedManifest } from './saved-manifest.js';
import { textToPrint } from '../output/lines.js';

/** Prints how often the dry run and the autoscaler had the same count. Returns 1 if no cycle was compared yet. */
export async function reportAdoption(context: AdoptContext): Promise<ExitCode> {
  const { options, io } = context;
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml']);
  const { scaler, object } = await readAdoption(context);
  if (scaler === null) throw await notStarted(context, { object });
  const view = await fetchView(context, scaler);
  const report = await readAgreement(context, { scaler, view: view.row, object });
  if (typeof report === 'string') {
    if (object === null) throw await autoscalerGone(context, scaler, view);
    if (!scaler.isDryRun) throw notInDryRun(context, scaler);
    const known = { workload: await readWorkload(context, scaler), row: view.row };
    const open =
      findRejection(context, scaler) ??
      whyPausedInKeda(context, object, scaler) ??
      whyPaused(context, scaler, known);
    // Only if nothing scales: otherwise, the next rounds can be compared.
    const isIdle = view.row?.state.name === 'NoAutoscaler';
    const verdict = isIdle ? await judgeSwitch(context, scaler, { object, view }) : null;
    const canBeForced = verdict !== null && verdict.why !== null && verdict.canBeForced;
    const force = canBeForced
      ? `. To end the dry run without a comparison: ${commandFor('--switch --force', context)}`
      : '';
    throw new CommandError(
      `no decision of ${nameScaler(context, scaler)} has been compared with the HPA yet: ${open ?? `${report}${force}`}`,
    );
  }
  io.stdout.write(
    format === 'text' ? textToPrint(agreementText(report), io) : writeStructured(format, report),
  );
  if (format !== 'text') return 0;
  if (object === null || !scaler.isDryRun) {
    const successor = await findSuccessor(context, scaler);
    for (const line of await goneLines(context, scaler, { successor, view })) io.stdout.write(`${line}\n`);
    return 0;
  }
  const { why, canBeForced } = await judgeSwitch(context, scaler, { object, view });
  const differs = whatDiffers(context, scaler, object);
  const other = differs === null ? whatIsOther(context, scaler, object) : null;
  const notes = [
    differs === why ? null : differs,
    other === null
      ? null
      : `${other}. They count as intended, because ${nameSource(context.source)} has not changed since its import or last switch`,
    view.row === null ? null : whyZero(view.row),
    await whatResets(context, scaler),
  ];
  for (const note of notes) if (note !== null) io.stdout.write(`Note:    ${note}\n`);
  io.stdout.write(
    why === null
      ? `Switch:  ${commandFor('--switch', context)}\n`
      : `${refusedText({ why: why === report.notCompared ? null : why, canBeForced })}\n`,
  );
  return 0;
}

/** `why`: null if it is the reason why the last decision was not compared, which the report has already. */
function refusedText({
  why,
  canBeForced,
}: {
  readonly why: string | null;
  readonly canBeForced: boolean;
}): string {
  const reason = why === null ? ' for the same reason' : `: ${why}`;
  return `A switch would be refused now${reason}${canBeForced ? '; --force switches anyway' : ''}`;
}

/** Returns why the service rejects the newest version of the document; null: it does not, or has not read it yet. */
function findRejection(context: AdoptContext, scaler: ScalerObject): string | null {
  return whyRejected(context, scaler.name, conditionOf(scaler.object, 'Accepted'));
}

/** Returns whether the version in effect is in dry run: an older one than that of the object if that is rejected. */
function isDryRunInEffect(context: AdoptContext, scaler: ScalerObject, { row }: ServiceView): boolean {
  const { isDryRun } = scaler;
  return findRejection(context, scaler) === null ? isDryRun : (row?.dryRun ?? isDryRun);
}

/** Returns the error for a report on an autoscaler that does not exist anymore. */
async function autoscalerGone(
  context: AdoptContext,
  scaler: ScalerObject,
  view: ServiceView,
): Promise<CommandError> {
  const { source } = context;
  const successor = await findSuccessor(context, scaler);
  const why =
    successor === null && !isDryRunInEffect(context, scaler, view)
      ? `, so there is nothing to compare: ${describeSwitched(context, scaler, view)}`
      : '';
  const lines = await goneLines(context, scaler, { successor, view });
  return new CommandError([`${nameSource(source)} does not exist anymore${why}`, ...lines].join('\n'));
}

/** Returns what a scaler does after the switch: it scales the workload, or its state, as `status` shows it. */
function describeSwitched(context: AdoptContext, scaler: ScalerObject, { row, isLed }: ServiceView): string {
  const name = nameScaler(context, scaler);
  if (row === null) return `the service does not have ${name}`;
  if (!isLed) return 'no replica of the service is the leader';
  const { name: state, severity, cause } = row.state;
  // Without another state, the version in effect scales, although a newer one is rejected.
  const isHeld = severity === 'held' && state !== 'Rejected';
  const scales = severity !== 'cannot-follow' && !isHeld && state !== 'Pending';
  return scales
    ? `${name} scales ${nameWorkload(context, scaler)}`
    : `${name} has the state ${state}${cause === null ? '' : `: ${cause}`}`;
}

async function goneLines(
  context: AdoptContext,
  scaler: ScalerObject,
  { successor, view }: { readonly successor: Successor | null; readonly view: ServiceView },
): Promise<readonly string[]> {
  const { source } = context;
  const isDryRun = isDryRunInEffect(context, scaler, view);
  const rejected = findRejection(context, scaler);
  if (successor !== null) {
    const state = isDryRun ? 'is in dry run' : 'patches nothing';
    return [
      `${nameScaler(context, scaler)} ${state} next to another autoscaler: ${successor.what}`,
      ...(successor.startDryRun === null ? [] : [`Dry run: ${successor.startDryRun}`]),
      ...(successor.compare === null ? [] : [`Compare: ${successor.compare}`]),
      `Delete:  ${successor.remove}`,
    ];
  }
  const next = await whyNextToScaler(context, scaler, view.row);
  if (next !== null) return [next];
  // Without the saved manifest, --undo is refused.
  const undo = savedManifest(scaler.object) === null ? [] : [`Undo:    ${commandFor('--undo', context)}`];
  if (!isDryRun) return [...(rejected === null ? [] : [rejected]), ...undo];
  const workload = await readWorkload(context, scaler);
  const missing = whyNoTarget(context, scaler, { workload, row: view.row });
  if (missing !== null) return [`${nameScaler(context, scaler)} is in dry run: ${missing}`, ...undo];
  const { why, canBeForced } = await judgeSwitch(context, scaler, { object: null, view });
  // After the ScaledObject is deleted, its HPA keeps scaling until Kubernetes deletes it as well.
  const left = source.kind === HPA ? null : await findHpa(context);
  const what =
    left === null
      ? 'nothing scales'
      : `HPA ${source.namespace}/${textIn(objectIn(left, 'metadata'), 'name') ?? ''} of ${nameSource(source)} is not deleted yet, and scales`;
  return [
    `${nameScaler(context, scaler)} is in dry run: ${what} ${nameWorkload(context, scaler)}`,
    why === null ? `Switch:  ${commandFor('--switch', context)}` : refusedText({ why, canBeForced }),
    ...undo,
  ];
}
