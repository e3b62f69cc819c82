import { asObject } from '../../scaler/plain-json.js';
import { importObject, type ImportedObject } from '../../importers/import-object.js';
import { nameSources } from '../../importers/manifest/context.js';
import { NO_QUERIES } from '../../importers/manifest/named-metric.js';
import { type JsonObject, objectIn, objectsIn, textIn, textsIn } from '../../kubernetes/api/json.js';
import { changeText, type FieldChange, fieldChanges } from '../../scaler/field-changes.js';
import { type AdoptContext, isMadeFrom, nameScaler, type ScalerObject } from './adoption.js';
import { type Source, nameSource } from './adopt-options.js';
import { manifestOf, savedManifest, specChanges } from './saved-manifest.js';
import { listSome } from '../../units/format.js';

/** Converts the current manifest of the autoscaler to a scaler document; null: it cannot be converted. */
export function importNow(
  { kind, namespace }: Source,
  object: JsonObject,
  queries = NO_QUERIES,
): ImportedObject | null {
  // The API server omits apiVersion and kind in the items of a list, and sometimes also in a single object.
  const whole = { ...object, apiVersion: kind.apiVersion, kind: kind.kind };
  const sources = nameSources([whole]);
  return importObject(whole, { namespace, isNamespaceGiven: true, queries, sources, isDryRun: true });
}

/**
 * If the scaler has a saved manifest of the autoscaler, returns a warning about changes of the autoscaler that the
 * scaler lacks. Otherwise, returns a warning about bounds and targets that differ from a new import of the autoscaler,
 * which may be intended. Null: there are no differences.
 */
export function whatDiffers(context: AdoptContext, scaler: ScalerObject, object: JsonObject): string | null {
  if (isMadeFrom(context.source, scaler) && savedManifest(scaler.object) !== null)
    return whatChanged(context, scaler, object);
  const imported = importedSpec(context.source, object);
  if (imported === null) return null;
  const changes = fieldChanges(comparable(objectIn(scaler.object, 'spec')), comparable(imported), 'spec');
  if (changes.length === 0) return null;
  return `a new import of ${nameSource(context.source)} would differ from ${nameScaler(context, scaler)} (${changesText(changes)}): change the scaler accordingly, unless the difference is intended`;
}

/** Returns the changes of the autoscaler since its import that the scaler lacks, and what to do; null: none. */
export function whatChanged(context: AdoptContext, scaler: ScalerObject, object: JsonObject): string | null {
  const changes = changesToCarryOver(context, scaler, object);
  return changes.length === 0
    ? null
    : `${nameSource(context.source)} has changed since it was imported (${changesText(changes)}): make the same change to ${nameScaler(context, scaler)}`;
}

/**
 * Returns the fields of the document whose values in the autoscaler have changed since the import, unless the document
 * already has the new values. Ignores fields that have always differed, such as a query that the import did not know.
 */
function changesToCarryOver(
  { source }: AdoptContext,
  scaler: ScalerObject,
  object: JsonObject,
): readonly FieldChange[] {
  // If the scaler only has the same target, its saved manifest belongs to another autoscaler.
  const saved = isMadeFrom(source, scaler) ? savedManifest(scaler.object) : null;
  if (saved === null) return [];
  const [before, now] = [importedSpec(source, saved), importedSpec(source, object)];
  if (before === null || now === null) return specChanges(saved, manifestOf(object, source));
  const open = fieldChanges(objectIn(scaler.object, 'spec'), now, 'spec').map(({ field }) => field);
  // A pause is no such change: a switch is refused until both pauses have ended.
  return fieldChanges(before, now, 'spec').filter(
    ({ field }) =>
      field !== 'spec.paused' && open.some((other) => other.startsWith(field) || field.startsWith(other)),
  );
}

/** Returns the spec that an import would create; null: the autoscaler cannot be converted. */
function importedSpec(source: Source, object: JsonObject): JsonObject | null {
  const draft = importNow(source, object)?.draft ?? null;
  return draft === null ? null : { ...draft.spec, metrics: draft.metrics.map(({ value }) => value) };
}

/** Returns only bounds and targets: an autoscaler contains no queries to compare. */
function comparable(spec: JsonObject | null): JsonObject {
  const targetOf = ([type, metric]: readonly [string, unknown]): readonly [string, unknown] => [
    type,
    { target: asObject(metric)?.['target'] },
  ];
  return {
    minReplicas: spec?.['minReplicas'],
    maxReplicas: spec?.['maxReplicas'],
    metrics: objectsIn(spec, 'metrics').map((metric) =>
      Object.fromEntries(Object.entries(metric).map(targetOf)),
    ),
  };
}

const MOST_CHANGES = 3;

function changesText(changes: readonly FieldChange[]): string {
  return listSome(changes.map(changeText), MOST_CHANGES);
}

/**
 * Returns a message about the owner of the object, which would recreate the object; null: it has no controlling owner.
 */
export function whyOwned(object: JsonObject, source: Source): string | null {
  const owners = objectsIn(objectIn(object, 'metadata'), 'ownerReferences');
  const owner = owners.find((one) => one['controller'] === true) ?? null;
  if (owner === null) return null;
  const [kind, name] = [textIn(owner, 'kind') ?? '', textIn(owner, 'name') ?? ''];
  const advice =
    kind === 'ScaledObject'
      ? `adopt this ScaledObject instead: scaledobject/${name}`
      : `disable autoscaling in ${kind} ${name}`;
  return `${nameSource(source)} is owned by ${kind} ${name}, which would recreate the HPA: ${advice}`;
}

/** Returns why deleting the object would change the replicas; null: the replicas would stay. */
export function whyScalesWhenDeleted(object: JsonObject, source: Source): string | null {
  const advanced = objectIn(objectIn(object, 'spec'), 'advanced');
  if (advanced?.['restoreToOriginalReplicaCount'] !== true) return null;
  return `${nameSource(source)} has restoreToOriginalReplicaCount: true, so deleting the ScaledObject would change the replicas. Set the field to false first`;
}

/** Tools that would apply a deleted object again. A pattern matches a label, an annotation or a field manager. */
const TOOLS: readonly (readonly [RegExp, string])[] = [
  [/^(?:argocd\.argoproj\.io\/|argocd-)/, 'Argo CD'],
  [/^(?:(?:kustomize|helm)\.toolkit\.fluxcd\.io\/|(?:kustomize|helm)-controller$)/, 'Flux'],
  [/^(?:meta\.helm\.sh\/release-name$|helm$)/i, 'Helm'],
  // Argo CD sets this label by default, and so do many Helm charts, so the message does not name a single tool.
  [/^app\.kubernetes\.io\/instance$/, 'Argo CD or another tool (label app.kubernetes.io/instance)'],
];

/** Returns the tool that manages the object, such as Helm; null: none is known. */
export function managerOf(object: JsonObject): string | null {
  const metadata = objectIn(object, 'metadata');
  const marks = [
    ...Object.keys({ ...textsIn(metadata, 'labels'), ...textsIn(metadata, 'annotations') }),
    ...objectsIn(metadata, 'managedFields')
      // `managedFields` alone does not suffice, because it omits a manager that no longer owns a field.
      .map((entry) => textIn(entry, 'manager') ?? ''),
  ];
  return TOOLS.find(([pattern]) => marks.some((mark) => pattern.test(mark)))?.[1] ?? null;
}

export function managerAdvice(manager: string, source: Source): string {
  return `${manager} manages ${nameSource(source)}: remove the manifest of the autoscaler from the repository or chart, too. If the autoscaler is created again, promscaler reports ConflictingScaler and patches nothing`;
}
