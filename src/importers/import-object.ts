import { ADOPTED_FROM } from '../scaler/spec.js';
import { isPlainObject, type PlainObject, valueAt } from '../scaler/plain-json.js';
import { readPlain } from '../scaler/read/read-plain.js';
import { PLACEHOLDER } from '../scaler/read/parse-scaler.js';
import type { ImportContext } from './manifest/context.js';
import { type Draft, isCommentedOut, type Remark, type RemarkLog, createRemarkLog } from './draft/draft.js';
import { type Fields, readFields } from './manifest/fields.js';
import { importChpa, importHpa } from './import-hpa.js';
import { importWpa } from './import-wpa.js';
import { importScaledObject } from './keda/import-scaled-object.js';
import { type ReadMetadata, readMetadata } from './manifest/metadata.js';
import { repair } from './draft/repair.js';
import { commentOf, oneLine } from './draft/comments.js';
import { writeDocument } from './draft/write-document.js';

export interface ImportedObject {
  /** What remarks call the object, for example `HPA shop/web`. */
  readonly label: string;
  /** `NAMESPACE/NAME` of the document; null: there is no document. */
  readonly key: string | null;
  /** The scaler document as YAML; null: the object cannot be converted, for the reasons in `remarks`. */
  readonly text: string | null;
  readonly draft: Draft | null;
  readonly remarks: readonly Remark[];
  /** For an HPA that KEDA has created, its ScaledObject, such as `ScaledObject shop/web`. */
  readonly madeFrom?: string;
}

type Convert = (
  manifest: Fields,
  read: ReadMetadata,
  context: ImportContext,
) => Omit<Draft, 'metadata'> | null;

interface Kind {
  /** What remarks call the kind. */
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
  log.lose([], 'has no replicas: promscaler scales workloads, not Jobs');
  return null;
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
    const message = `is not imported: KEDA created it from ${owner}. Import that instead: kubectl get scaledobjects -A -o yaml`;
    const remark: Remark = { path: [], message, at: [], kind: 'loss' };
    return { label, key: null, text: null, draft: null, remarks: [remark], madeFrom: owner };
  }
  const failed = { label, key: null, text: null, draft: null, remarks };
  const converted = kind.convert(manifest, read, context);
  if (converted !== null) manifest.rest();
  if (read.metadata === null || converted === null) return failed;
  const repaired = repair({ ...converted, metadata: read.metadata }, log);
  if (repaired === null) return failed;
  const held = withHold(repaired, context, log);
  const isMarked = context.isDryRun && kind.isAdoptable === true;
  const draft = isMarked ? withOrigin(held, String(value['kind'])) : held;
  const header = `Imported from ${String(value['kind'])} ${read.label} (${String(value['apiVersion'])})`;
  return { label, key: read.label, text: writeDocument(draft, remarks, header), draft, remarks };
}

/** Reports an autoscaler of an unknown API version, whose fields may have another meaning; null: not an autoscaler. */
function unknownVersion(value: PlainObject): ImportedObject | null {
  const { kind, apiVersion, metadata } = value;
  const known = typeof kind === 'string' && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (known === undefined || typeof apiVersion !== 'string') return null;
  const name = ['namespace', 'name'].flatMap((field) => {
    const part = valueAt(metadata, [field]);
    return typeof part === 'string' ? [part] : [];
  });
  const message = `is ${JSON.stringify(apiVersion)}, which import does not know`;
  const remark: Remark = { path: ['apiVersion'], message, at: [], kind: 'loss' };
  return { label: `${known.name} ${name.join('/')}`, key: null, text: null, draft: null, remarks: [remark] };
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
 * If a metric or schedule is commented out, adds a placeholder to the document. `validate` rejects the document until
 * the user replaces it, because the workload could get too few replicas.
 */
function withHold(draft: Draft, context: ImportContext, log: RemarkLog): Draft {
  const dryRun: PlainObject = context.isDryRun ? { dryRun: true } : {};
  if (![...draft.metrics, ...draft.schedules].some(isCommentedOut))
    return { ...draft, spec: { ...dryRun, ...draft.spec } };
  log.at(['spec', 'paused']).note([], HOLD);
  return { ...draft, spec: { ...draft.spec, ...dryRun, paused: PLACEHOLDER } };
}

/** Adds an annotation by which `adopt` recognizes the document, so that a switch does not need --force. */
function withOrigin(draft: Draft, kind: string): Draft {
  const { annotations, ...metadata } = draft.metadata;
  const origin = { [ADOPTED_FROM]: `${kind}/${String(metadata['name'])}` };
  const merged = { ...(isPlainObject(annotations) ? annotations : {}), ...origin };
  return { ...draft, metadata: { ...metadata, annotations: merged } };
}

const HOLD = 'A metric or schedule below is commented out. Complete or delete it, then remove this field.';

const LONGEST_LINE = 1000;

/** Returns a remark as a line for standard error, such as `HPA shop/web: spec.metrics[1]: ...`. */
export function remarkLine(label: string, { path, message }: Remark): string {
  const [first = ''] = message.split('\n');
  const subject = path.length === 0 && /^(?:is|has) /.test(first) ? label : `${label}:`;
  return oneLine(`${subject} ${commentOf({ path, message: first })}`).slice(0, LONGEST_LINE);
}
