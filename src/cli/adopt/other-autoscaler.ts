import type { ScalerView } from '../../api/answers.js';
import { findOtherScaler } from '../../control/cycle/shared-targets.js';
import {
  deleteAutoscaler,
  pausedInKeda,
  type Step,
  twoOfOneTarget,
  whatHelps,
} from '../../decision/idle-autoscaler.js';
import { describeOther, nameOtherScaler, type OtherAutoscaler } from '../../decision/pause.js';
import { kedaPauses } from '../../importers/keda/import-scaled-object.js';
import { type JsonObject, objectIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import { readHorizontalPodAutoscaler } from '../../kubernetes/hpa.js';
import { targetKey } from '../../kubernetes/targets.js';
import { CommandError, orCommandError } from '../output/io.js';
import { HPA, SCALED_OBJECT, SCALER, SOURCE_KINDS } from '../reach/source-kinds.js';
import { type Source, commandFor, commandText, nameSource } from './adopt-options.js';
import {
  type AdoptContext,
  type ScalerObject,
  conditionOf,
  nameScaler,
  nameWorkload,
  patchCommand,
  pauseOfDocument,
  readScaler,
} from './adoption.js';
import { fetchView } from './confirm-service.js';
import { annotationsOf } from './saved-manifest.js';

/**
 * Returns why another autoscaler next to the one to adopt prevents the switch, and what helps; null: there is none. It
 * would keep scaling after the switch, and until then, the two scale nothing.
 */
export async function whySecond(
  context: AdoptContext,
  scaler: Pick<ScalerObject, 'target'>,
): Promise<string | null> {
  const { source } = context;
  const second = await findOther(context, scaler);
  if (second === null) return null;
  const { steps } = whatHelps({ ...source, kind: source.kind.kind, second });
  const [first = '', ...rest] = steps.map((step) => stepText(step, context));
  const help = [first, ...rest.map((text) => `or t${text.slice(1)}`)].join('; ');
  return `${twoOfOneTarget(nameSource(source), nameOtherScaler(asNamed(second)))}. ${help}`;
}

/** Returns the same as `whySecond`; null also if HPAs cannot be listed, which must not stop a step in its middle. */
export async function whySecondIfListed(
  context: AdoptContext,
  scaler: Pick<ScalerObject, 'target'>,
): Promise<string | null> {
  const second = await orCommandError(() => whySecond(context, scaler));
  return second instanceof CommandError ? null : second;
}

/** Returns what prevents a switch at present: a pause in KEDA, or a second HPA; null: neither. */
export async function whyPrevented(
  context: AdoptContext,
  object: JsonObject,
  scaler: Pick<ScalerObject, 'target'>,
): Promise<string | null> {
  return whyPausedInKeda(context, object) ?? (await whySecondIfListed(context, scaler));
}

/** Returns a step, whose command has the connection options that the user has set. */
function stepText({ text, snippet }: Step, context: AdoptContext): string {
  return `${text}: ${commandText(snippet, context)}`;
}

/**
 * Returns another HPA with the target of the scaler; null: there is none. Ignores the adopted HPA or, if a ScaledObject
 * is adopted, its HPA.
 */
async function findOther(
  context: AdoptContext,
  scaler: Pick<ScalerObject, 'target'>,
): Promise<OtherAutoscaler | null> {
  const { source, objects } = context;
  const hpas = await objects.list(HPA);
  const others = hpas.flatMap((hpa) => {
    const isOwn =
      source.kind === HPA
        ? textIn(objectIn(hpa, 'metadata'), 'name') === source.name
        : isOfScaledObject(hpa, source);
    return isOwn ? [] : (readHorizontalPodAutoscaler(hpa) ?? []);
  });
  return findOtherScaler(source.namespace, scaler.target, others);
}

/** Returns the autoscaler with the kind as `nameSource` writes it: `HPA`. */
function asNamed(other: OtherAutoscaler): OtherAutoscaler {
  return other.kind === HPA.kind ? { ...other, kind: HPA.word } : other;
}

/** Another autoscaler that has the target after the adopted autoscaler was deleted. */
export interface Successor {
  /** What it does: `HPA shop/web scales deployment shop/web`. */
  readonly what: string;
  /** The command that compares it with the scaler; null: `adopt` does not accept its kind. */
  readonly compare: string | null;
  /** The command that starts the dry run, without which nothing is compared; null: the scaler is in dry run. */
  readonly startDryRun: string | null;
  /** The command that deletes it. */
  readonly remove: string;
}

/**
 * Returns the autoscaler that has the target after the adopted autoscaler was deleted; null: there is none. Next to it,
 * neither a switch nor an undo is possible: promscaler patches nothing, and two HPAs of one target scale nothing.
 */
export async function findSuccessor(context: AdoptContext, scaler: ScalerObject): Promise<Successor | null> {
  const other = await findOther(context, scaler);
  if (other === null) return null;
  const kind = SOURCE_KINDS.find((one) => one.kind === other.kind);
  const named = asNamed(other);
  const scales = `${nameOtherScaler(named)} scales ${nameWorkload(context, scaler)}`;
  return {
    what: other.whyNoCount === undefined ? scales : describeOther(named),
    compare: kind === undefined ? null : commandFor('--report', { ...context, source: { ...other, kind } }),
    startDryRun: scaler.isDryRun ? null : patchCommand(context, scaler, { dryRun: true }),
    remove: commandText(deleteAutoscaler(other), context),
  };
}

/** Returns why a step is impossible next to the autoscaler that has the target now; null: there is none. */
export async function whySucceeded(context: AdoptContext, scaler: ScalerObject): Promise<string | null> {
  const found = await findSuccessor(context, scaler);
  if (found === null) return null;
  const { what, compare, startDryRun, remove } = found;
  if (compare === null) return `${what}. Delete this autoscaler first: ${remove}`;
  const start = startDryRun === null ? '' : `${startDryRun}, then `;
  return `${what}. To adopt this autoscaler instead: ${start}${compare}. To delete it: ${remove}`;
}

/** A scaler with the target that is not in dry run, besides the one of the adoption. */
export interface SecondScaler {
  /** What it does: `scaler shop/other also scales deployment shop/web`. */
  readonly what: string;
  /** What to do first, with the command. */
  readonly first: string;
}

/**
 * Returns another scaler of the target; null: there is none. Two scalers that are not in dry run patch nothing. If only
 * one of them starts a dry run, as `--undo` does, the other one scales at once. `row`: the scaler in the service, which
 * also knows documents in files; unset: it is only read from the service if the scaler is held next to another one.
 */
export async function findSecondScaler(
  context: AdoptContext,
  scaler: ScalerObject,
  row?: ScalerView | null,
): Promise<SecondScaler | null> {
  const { source, objects } = context;
  const scalers = (await objects.list(SCALER)).flatMap(readScaler);
  const key = targetKey(source.namespace, scaler.target);
  const second = scalers.find(
    (one) => one.name !== scaler.name && !one.isDryRun && targetKey(source.namespace, one.target) === key,
  );
  const first = (named: string): string =>
    `Correct spec.scaleTargetRef of ${named}, delete this scaler, or put it in dry run`;
  const scales = `also scales ${nameWorkload(context, scaler)}`;
  if (second !== undefined) {
    const named = nameScaler(context, second);
    const command = patchCommand(context, second, { dryRun: true });
    return { what: `${named} ${scales}`, first: `${first(named)}: ${command}` };
  }
  const found = row === undefined ? await readOther(context, scaler) : otherIn(row);
  // The list is newer than what the service has seen.
  if (found === null || scalers.some(({ name }) => name === found.name)) return null;
  const { name } = found;
  const named = name === null ? null : nameScaler(context, { name });
  return {
    what: `${named ?? 'another scaler'} ${scales}`,
    first: `${first(named ?? 'that scaler')} in its file`,
  };
}

/** Returns why the scaler does not scale next to a second scaler, and what to do first; null: there is none. */
export async function whyNextToScaler(
  context: AdoptContext,
  scaler: ScalerObject,
  row?: ScalerView | null,
): Promise<string | null> {
  const second = await findSecondScaler(context, scaler, row);
  return second === null ? null : `${second.what}. ${second.first}`;
}

interface Other {
  /** Null: unknown, because no service answers. */
  readonly name: string | null;
}

/**
 * Returns the other scaler next to which a scaler is held; null: it is not held next to one. A document in a file is no
 * object to list, so it is read from the service.
 */
async function readOther(context: AdoptContext, scaler: ScalerObject): Promise<Other | null> {
  if (textIn(conditionOf(scaler.object, 'Held'), 'reason') !== 'ConflictingScaler') return null;
  const view = await orCommandError(() => fetchView(context, scaler));
  return view instanceof CommandError ? { name: null } : otherIn(view.row);
}

function otherIn(row: Pick<ScalerView, 'otherScaler'> | null): Other | null {
  const found = row?.otherScaler ?? null;
  return found?.kind === 'Scaler' ? found : (found?.scaler ?? null);
}

/** Returns the HPA that KEDA has created for the ScaledObject; null: there is none. */
export async function findHpa({ source, objects }: AdoptContext): Promise<JsonObject | null> {
  const hpas = await objects.list(HPA);
  return hpas.find((hpa) => isOfScaledObject(hpa, source)) ?? null;
}

function isOfScaledObject(hpa: JsonObject, { kind, name }: Source): boolean {
  return objectsIn(objectIn(hpa, 'metadata'), 'ownerReferences').some(
    (owner) => owner['kind'] === kind.kind && owner['name'] === name,
  );
}

/**
 * Returns that the ScaledObject is paused in KEDA, and how to end the pause, which a switch must not end silently;
 * null: it is not paused. `scaler`: unset if only the ScaledObject matters.
 */
export function whyPausedInKeda(
  context: AdoptContext,
  object: JsonObject | null,
  scaler?: ScalerObject,
): string | null {
  const { kind, namespace, name } = context.source;
  const keys = object === null || kind !== SCALED_OBJECT ? [] : kedaPauses(annotationsOf(object));
  if (keys.length === 0) return null;
  const { steps } = whatHelps({ kind: kind.kind, namespace, name, kedaPauses: keys });
  const end = steps.map(({ snippet }) => commandText(snippet, context)).join('; ');
  const why = pausedInKeda({ namespace, name }, keys);
  const document = scaler === undefined ? null : pauseOfDocument(context, scaler);
  if (scaler === undefined || document === null) return `${why}. End the pause in KEDA: ${end}`;
  return `${why}, and ${document.what}. End both pauses first: ${end}; and ${patchCommand(context, scaler, { paused: null })}`;
}
