import type { ScalerView } from '../../api/answers.js';
import { readPause } from '../../control/cycle/pause.js';
import { pauseMessage } from '../../decision/pause.js';
import { readWatchedTarget } from '../../kubernetes/targets.js';
import { type JsonObject, countIn, objectIn } from '../../kubernetes/api/json.js';
import { describeReset, findReset } from '../checks/replicas-writer.js';
import { withService } from '../reach/service-client.js';
import {
  type AdoptContext,
  type ScalerObject,
  conditionOf,
  isMadeFrom,
  nameScaler,
  nameWorkload,
  type Pause,
  pauseOfDocument,
  pollFor,
  readWorkload,
  STATUS_MS,
  whyRejected,
} from './adoption.js';
import { nameSource, promscalerFor } from './adopt-options.js';
import { type AgreementReport, readAgreement, whyDisagreeing } from './agreement.js';
import { managerOf, whatChanged, whyOwned, whyScalesWhenDeleted } from './check-source.js';
import { annotationsOf } from './saved-manifest.js';
import { readView, type ServiceView, whyLacking, whyNoValue, whyUnable } from './confirm-service.js';
import { whyNextToScaler, whySecond, whySucceeded, whyPausedInKeda } from './other-autoscaler.js';

interface Verdict {
  /** Why the switch is refused; null: it is allowed. */
  readonly why: string | null;
  /** Whether the switch is allowed with `--force`. */
  readonly canBeForced: boolean;
  /** The comparison of the counts; null: the service has compared none, or the switch is refused for another reason. */
  readonly report: AgreementReport | null;
}

interface Checked {
  /** Null: the autoscaler does not exist anymore. */
  readonly object: JsonObject | null;
  readonly view: ServiceView;
}

/**
 * Returns whether the switch is allowed. Checks that the service uses the current document, that no pause must end
 * first, and that no tool may overwrite the document, because nothing else scales the workload after the switch. Then
 * checks the scaler in the service, and the autoscaler.
 */
export async function judgeSwitch(
  context: AdoptContext,
  scaler: ScalerObject,
  { object, view }: Checked,
): Promise<Verdict> {
  const { source, options } = context;
  const { row } = view;
  const isForced = options.force === true;
  const invalid =
    whyInvalid(context, scaler, view) ??
    whyPausedInKeda(context, object, scaler) ??
    pauseOfDocument(context, scaler)?.why;
  if (invalid !== undefined) return { why: invalid, canBeForced: false, report: null };
  const managed = isForced ? null : whyManaged(context, scaler);
  if (managed !== null) return { why: managed, canBeForced: true, report: null };
  const known = { workload: await readWorkload(context, scaler), row };
  const lasting =
    whyNoTarget(context, scaler, known) ??
    whyPaused(context, scaler, known) ??
    (await whyNotServed(context, scaler, view)) ??
    (object === null
      ? await whySucceeded(context, scaler)
      : (whyOwned(object, source) ??
        whyScalesWhenDeleted(object, source) ??
        (await whySecond(context, scaler))));
  if (lasting !== null || object === null) return { why: lasting, canBeForced: false, report: null };
  const report = await readAgreement(context, { scaler, view: row, object });
  const unable = whyUnready(context, scaler, row);
  const why = isForced ? unable : (whyDifferent(context, scaler, { object, row, report }) ?? unable);
  return { why, canBeForced: unable === null, report: typeof report === 'string' ? null : report };
}

/** Returns which tool may overwrite the document; null: none is known. */
export function whyManaged(context: AdoptContext, scaler: ScalerObject): string | null {
  const manager = managerOf(scaler.object);
  if (manager === null) return null;
  return `${manager} manages ${nameScaler(context, scaler)}, and would set spec.dryRun: true again, so nothing would scale the workload. Remove spec.dryRun and ${nameSource(context.source)} from the repository in one commit. While the HPA exists, promscaler patches nothing`;
}

/** Returns a warning about a deployment tool that may reset the replicas after the switch; null: none is known. */
export async function whatResets(context: AdoptContext, scaler: ScalerObject): Promise<string | null> {
  const workload = await readWorkload(context, scaler);
  if (workload == null) return null;
  const reset = findReset(workload, readWatchedTarget(workload)?.replicasManagers ?? [], {
    namespace: context.source.namespace,
    target: scaler.target,
  });
  if (reset === null) return null;
  const { tool, fix } = reset;
  return `${describeReset(tool, [nameWorkload(context, scaler)], true)}. To prevent that: ${fix}`;
}

function whyInvalid(context: AdoptContext, scaler: ScalerObject, { row }: ServiceView): string | null {
  const accepted = conditionOf(scaler.object, 'Accepted');
  if (accepted === null) return row === null ? whyNotRead(context, scaler) : whyUnwritten(context, scaler);
  return whyRejected(context, scaler.name, accepted);
}

/** Returns the pause of the document or of the workload; null: nothing is paused. */
export async function findPause(context: AdoptContext, scaler: ScalerObject): Promise<Pause | null> {
  const known = async (): Promise<Known> => ({ workload: await readWorkload(context, scaler), row: null });
  return pauseOfDocument(context, scaler) ?? pauseOfWorkload(context, scaler, await known());
}

interface Known {
  /** As `readWorkload` returns it. */
  readonly workload: JsonObject | null | undefined;
  readonly row: ScalerView | null;
}

/**
 * Returns why the scaler can scale nothing: its workload does not exist. Null: the workload exists, or that is unknown.
 */
export function whyNoTarget(
  context: AdoptContext,
  scaler: ScalerObject,
  { workload, row }: Known,
): string | null {
  const isAbsent = workload === undefined ? row?.targetFailure?.absence != null : workload === null;
  return isAbsent
    ? `${nameWorkload(context, scaler)} does not exist, so the scaler cannot scale it. Create the workload, correct spec.scaleTargetRef or the namespace of ${nameScaler(context, scaler)}, or delete the scaler`
    : null;
}

function whyNotRead(context: AdoptContext, scaler: ScalerObject): string {
  return `the service does not have ${nameScaler(context, scaler)}: the service must run with scalers.customResources: true, and watch namespace ${context.source.namespace}`;
}

/** Returns why the status is missing or has an older generation, although the service has the scaler. */
function whyUnwritten(context: AdoptContext, scaler: ScalerObject): string {
  const name = nameScaler(context, scaler);
  const reason = 'look for "failed to write status of Scaler" in the log of the service';
  const last = countIn(objectIn(scaler.object, 'status'), 'observedGeneration');
  if (last === null)
    return `the service has ${name}, but has not written the status of the scaler: the service must run without --dry-run. If it already does, ${reason}`;
  const generation = countIn(objectIn(scaler.object, 'metadata'), 'generation') ?? 0;
  return `the service has not written the status of ${name} for generation ${generation} yet (last: generation ${last}). The service reads a new version within seconds: try again. If this lasts, ${reason}`;
}

/**
 * Uses the annotations of the workload, because they may be newer than the last decision. Without them, uses the last
 * decision.
 */
function pauseOfWorkload(
  context: AdoptContext,
  scaler: ScalerObject,
  { workload, row }: Known,
): Pause | null {
  const { io, source } = context;
  const now = workload == null ? null : readPause({ paused: false }, annotationsOf(workload), io.clock.now());
  const last = workload === undefined ? (row?.pause?.message ?? null) : null;
  const paused = now === null ? last : pauseMessage(now);
  if (paused === null) return null;
  const what = `${nameScaler(context, scaler)} is paused: ${paused}`;
  const resume = promscalerFor(`resume ${source.namespace}/${scaler.name}`, context);
  return { what, why: `${what}. End the pause first: ${resume}` };
}

/** Returns why the last decision was made in a pause, also in one that has ended since; null: it was not. */
export function whyPaused(context: AdoptContext, scaler: ScalerObject, known: Known): string | null {
  const paused = pauseOfDocument(context, scaler) ?? pauseOfWorkload(context, scaler, known);
  if (paused !== null || known.row?.pause == null) return paused?.why ?? null;
  return `the service has made no decision for ${nameScaler(context, scaler)} since its pause ended: try again after the next decision`;
}

/** Reads the scaler in the service. If its pause has ended, waits for the first decision after that. */
export function fetchViewAfterPause(context: AdoptContext, scaler: ScalerObject): Promise<ServiceView> {
  const { options, io, source } = context;
  return withService(options, io, async (client) => {
    const read = (): Promise<ServiceView> =>
      readView(client, { namespace: source.namespace, name: scaler.name });
    const first = await read();
    const isPaused = ({ row }: ServiceView): boolean => row?.pause != null;
    if (!isPaused(first)) return first;
    const known = { workload: await readWorkload(context, scaler), row: first.row };
    if ((pauseOfDocument(context, scaler) ?? pauseOfWorkload(context, scaler, known)) !== null) return first;
    const decided = await pollFor(io, STATUS_MS, async () => {
      const view = await read();
      return isPaused(view) ? null : view;
    });
    return decided ?? first;
  });
}

async function whyNotServed(
  context: AdoptContext,
  scaler: ScalerObject,
  { row, isLed }: ServiceView,
): Promise<string | null> {
  if (!isLed) return 'no replica of the service is the leader, so nothing would scale the workload';
  // Without dry run, promscaler patches nothing if two scalers have the same target.
  return whyNextToScaler(context, scaler, row);
}

/** Returns why the switch would change the count, or why the document may be outdated; null: no reason. */
function whyDifferent(
  context: AdoptContext,
  scaler: ScalerObject,
  {
    object,
    row,
    report,
  }: {
    readonly object: JsonObject;
    readonly row: ScalerView | null;
    readonly report: AgreementReport | string;
  },
): string | null {
  const { source } = context;
  // This check is first, because it needs no compared decision, and a user may switch with --force before a comparison.
  const changed = whatChanged(context, scaler, object);
  if (changed !== null) return changed;
  if (typeof report === 'string') return `no decision has been compared with the HPA yet: ${report}`;
  const { now, notCompared } = report;
  if (now === null) return `the last decision was not compared with the HPA: ${notCompared ?? ''}`;
  if (now.desiredReplicas !== now.theirReplicas)
    return `the replica count would change from ${now.theirReplicas} to ${now.desiredReplicas}: try again when scaler and HPA have the same desired replicas`;
  const noValue = row === null ? null : whyNoValue(row);
  if (noValue !== null) return noValue;
  const disagreeing = whyDisagreeing(report);
  if (disagreeing !== null) return disagreeing;
  if (!isMadeFrom(source, scaler))
    return `${nameScaler(context, scaler)} was not made from ${nameSource(source)}: compare the metrics and bounds of the two`;
  return null;
}

/**
 * Returns why the scaler would not scale after the switch; null: it would scale. If it did not scale, the switch would
 * have to recreate the autoscaler.
 */
function whyUnready(context: AdoptContext, scaler: ScalerObject, row: ScalerView | null): string | null {
  if (row === null) return `the service has made no decision for ${nameScaler(context, scaler)} yet`;
  return whyUnable(row) ?? whyLacking(row);
}
