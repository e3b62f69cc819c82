import { stringLiteral } from '../../promql/quoting.js';
import { metricNames, vectorSelectors } from '../../promql/vector-selectors.js';
import { asObject, valueAt } from '../../scaler/plain-json.js';
import { BUILT_IN } from '../../scaler/schema/presets.js';
import { IMPORTED_SPEC } from '../../scaler/spec.js';
import { convertSpec, importObject, type ImportedObject } from '../../importers/import-object.js';
import { nameSources } from '../../importers/manifest/context.js';
import { NO_QUERIES } from '../../importers/manifest/named-metric.js';
import { type JsonObject, objectIn, objectsIn, textIn, textsIn } from '../../kubernetes/api/json.js';
import { changeText, type FieldChange, fieldChanges, isSame } from '../../scaler/field-changes.js';
import { type AdoptContext, isMadeFrom, nameScaler, type ScalerObject } from './adoption.js';
import { type Source, nameSource } from './adopt-options.js';
import { annotationsOf, manifestOf, savedManifest, specChanges } from './saved-manifest.js';
import { listSome } from '../../units/format.js';
import { parseJson } from '../../units/json-bounds.js';
import { parseQuantity } from '../../units/quantity.js';

/** Converts the current manifest of the autoscaler to a scaler document; null: it cannot be converted. */
export function importNow(source: Source, object: JsonObject, queries = NO_QUERIES): ImportedObject | null {
  const whole = wholeObject(source, object);
  const sources = nameSources([whole]);
  return importObject(whole, {
    namespace: source.namespace,
    isNamespaceGiven: true,
    queries,
    sources,
    isDryRun: true,
  });
}

/** The API server omits apiVersion and kind in the items of a list, and sometimes also in a single object. */
function wholeObject({ kind }: Source, object: JsonObject): JsonObject {
  return { ...object, apiVersion: kind.apiVersion, kind: kind.kind };
}

/**
 * If the scaler has a copy of the autoscaler, returns a warning about changes of the autoscaler that the scaler lacks.
 * Otherwise, returns a warning about bounds, metrics and behavior that differ from a new import of the autoscaler,
 * which may be intended. Null: there are no differences.
 */
export function whatDiffers(context: AdoptContext, scaler: ScalerObject, object: JsonObject): string | null {
  return describe(context, scaler, findDifferences(context, scaler, object));
}

/**
 * Returns why the scaler may scale on something else than the autoscaler: changes of the autoscaler since its import
 * that the scaler lacks or, if the scaler has no copy of the autoscaler, other metrics. Null: none.
 */
export function whatChanged(context: AdoptContext, scaler: ScalerObject, object: JsonObject): string | null {
  const found = findDifferences(context, scaler, object);
  const counts =
    found.hasCopy ||
    (isMadeFrom(context.source, scaler) && found.changes.some(({ field }) => isOfMetric(field)));
  return counts ? describe(context, scaler, found) : null;
}

interface Differences {
  /** Whether the changes are those since a copy of the autoscaler; otherwise the scaler was compared. */
  readonly hasCopy: boolean;
  readonly changes: readonly ChangeSince[];
}

interface ChangeSince extends FieldChange {
  /** The copy with the previous value; null: there is none. */
  readonly since: Copy['since'] | null;
}

function findDifferences(context: AdoptContext, scaler: ScalerObject, object: JsonObject): Differences {
  const copies = copiesIn(context.source, scaler);
  if (copies.length > 0)
    return { hasCopy: true, changes: changesToCarryOver(context, scaler, { copies, object }) };
  const changes = changesOfImport(context, scaler, object).map((change) => ({ ...change, since: null }));
  return { hasCopy: false, changes };
}

function describe(
  context: AdoptContext,
  scaler: ScalerObject,
  { hasCopy, changes }: Differences,
): string | null {
  if (changes.length === 0) return null;
  const [autoscaler, named] = [nameSource(context.source), nameScaler(context, scaler)];
  const listed = (some: readonly FieldChange[]): string =>
    `(${listSome(some.map(changeText), MOST_CHANGES)})`;
  if (!hasCopy)
    return `a new import of ${autoscaler} would differ from ${named} ${listed(changes)}: change the scaler accordingly, unless the difference is intended`;
  const what = ['it was imported' as const, 'its manifest was saved' as const].flatMap((since) => {
    const some = changes.filter((change) => change.since === since);
    return some.length === 0 ? [] : [`since ${since} ${listed(some)}`];
  });
  return `${autoscaler} has changed ${what.join(', and ')}: make the same change to ${named}. A file from which you apply the scaler needs the change, too, or a new import`;
}

/**
 * Returns bounds, targets and behavior of the autoscaler that are not those of the scaler, also if that is intended;
 * null: none.
 */
export function whatIsOther(context: AdoptContext, scaler: ScalerObject, object: JsonObject): string | null {
  const changes = changesOfImport(context, scaler, object).filter(({ field }) => !isOfMetric(field));
  if (changes.length === 0) return null;
  const values = changes.map(
    ({ field, current, proposed }) =>
      `${field}: ${proposed === 'null' ? '(unset)' : proposed} instead of ${current ?? '(unset)'}`,
  );
  return `${nameSource(context.source)} has other values than ${nameScaler(context, scaler)} (${listSome(values, MOST_CHANGES)})`;
}

/** Returns whether a field selects the metrics: the whole list, or a field other than the target of a metric. */
function isOfMetric(field: string): boolean {
  return field.startsWith('spec.metrics') && !/^spec\.metrics\[\d+\]\.\w+\.target\b/.test(field);
}

function changesOfImport(
  { source }: AdoptContext,
  scaler: ScalerObject,
  object: JsonObject,
): readonly FieldChange[] {
  const imported = importedSpec(source, object);
  if (imported === null) return [];
  return specDifferences(comparable(objectIn(scaler.object, 'spec')), comparable(imported));
}

/** A copy of an autoscaler in an annotation of its scaler. */
interface Copy {
  readonly since: 'it was imported' | 'its manifest was saved';
  /** The spec to which the autoscaler was converted; null: it could not be converted. */
  readonly spec: JsonObject | null;
  /** Null: only the converted spec was saved, by an import. */
  readonly manifest: JsonObject | null;
}

/**
 * Returns the copies of the autoscaler as of the import of the document, and as of `adopt` or the last switch. If the
 * scaler only has the same target, its copies are of another autoscaler.
 */
function copiesIn(source: Source, scaler: ScalerObject): readonly Copy[] {
  if (!isMadeFrom(source, scaler)) return [];
  const { object } = scaler;
  const spec = asObject(parseJson(annotationsOf(object)[IMPORTED_SPEC] ?? ''));
  const manifest = savedManifest(object);
  return [
    ...(spec === null ? [] : [{ since: 'it was imported' as const, spec, manifest: null }]),
    ...(manifest === null
      ? []
      : [{ since: 'its manifest was saved' as const, spec: importedSpec(source, manifest), manifest }]),
  ];
}

/**
 * Returns the fields of the document that lack a change of the autoscaler since one of the copies. A value that the
 * autoscaler had in a copy is outdated: a file was applied again, or the autoscaler has changed back. Any other value
 * is intended if the autoscaler has not changed since one of the copies. Ignores fields that have always differed, such
 * as a query that the import did not know.
 */
function changesToCarryOver(
  { source }: AdoptContext,
  scaler: ScalerObject,
  { copies, object }: { readonly copies: readonly Copy[]; readonly object: JsonObject },
): readonly ChangeSince[] {
  const now = importedSpec(source, object);
  const known = copies.flatMap(({ since, spec }) => (spec === null ? [] : [{ since, before: spec }]));
  if (now === null || known.length === 0) {
    const saved = copies.flatMap(({ since, manifest }) => (manifest === null ? [] : [{ since, manifest }]));
    return saved.flatMap(({ since, manifest }) =>
      specChanges(manifest, manifestOf(object, source)).map((change) => ({ ...change, since })),
    );
  }
  const lacking = known.map(({ since, before }) => {
    const has = withSelectors(withNames(objectIn(scaler.object, 'spec')), { before, now });
    const open = fieldsOf(specDifferences(has, withNames(now)));
    const intended = fieldsOf(specDifferences(withNames(before), has));
    // A pause is no such change: a switch is refused until both pauses have ended.
    return specDifferences(withNames(before), withNames(now))
      .filter(({ field }) => field !== 'spec.paused' && open.some((other) => isWithin(field, other)))
      .map((change) => ({ ...change, since, isIntended: intended.includes(change.field) }));
  });
  const isInAll = ({ field }: FieldChange): boolean =>
    lacking.every((some) => some.some((other) => isWithin(field, other.field)));
  const all = lacking.flat();
  const found = [...all.filter(({ isIntended }) => !isIntended), ...all.filter(isInAll)];
  return found.filter((change, index) => found.findIndex(({ field }) => field === change.field) === index);
}

function fieldsOf(changes: readonly FieldChange[]): readonly string[] {
  return changes.map(({ field }) => field);
}

/** Returns whether one of the fields contains the other one. */
function isWithin(field: string, other: string): boolean {
  return other.startsWith(field) || field.startsWith(other);
}

/**
 * Returns the fields of two specs that differ. One may be of a manifest, and the other one of an object in which the
 * API server has written defaults, and quantities in their canonical form.
 */
function specDifferences(before: JsonObject, after: JsonObject): readonly FieldChange[] {
  return fieldChanges(withDefaultMetric(before), withDefaultMetric(after), 'spec').filter(
    (change) => !isSameQuantity(change),
  );
}

function withDefaultMetric(spec: JsonObject): JsonObject {
  const target = { averageUtilization: BUILT_IN.cpuUtilizationPercent };
  return objectsIn(spec, 'metrics').length > 0
    ? spec
    : { ...spec, metrics: [{ resource: { name: 'cpu', target } }] };
}

function isSameQuantity({ field, current, proposed }: FieldChange): boolean {
  if (current === null || !/\.(?:value|averageValue|activation|tolerance)$/.test(field)) return false;
  const [before, after] = [current, proposed].map((text) => {
    const value = parseJson(text);
    return typeof value === 'string' || typeof value === 'number' ? parseQuantity(value) : null;
  });
  return before != null && before === after;
}

/** Returns the spec that an import would create; null: the autoscaler cannot be converted. */
function importedSpec(source: Source, object: JsonObject): JsonObject | null {
  return convertSpec(wholeObject(source, object), source.namespace);
}

/** Returns only what each autoscaler has, and no queries: an HPA contains none to compare. */
function comparable(spec: JsonObject | null): JsonObject {
  const { minReplicas, maxReplicas, metrics, behavior } = withNames(spec);
  const known = ({ name, container, metric, target }: JsonObject): JsonObject => ({
    name,
    container,
    metric: metric === undefined ? undefined : { name: valueAt(metric, ['name']) },
    target,
  });
  return {
    minReplicas: minReplicas === 1 ? undefined : minReplicas,
    maxReplicas,
    metrics: objectsIn({ metrics }, 'metrics').map((metric) => mapMembers(metric, known)),
    behavior,
  };
}

/** Returns the spec with a name for each metric whose name is implied by its query. */
function withNames(spec: JsonObject | null): JsonObject {
  const named = (metric: JsonObject): JsonObject => {
    const query = textIn(metric, 'query');
    const [name] = query === null || metric['metric'] !== undefined ? [] : metricNames(query);
    return name === undefined ? metric : { ...metric, metric: { name } };
  };
  return { ...spec, metrics: objectsIn(spec, 'metrics').map((metric) => mapMembers(metric, named)) };
}

/**
 * Returns the spec of a scaler with the selector of each metric in the autoscaler: that of now if the query of the
 * scaler has its matchers, or else the one before.
 */
function withSelectors(
  spec: JsonObject,
  { before, now }: Readonly<Record<'before' | 'now', JsonObject>>,
): JsonObject {
  const [old, wanted] = [selectorsOf(before), selectorsOf(now)];
  const metrics = objectsIn(spec, 'metrics').map((metric, index) => {
    const { [index]: from = [] } = old;
    const { [index]: to = [] } = wanted;
    return mapMembers(metric, (body) => {
      const query = textIn(body, 'query');
      if (query === null) return body;
      const selector = isSame(from, to) || selects(query, from, to) ? to : from;
      return {
        ...body,
        metric: { ...objectIn(body, 'metric'), selector: selector.length === 0 ? undefined : selector },
      };
    });
  });
  return { ...spec, metrics };
}

/** Returns the selector of each metric in the result of `convertSpec`. */
function selectorsOf(spec: JsonObject): readonly (readonly string[])[] {
  return objectsIn(spec, 'metrics').map((metric) =>
    Object.values(metric).flatMap((body) => {
      const selector = valueAt(body, ['metric', 'selector']);
      return Array.isArray(selector) ? selector.map(String) : [];
    }),
  );
}

/** Returns whether a query has the new matchers, and not those that were removed. */
function selects(query: string, before: readonly string[], now: readonly string[]): boolean {
  const has = vectorSelectors(query).flatMap(({ matchers }) =>
    matchers.map(({ label, operator, value }) => `${label}${operator}${stringLiteral(value)}`),
  );
  return (
    now.every((matcher) => has.includes(matcher)) &&
    before.every((matcher) => now.includes(matcher) || !has.includes(matcher))
  );
}

/** Changes each member that is an object: a metric has one, which is named by its type. */
function mapMembers(metric: JsonObject, change: (member: JsonObject) => JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(metric).map(([type, member]) => {
      const object = asObject(member);
      return [type, object === null ? member : change(object)];
    }),
  );
}

const MOST_CHANGES = 3;

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
