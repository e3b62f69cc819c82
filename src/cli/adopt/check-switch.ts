import type { ScalerView } from '../../api/answers.js';
import { readPause } from '../../control/cycle/pause.js';
import { pauseMessage } from '../../decision/pause.js';
import { readWatchedTarget } from '../../kubernetes/targets.js';
import { type JsonObject, countIn, objectIn } from '../../kubernetes/api/json.js';
import { describeReset, findReset } from '../checks/replicas-writer.js';
import {
  type AdoptContext,
  type ScalerObject,
  conditionOf,
  isMadeFrom,
  nameScaler,
  nameWorkload,
  patchCommand,
  pauseOfDocument,
  readWorkload,
  whyRejected,
} from './adoption.js';
import { nameSource, promscalerFor } from './adopt-options.js';
import { type AgreementReport, readAgreement, whyDisagreeing } from './agreement.js';
import { managerOf, whatChanged, whyOwned, whyScalesWhenDeleted } from './check-source.js';
import { annotationsOf } from './saved-manifest.js';
import { type ServiceView, whyLacking, whyNoValue, whyUnable } from './confirm-service.js';
import { whyNextToScaler, whySecond, whySucceeded, whyPausedInKeda } from './other-autoscaler.js';

export interface Refusal {
  readonly why: string;
  /** Whether the switch is allowed with `--force`. */
  readonly canBeForced: boolean;
}

interface Checked {
  /** Null: the autoscaler does not exist anymore. */
  readonly object: JsonObject | null;
  readonly view: ServiceView;
  /** Called with the comparison of the counts, if the service has compared any. */
  readonly onCompared?: (report: AgreementReport) => void;
}

/** Returns why the switch is refused; null: it is allowed. Checks the scaler in the service, and the autoscaler. */
export async function whyRefused(
  context: AdoptContext,
  scaler: ScalerObject,
  { object, view, onCompared = () => undefined }: Checked,
): Promise<Refusal | null> {
  const { source, options } = context;
  const isForced = options.force === true;
  const known = { workload: await readWorkload(context, scaler), row: view.row };
  const unserved =
    whyNoTarget(context, scaler, known) ??
    whyPausedNow(context, scaler, known) ??
    (await whyNotServed(context, scaler, view));
  if (unserved !== null) return { why: unserved, canBeForced: false };
  if (object === null) {
    const succeeded = await whySucceeded(context, scaler);
    return succeeded === null ? null : { why: succeeded, canBeForced: false };
  }
  const other =
    whyOwned(object, source) ?? whyScalesWhenDeleted(object, source) ?? (await whySecond(context, scaler));
  if (other !== null) return { why: other, canBeForced: false };
  const { row } = view;
  const report = await readAgreement(context, {
    scaler,
    view: row,
    object,
  });
  if (typeof report !== 'string') onCompared(report);
  const unable = whyUnready(context, scaler, row);
  const why = isForced ? unable : (whyDifferent(context, scaler, { object, row, report }) ?? unable);
  return why === null ? null : { why, canBeForced: unable === null };
}

/**
 * Returns why the service does not use the current document, which pause must end first, or why a tool may overwrite
 * the document; null: none of them. This matters because nothing else scales the workload after the switch.
 */
export function whyNotInForce(
  context: AdoptContext,
  scaler: ScalerObject,
  { object, view }: Pick<Checked, 'object' | 'view'>,
): Refusal | null {
  const invalid =
    whyInvalid(context, scaler, view) ??
    whyPausedInKeda(context, object, scaler) ??
    whyPausedByDocument(context, scaler);
  if (invalid !== null) return { why: invalid, canBeForced: false };
  const manager = managerOf(scaler.object);
  if (manager === null || context.options.force === true) return null;
  const why = `${manager} manages ${nameScaler(context, scaler)}, and would set spec.dryRun: true again, so nothing would scale the workload. Remove spec.dryRun and ${nameSource(context.source)} from the repository in one commit. While the HPA exists, promscaler patches nothing`;
  return { why, canBeForced: true };
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

function whyPausedByDocument(context: AdoptContext, scaler: ScalerObject): string | null {
  const paused = pauseOfDocument(context, scaler);
  return paused === null
    ? null
    : `${paused}. Remove this field first: ${patchCommand(context, scaler, { paused: null })}`;
}

/** Returns a sentence about the pause of the document or of the workload; null: nothing is paused. */
export async function whatPauses(context: AdoptContext, scaler: ScalerObject): Promise<string | null> {
  const document = pauseOfDocument(context, scaler);
  return (
    document ?? pauseOfWorkload(context, scaler, { workload: await readWorkload(context, scaler), row: null })
  );
}

/** Returns the pause of the document or of the workload, and the command that ends it; null: nothing is paused. */
export async function whyPaused(context: AdoptContext, scaler: ScalerObject): Promise<string | null> {
  const paused = whyPausedByDocument(context, scaler);
  return (
    paused ?? whyPausedNow(context, scaler, { workload: await readWorkload(context, scaler), row: null })
  );
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
  return `the service has not written the status of ${name} for generation ${generation} yet (last: generation ${last}). L${reason.slice(1)}`;
}

/** Uses the annotations of the workload, because they may be newer than the last decision. */
function whyPausedNow(context: AdoptContext, scaler: ScalerObject, { workload, row }: Known): string | null {
  const { source } = context;
  const paused = pauseOfWorkload(context, scaler, { workload, row });
  return paused === null
    ? null
    : `${paused}. End the pause first: ${promscalerFor(`resume ${source.namespace}/${scaler.name}`, context)}`;
}

function pauseOfWorkload(
  context: AdoptContext,
  scaler: ScalerObject,
  { workload, row }: Known,
): string | null {
  const { clock } = context.io;
  const now = workload == null ? null : readPause({ paused: false }, annotationsOf(workload), clock.now());
  const paused = now !== null ? pauseMessage(now) : (row?.pause?.message ?? null);
  return paused === null ? null : `${nameScaler(context, scaler)} is paused: ${paused}`;
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
