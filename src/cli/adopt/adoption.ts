import { type JsonObject, countIn, objectIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import { patchObject } from '../../decision/snippet.js';
import { APPS_ROOT, nameTarget, targetKey, watchedPlural } from '../../kubernetes/targets.js';
import { OBJECTS_PATH } from '../../scaler/problems/problem.js';
import { ADOPTED_FROM, adoptedFrom, type TargetRef } from '../../scaler/spec.js';
import { quoteForShell } from '../../units/clean-text.js';
import { sleep } from '../../units/clock.js';
import { CommandError, type CommandIo, orCommandError } from '../output/io.js';
import { namesHint } from '../input/nearest-keys.js';
import { nameProgram } from '../output/lines.js';
import {
  type AdoptOptions,
  type Source,
  commandFor,
  commandText,
  kubectlFor,
  nameSource,
} from './adopt-options.js';
import type { ClusterObjects } from '../reach/cluster-objects.js';
import { manifestFile } from './saved-manifest.js';
import { SCALER, targetOf } from '../reach/source-kinds.js';

export interface AdoptContext {
  readonly options: AdoptOptions;
  readonly io: CommandIo;
  readonly source: Source;
  readonly objects: ClusterObjects;
}

/** The state of an adoption. It is read from the cluster each time, because only the cluster stores it. */
export interface Adoption {
  /** Null: the autoscaler does not exist anymore. */
  readonly object: JsonObject | null;
  /** Null: no Scaler object belongs to this adoption. */
  readonly scaler: ScalerObject | null;
}

export interface ScalerObject {
  readonly object: JsonObject;
  readonly name: string;
  readonly target: TargetRef;
  readonly isDryRun: boolean;
}

/** Reads the autoscaler, and the Scaler object that was made from the autoscaler or has the same target. */
export async function readAdoption(context: AdoptContext): Promise<Adoption> {
  const { source, objects } = context;
  const [object, list] = [await objects.get(source.kind, source.name), await objects.list(SCALER)];
  const scalers = list.flatMap(readScaler);
  const made = scalers.filter((scaler) => isMadeFrom(source, scaler));
  const key = object === null ? null : targetKey(source.namespace, targetOf(object));
  const sharing = scalers.filter(({ target }) => targetKey(source.namespace, target) === key);
  const found = made.length > 0 ? made : sharing;
  if (found.length > 1) {
    const names = found.map(({ name }) => name).join(', ');
    throw new CommandError(
      `the scalers ${names} in namespace ${source.namespace} all have the target of ${nameSource(source)}: delete all but one of them`,
    );
  }
  const [scaler = null] = found;
  if (object !== null && scaler !== null && targetKey(source.namespace, scaler.target) !== key)
    throw new CommandError(otherTarget(context, scaler, targetOf(object)));
  return { object, scaler };
}

/** Returns the message for an autoscaler whose target was changed, or that was created again for another workload. */
function otherTarget(context: AdoptContext, scaler: ScalerObject, target: TargetRef): string {
  const { source } = context;
  const name = nameScaler(context, scaler);
  const annotate = `annotate ${OBJECTS_PATH} ${quoteForShell(scaler.name)} ${ADOPTED_FROM}-`;
  return `${name} was made from ${nameSource(source)} and scales ${nameWorkload(context, scaler)}, but ${nameSource(source)} scales ${nameWorkload(context, { target })}. Nothing was changed. Correct the target of the scaler or of the autoscaler. If the two no longer belong together, remove the annotation: ${kubectlFor(annotate, context)}`;
}

/**
 * Returns the error for a step that finds no Scaler object. If the autoscaler does not exist, suggests similar names.
 */
export async function notStarted(
  context: AdoptContext,
  { object }: Pick<Adoption, 'object'>,
): Promise<CommandError> {
  const { source, objects, options } = context;
  const { kind, namespace, name } = source;
  if (object !== null)
    return new CommandError(
      `no scaler is in dry run next to ${nameSource(source)}. Start with ${commandFor('', context)}`,
    );
  // Also suggests adopted autoscalers, which were deleted: --report, --switch and --undo accept their names.
  const adopted = (await objects.list(SCALER)).flatMap((scaler) => {
    const origin = adoptedFrom({ document: scaler });
    return origin?.kind === kind.kind ? [origin.name] : [];
  });
  const present = (await objects.list(kind)).map((one) => textIn(objectIn(one, 'metadata'), 'name') ?? '');
  const names = [...new Set([...present, ...adopted])];
  const existing = names.length > present.length ? 'existing or adopted' : 'existing';
  const hint = namesHint(name, names, { namespace, plural: kind.plural, existing });
  const saved =
    options.undo === true
      ? `${hint.endsWith('?') ? '' : '.'} If --switch deleted the autoscaler, and its scaler is also deleted, create the autoscaler from the saved file: kubectl create -f ${manifestFile(source)}`
      : '';
  return new CommandError(`${nameSource(source)} does not exist${hint}${saved}`);
}

export function readScaler(object: JsonObject): readonly ScalerObject[] {
  const name = textIn(objectIn(object, 'metadata'), 'name');
  const isDryRun = objectIn(object, 'spec')?.['dryRun'] === true;
  return name === null ? [] : [{ object, name, target: targetOf(object), isDryRun }];
}

/** Returns whether the Scaler object was made from this autoscaler. False: it only has the same target. */
export function isMadeFrom(source: Source, { object }: Pick<ScalerObject, 'object'>): boolean {
  const origin = adoptedFrom({ document: object });
  return origin?.kind === source.kind.kind && origin.name === source.name;
}

/** Reads whether the Scaler object is in dry run now; null: it does not exist. */
export async function readDryRun({ objects }: AdoptContext, { name }: ScalerObject): Promise<boolean | null> {
  const object = await objects.get(SCALER, name);
  return object === null ? null : objectIn(object, 'spec')?.['dryRun'] === true;
}

/**
 * Returns the workload; null: the workload does not exist; undefined: it cannot be read, or promscaler does not watch
 * its kind (`watchedPlural`).
 */
export async function readWorkload(
  { objects }: AdoptContext,
  { target }: Pick<ScalerObject, 'target'>,
): Promise<JsonObject | null | undefined> {
  const plural = watchedPlural(target);
  if (plural === null) return undefined;
  const kind = { root: APPS_ROOT, plural, word: target.kind.toLowerCase() };
  const found = await orCommandError(() => objects.get(kind, target.name));
  return found instanceof CommandError ? undefined : found;
}

/** Returns `spec.paused` of a Scaler object; false: the field is unset or null. */
export function pausedIn(object: JsonObject): unknown {
  return objectIn(object, 'spec')?.['paused'] ?? false;
}

/** A pause of promscaler. */
export interface Pause {
  /** One clause: `scaler shop/web has spec.paused: true`. */
  readonly what: string;
  /** The same with the command that ends the pause. */
  readonly why: string;
}

/** Returns the pause of the document; null: the document is not paused. */
export function pauseOfDocument(context: AdoptContext, scaler: ScalerObject): Pause | null {
  const paused = pausedIn(scaler.object);
  if (paused === false) return null;
  const what = `${nameScaler(context, scaler)} has spec.paused: ${JSON.stringify(paused)}`;
  return {
    what,
    why: `${what}. Remove this field first: ${patchCommand(context, scaler, { paused: null })}`,
  };
}

/** Returns the command that sets a field of the spec, or removes it if the value is null. */
export function patchCommand(
  context: AdoptContext,
  { name }: Pick<ScalerObject, 'name'>,
  spec: { readonly paused?: null; readonly dryRun?: true },
): string {
  return commandText(patchObject({ namespace: context.source.namespace, name }, spec), context);
}

/**
 * Returns the error for a scaler that is not in dry run next to its autoscaler. Such a scaler patches nothing, and the
 * service does not compare the desired replicas of the two.
 */
export function notInDryRun(context: AdoptContext, scaler: Pick<ScalerObject, 'name'>): CommandError {
  return new CommandError(
    `${nameScaler(context, scaler)} has the same target as ${nameSource(context.source)}, but is not in dry run. Start the dry run first: ${patchCommand(context, scaler, { dryRun: true })}`,
  );
}

/** Returns for example `deployment shop/web`. */
export function nameWorkload({ source }: AdoptContext, { target }: Pick<ScalerObject, 'target'>): string {
  return nameTarget(source.namespace, target);
}

export function nameScaler({ source }: AdoptContext, { name }: Pick<ScalerObject, 'name'>): string {
  return `scaler ${source.namespace}/${name}`;
}

/** Returns a condition; null: the service has not set it for the current generation. */
export function conditionOf(object: JsonObject, type: string): JsonObject | null {
  const generation = countIn(objectIn(object, 'metadata'), 'generation');
  const found = anyConditionOf(object, type);
  return countIn(found, 'observedGeneration') === generation ? found : null;
}

/** Returns a condition of any generation; null: there is none. */
export function anyConditionOf(object: JsonObject, type: string): JsonObject | null {
  const conditions = objectsIn(objectIn(object, 'status'), 'conditions');
  return conditions.find((condition) => textIn(condition, 'type') === type) ?? null;
}

/**
 * Returns why the service rejects the document, from its condition `Accepted`; null: there is no condition, or the
 * document is accepted.
 */
export function whyRejected(context: AdoptContext, name: string, accepted: JsonObject | null): string | null {
  return accepted === null || textIn(accepted, 'status') === 'True'
    ? null
    : `${nameScaler(context, { name })} is rejected: ${nameProgram(textIn(accepted, 'message') ?? '', context.io)}`;
}

const POLL_MS = 500;

/** Polls until `read` returns a value. Returns null after the timeout or an interrupt. */
export async function pollFor<T>(
  { clock, signal }: CommandIo,
  ms: number,
  read: () => Promise<T | null>,
): Promise<T | null> {
  const endMs = clock.monotonicMs() + ms;
  for (;;) {
    const found = await read();
    if (found !== null || signal.aborted || clock.monotonicMs() >= endMs) return found;
    await sleep(clock, POLL_MS, signal);
  }
}

/**
 * Time limit of a wait for a decision and its status: a decision takes up to a sync period, and its status is written
 * some seconds later.
 */
export const STATUS_MS = 30_000;

/**
 * Waits for a condition that the service sets for the current generation; null: the service did not set it in time.
 * Returns `Accepted` instead if the service rejects the document, because `Held` is then of an earlier generation.
 */
export function waitForCondition(
  { io, objects }: AdoptContext,
  { name }: Pick<ScalerObject, 'name'>,
  type: 'Accepted' | 'Held',
): Promise<JsonObject | null> {
  return pollFor(io, STATUS_MS, async () => {
    const object = await objects.get(SCALER, name);
    if (object === null) return null;
    const accepted = conditionOf(object, 'Accepted');
    return textIn(accepted, 'status') === 'False' ? accepted : conditionOf(object, type);
  });
}
