import { ADOPTED_FROM, IMPORTED_SPEC } from '../scaler/spec.js';
import { isPlainObject, type PlainObject, valueAt, without } from '../scaler/plain-json.js';
import { readPlain } from '../scaler/read/read-plain.js';
import { PLACEHOLDER, checkValue } from '../scaler/read/parse-scaler.js';
import { type ImportContext, nameSources } from './manifest/context.js';
import { NO_QUERIES } from './manifest/named-metric.js';
import {
  type Draft,
  isCommentedOut,
  type Remark,
  type RemarkLog,
  createRemarkLog,
  type DraftItem,
  type ItemList,
  ITEM_LISTS,
} from './draft/draft.js';
import { type Fields, readFields } from './manifest/fields.js';
import { importChpa, importHpa } from './import-hpa.js';
import { importWpa } from './import-wpa.js';
import { importScaledObject } from './keda/import-scaled-object.js';
import { type ReadMetadata, readMetadata } from './manifest/metadata.js';
import { commentOf, oneLine } from './draft/comments.js';
import { writeDocument, documentOf } from './draft/write-document.js';
import { type Finding, formatPath, type Path } from '../scaler/problems/finding.js';
import { PROBLEM_CLASSES } from '../scaler/problems/problem-codes.js';

export interface ImportedObject {
  /** The name of the object in remarks, for example `HPA shop/web`. */
  readonly label: string;
  /** `NAMESPACE/NAME` of the document; null: there is no document. */
  readonly key: string | null;
  /** The scaler document as YAML; null: the object cannot be converted, for the reasons in `remarks`. */
  readonly text: string | null;
  readonly draft: Draft | null;
  readonly remarks: readonly Remark[];
  /**
   * The ScaledObject from which KEDA created the HPA, such as `ScaledObject shop/web`. Unset: KEDA did not create it.
   */
  readonly madeFrom?: string;
}

type Convert = (
  manifest: Fields,
  read: ReadMetadata,
  context: ImportContext,
) => Omit<Draft, 'metadata'> | null;

interface Kind {
  /** The name of the kind in remarks. */
  readonly name: string;
  readonly groups: RegExp;
  readonly convert: Convert;
  /** Whether `adopt` supports the kind. */
  readonly isAdoptable?: true;
}

const KINDS: Readonly<Record<string, Kind>> = {
  HorizontalPodAutoscaler: {
    name: 'HPA',
    groups: /^(?:autoscaling\/v(?:1|2|2beta[12])|extensions\/v1beta1)$/,
    convert: importHpa,
    isAdoptable: true,
  },
  CHPA: { name: 'CHPA', groups: /^autoscalers\.postmates\.com\//, convert: importChpa },
  ConfigurableHorizontalPodAutoscaler: { name: 'CHPA', groups: /\//, convert: importChpa },
  WatermarkPodAutoscaler: { name: 'WPA', groups: /^datadoghq\.com\//, convert: importWpa },
  ScaledObject: {
    name: 'ScaledObject',
    groups: /^keda\.(?:sh|k8s\.io)\//,
    convert: importScaledObject,
    isAdoptable: true,
  },
  ScaledJob: { name: 'ScaledJob', groups: /^keda\.(?:sh|k8s\.io)\//, convert: rejectScaledJob },
};

function rejectScaledJob({ log }: Fields): null {
  log.lose([], 'has no replicas: promscaler does not scale Jobs');
  return null;
}

export function notImported(label: string, remarks: readonly Remark[]): ImportedObject {
  return { label, key: null, text: null, draft: null, remarks };
}

/** Returns a remark about an object for which there is no scaler document. */
export function lossOf(path: Path, message: string): Remark {
  return { path, message, at: [], kind: 'loss' };
}

function kindOf(value: unknown): Kind | null {
  if (!isPlainObject(value)) return null;
  const { kind, apiVersion } = value;
  const found = typeof kind === 'string' && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  return found !== undefined && typeof apiVersion === 'string' && found.groups.test(apiVersion)
    ? found
    : null;
}

/** Converts an object to a scaler document; null: it is not an autoscaler. Accepts any JSON value without throwing. */
export function importObject(given: unknown, context: ImportContext): ImportedObject | null {
  const { value, findings } = readPlain(given);
  const kind = kindOf(value);
  if (kind === null && isPlainObject(value)) return unknownVersion(value);
  if (kind === null || !isPlainObject(value)) return null;
  const remarks: Remark[] = [];
  const log = createRemarkLog(remarks);
  for (const { path, message } of findings) log.lose(path, message);
  const manifest = readFields(value, [], log);
  if (manifest === null) return null;
  manifest.skip('apiVersion', 'kind', 'status');
  const read = readMetadata(manifest, context);
  const label = `${kind.name} ${read.label === '' ? '(without a name)' : read.label}`;
  const owner = kedaOwner(value);
  if (owner !== null) {
    const message = `is not imported: KEDA created it from ${owner}. Import the ScaledObject instead: kubectl get scaledobjects -A -o yaml`;
    return { ...notImported(label, [lossOf([], message)]), madeFrom: owner };
  }
  const converted = kind.convert(manifest, read, context);
  if (converted !== null) manifest.rest();
  if (read.metadata === null || converted === null) return notImported(label, remarks);
  const repaired = repair({ ...converted, metadata: read.metadata }, log);
  if (repaired === null) return notImported(label, remarks);
  const held = withHold(repaired, context, log);
  const isMarked = context.isDryRun && kind.isAdoptable === true;
  const draft = isMarked ? withOrigin(held, value) : held;
  const header = `Imported from ${String(value['kind'])} ${read.label} (${String(value['apiVersion'])})`;
  return { label, key: read.label, text: writeDocument(draft, remarks, header), draft, remarks };
}

/**
 * Returns a remark about an autoscaler with an unsupported apiVersion, because its fields may have another meaning.
 * Null: the object is no autoscaler.
 */
function unknownVersion(value: PlainObject): ImportedObject | null {
  const { kind, apiVersion, metadata } = value;
  const known = typeof kind === 'string' && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (known === undefined || typeof apiVersion !== 'string') return null;
  const name = ['namespace', 'name'].flatMap((field) => {
    const part = valueAt(metadata, [field]);
    return typeof part === 'string' ? [part] : [];
  });
  const message = `is ${JSON.stringify(apiVersion)}, which is not supported`;
  return notImported(`${known.name} ${name.join('/')}`, [lossOf(['apiVersion'], message)]);
}

/** Returns the ScaledObject that owns an HPA; null: there is none. */
function kedaOwner(value: PlainObject): string | null {
  const owners = valueAt(value, ['metadata', 'ownerReferences']);
  const list: readonly unknown[] = Array.isArray(owners) ? owners : [];
  const owner = list.find((one) => valueAt(one, ['kind']) === 'ScaledObject');
  const namespace = valueAt(value, ['metadata', 'namespace']);
  return owner === undefined ? null : `ScaledObject ${String(namespace)}/${String(valueAt(owner, ['name']))}`;
}

/**
 * If a metric or schedule is commented out, sets `spec.paused` to a placeholder. Without that metric or schedule, the
 * workload could get too few replicas, so `validate` rejects the document until the user has removed the placeholder.
 */
function withHold(draft: Draft, context: ImportContext, log: RemarkLog): Draft {
  const dryRun: PlainObject = context.isDryRun ? { dryRun: true } : {};
  if (![...draft.metrics, ...draft.schedules].some(isCommentedOut))
    return { ...draft, spec: { ...dryRun, ...draft.spec } };
  log.at(['spec', 'paused']).note([], HOLD);
  return { ...draft, spec: { ...draft.spec, ...dryRun, paused: PLACEHOLDER } };
}

/**
 * Adds annotations with the name of the autoscaler, so that a switch by `adopt` does not need --force, and with the
 * converted spec, so that `adopt` finds later changes of the autoscaler.
 */
function withOrigin(draft: Draft, value: PlainObject): Draft {
  const { annotations, ...metadata } = draft.metadata;
  const origin = {
    [ADOPTED_FROM]: `${String(value['kind'])}/${String(metadata['name'])}`,
    [IMPORTED_SPEC]: JSON.stringify(convertSpec(value, String(metadata['namespace']))),
  };
  const merged = { ...(isPlainObject(annotations) ? annotations : {}), ...origin };
  return { ...draft, metadata: { ...metadata, annotations: merged } };
}

/**
 * Returns the spec to which an autoscaler is converted without queries from elsewhere, also the parts that a document
 * has as comments, but without placeholders. A metric of a metrics API also has its selector as `metric.selector`, a
 * sorted list of matchers. Two results differ only if the autoscalers differ. Null: the object cannot be converted.
 */
export function convertSpec(autoscaler: unknown, namespace: string): PlainObject | null {
  const sources = nameSources([autoscaler]);
  const context = { namespace, isNamespaceGiven: true, queries: NO_QUERIES, sources, isDryRun: false };
  const draft = importObject(autoscaler, context)?.draft ?? null;
  if (draft === null) return null;
  const schedules = draft.schedules.map(({ value }) => value);
  const spec = {
    ...draft.spec,
    metrics: draft.metrics.map(withSelector),
    ...(schedules.length === 0 ? {} : { schedules }),
  };
  const text = JSON.stringify(spec, (_, member: unknown) => (member === PLACEHOLDER ? undefined : member));
  return JSON.parse(text) as PlainObject;
}

function withSelector({ value, matchers = [] }: DraftItem): PlainObject {
  if (matchers.length === 0) return value;
  const selector = [...matchers].sort();
  return Object.fromEntries(
    Object.entries(value).map(([type, body]) => {
      const metric = valueAt(body, ['metric']);
      return isPlainObject(body) && isPlainObject(metric)
        ? [type, { ...body, metric: { ...metric, selector } }]
        : [type, body];
    }),
  );
}

const HOLD =
  'A metric or schedule below is commented out. Complete or delete the commented lines, then remove this field.';

const LONGEST_LINE = 1000;

/** Returns a remark as a line for standard error, such as `HPA shop/web: spec.metrics[1]: ...`. */
export function remarkLine(label: string, { path, message }: Remark): string {
  const [first = ''] = message.split('\n');
  const subject = path.length === 0 && /^(?:is|has) /.test(first) ? label : `${label}:`;
  return oneLine(`${subject} ${commentOf({ path, message: first })}`).slice(0, LONGEST_LINE);
}

/** Limits the passes, each of which removes at least one field. */
const MOST_PASSES = 200;

const REQUIRED = ['metadata.name', 'metadata.namespace', 'spec.scaleTargetRef', 'spec.maxReplicas'];

/**
 * Removes everything that a scaler document does not allow, with a remark for each removal. Null: a required field is
 * missing or invalid.
 */
export function repair(draft: Draft, log: RemarkLog): Draft | null {
  let current = draft;
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const { findings } = checkValue(documentOf(current));
    const found = findings.find(
      ({ code }) => PROBLEM_CLASSES[code] !== 'warning' && !(code === 'scale-to-zero' && hasTotal(current)),
    );
    if (found === undefined) {
      for (const finding of findings) noteTotal(current, finding, log);
      return current;
    }
    const next = repairOne(current, found, log);
    if (next === null) return null;
    current = next;
  }
  log.lose([], 'has too many errors to repair');
  return null;
}

/** Returns whether a metric may have a value without pods. Incomplete metrics are included. */
function hasTotal({ metrics }: Draft): boolean {
  return metrics.some(({ value }) => 'external' in value || 'object' in value);
}

function repairOne(draft: Draft, found: Finding, log: RemarkLog): Draft | null {
  const [root, field, index] = found.path;
  const list = ITEM_LISTS.find((one) => one === field);
  if (root === 'spec' && list !== undefined && typeof index === 'number')
    return withoutItem(draft, found, { list, index, log });
  const name = formatPath(found.path);
  if (REQUIRED.some((path) => name === path || name.startsWith(`${path}.`)) || root !== 'spec') {
    log.lose([], found.message);
    return null;
  }
  if (field === 'minReplicas') return withMinimum(draft, found, log);
  const path = removable(draft.spec, found.path.slice(1));
  if (path.length === 0) {
    log.lose([], found.message);
    return null;
  }
  log.lose(['spec', ...path], `is not carried over: ${found.message}`);
  return { ...draft, spec: without(draft.spec, path) as Draft['spec'] };
}

/**
 * Returns the path of the field to remove: the whole list that contains `path`, or, if a field is missing, the object
 * that requires it.
 */
function removable(spec: unknown, path: Path): Path {
  const list = path.findIndex((step) => typeof step === 'number');
  let removed = list < 0 ? path : path.slice(0, list);
  while (removed.length > 0 && valueAt(spec, removed) === undefined) removed = removed.slice(0, -1);
  return removed;
}

function withoutItem(
  draft: Draft,
  found: Finding,
  { list, index, log }: { readonly list: ItemList; readonly index: number; readonly log: RemarkLog },
): Draft | null {
  const items = draft[list];
  const itemIndex = indexInDraft(items, index);
  const item = items[itemIndex];
  if (item === undefined) return null;
  // Indexes in the message do not count entries that are commented out, so its paths are replaced by paths in the
  // manifest.
  const written = formatPath(['spec', list, index]);
  const message = found.message.replaceAll(written, formatPath(item.from));
  log.at(['spec', list, itemIndex]).lose(item.from, `is commented out: ${message}`);
  return { ...draft, [list]: items.map((one) => (one === item ? { ...item, isOff: true } : one)) };
}

/**
 * Returns the index in the draft for an index in the document, which omits entries that are commented out; -1: there is
 * none.
 */
function indexInDraft(items: readonly DraftItem[], index: number): number {
  return items.flatMap(({ isOff }, at) => (isOff ? [] : [at]))[index] ?? -1;
}

/**
 * Adds a note to a target `value` whose query returns a total: each decision multiplies the replicas. The target is
 * kept, because the imported autoscaler does the same.
 */
function noteTotal({ metrics }: Draft, { code, path, message }: Finding, log: RemarkLog): void {
  const [, , index] = path;
  if (code !== 'total-as-value' || typeof index !== 'number') return;
  const itemIndex = indexInDraft(metrics, index);
  const from = metrics[itemIndex]?.from ?? [];
  const why = message.slice(message.indexOf(': ') + 2);
  log.at(['spec', 'metrics', itemIndex]).note(from, `The target is taken from the manifest, but ${why}`);
}

/** Lowers `minReplicas` to `maxReplicas`, or removes `minReplicas: 0` if all metrics need pods. */
function withMinimum(draft: Draft, found: Finding, log: RemarkLog): Draft | null {
  const { minReplicas, maxReplicas, ...spec } = draft.spec;
  if (typeof minReplicas !== 'number') return null;
  if (found.code === 'replica-bounds' && typeof maxReplicas === 'number') {
    log.lose(found.path, `is ${minReplicas}, above maxReplicas; ${maxReplicas} is used`);
    return { ...draft, spec: { ...draft.spec, minReplicas: maxReplicas } };
  }
  log.at(['spec', 'maxReplicas']).lose(found.path, `is ${minReplicas}; 1 is used: ${found.message}`);
  return { ...draft, spec: { ...spec, maxReplicas } };
}
