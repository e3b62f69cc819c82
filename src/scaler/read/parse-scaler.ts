import { deepFreeze, isPlainObject, valueAt, without } from '../plain-json.js';
import { readPlain } from './read-plain.js';
import {
  brokenIn,
  type Finding,
  finding,
  formatPath,
  type Path,
  unplacedProblem,
} from '../problems/finding.js';
import { nearest } from '../problems/nearest.js';
import { PROBLEM_CLASSES } from '../problems/problem-codes.js';
import type { Problem } from '../problems/problem.js';
import { resolveSpec } from '../resolve/resolve-spec.js';
import type { ServiceFacts } from '../rules/admission-rules.js';
import { checkRules } from '../rules/check-rules.js';
import { checkSchema } from '../schema/check-schema.js';
import { BUILT_IN } from '../schema/presets.js';
import { API_VERSION, type DocumentInput, documentSchema, type Loose } from '../schema/document-schema.js';
import { type Scaler, scalerKey } from '../spec.js';

interface ParsedScaler {
  /** The scaler, which is frozen; null: there is a problem of class `shape`. */
  readonly scaler: Scaler | null;
  readonly problems: readonly Problem[];
}

/**
 * Parses a plain value into which `defaults` of the service config have already been merged. A document that violates
 * only rules across fields (max below min, a tolerance above 1) results in a scaler and an error: the document is
 * rejected as a configuration, but accepted in a snapshot for replay. Problems have no file and no position.
 */
export function parseScaler(value: unknown): ParsedScaler {
  const { findings, document } = checkValue(value);
  return {
    scaler: document === null ? null : buildScaler(document),
    problems: findings.map((found) => unplacedProblem(found)),
  };
}

/** Returns the scaler of a valid document. The result is frozen. */
export function buildScaler(document: DocumentInput): Scaler {
  const { name, namespace } = document.metadata;
  return deepFreeze({
    key: scalerKey({ namespace, name }),
    namespace,
    name,
    document,
    spec: resolveSpec(document.spec),
  });
}

interface CheckedDocument {
  readonly findings: readonly Finding[];
  /** The document; null: there is a finding of class `shape`. */
  readonly document: DocumentInput | null;
}

/**
 * Checks a plain value as a scaler document. Rules across fields are applied to the fields that could be read, even if
 * other fields are unknown or have wrong types. `service` contains the flavor of each data source.
 */
export function checkValue(value: unknown, service?: ServiceFacts): CheckedDocument {
  const plain = readPlain(value);
  const wrongKind = checkKind(plain.value);
  if (wrongKind !== null && !isLikeScaler(plain.value)) return { findings: [wrongKind], document: null };
  const written = removeSystemFields(plain.value);
  const checked = checkSchema(documentSchema, written.value, { withNulls: value });
  const schemaFindings =
    wrongKind === null ? checked.findings : checked.findings.filter(({ path }) => !isTypeField(path));
  const placeholders = findPlaceholders(valueAt(written.value, ['spec']), ['spec']);
  const isPlaceholder = (path: Path): boolean =>
    placeholders.some((one) => formatPath(one.path) === formatPath(path));
  const earlier = [
    ...(wrongKind === null ? [] : [wrongKind]),
    ...plain.findings,
    ...written.findings,
    ...placeholders,
    ...schemaFindings.filter(({ path }) => !isPlaceholder(path)),
  ];
  // The cast is safe, because `readable` contains only values that passed the schema.
  const readable = isPlainObject(checked.readable) ? (checked.readable as Loose<DocumentInput>) : {};
  const rules = checkRules(readable, brokenIn(earlier), service).filter(({ path }) => !isPlaceholder(path));
  const findings = [...earlier, ...checkEmptyMetrics(value), ...rules];
  const hasShape = findings.every(({ code }) => PROBLEM_CLASSES[code] !== 'shape');
  return { findings, document: hasShape ? checked.value : null };
}

/** `import` writes this string in place of a value that only a user knows. */
export const PLACEHOLDER = 'FILL IN';

function findPlaceholders(value: unknown, path: Path): readonly Finding[] {
  if (value === PLACEHOLDER) {
    const what =
      formatPath(path) === 'spec.paused'
        ? 'complete or delete the fields that are commented out below, then remove this field'
        : 'replace it';
    const message = `${formatPath(path)} is ${PLACEHOLDER}, a placeholder of the import command: ${what}`;
    return [finding('placeholder', path, message)];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => findPlaceholders(item, [...path, index]));
  if (!isPlainObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => findPlaceholders(member, [...path, key]));
}

/** Warns about `metrics:` without a value: its items may be commented out, and the default would replace them. */
function checkEmptyMetrics(value: unknown): readonly Finding[] {
  const path = ['spec', 'metrics'];
  if (valueAt(value, path) !== null) return [];
  const message = `${formatPath(path)} is empty, so the default applies: CPU at ${BUILT_IN.cpuUtilizationPercent} percent of the requests. Complete the metrics, or remove the field`;
  return [{ ...finding('empty-metrics', path, message), at: 'key' }];
}

/** Reports a document of another kind. The message also names the required `apiVersion`. */
function checkKind(value: unknown): Finding | null {
  const [kind, apiVersion] = isPlainObject(value) ? [value['kind'], value['apiVersion']] : [];
  if (typeof kind !== 'string' || kind === 'Scaler') return null;
  const hint = isMisspelt(kind) ? '; did you mean "Scaler"?' : '';
  const version = apiVersion === API_VERSION ? '' : ` with apiVersion: ${API_VERSION}`;
  return finding(
    'wrong-kind',
    ['kind'],
    `kind is ${kind}, must be Scaler${version}${hint}${KIND_HINTS.get(kind) ?? ''}`,
  );
}

function isMisspelt(kind: string): boolean {
  return nearest(kind, ['Scaler']) !== null;
}

/**
 * Returns whether a document is certainly an object of another kind. False for a `List`, because it may contain
 * Scalers, and for an unknown kind in promscaler's API group, because that is a mistake.
 */
export function isOtherKind(value: unknown): boolean {
  const [kind, apiVersion] = isPlainObject(value) ? [value['kind'], value['apiVersion']] : [];
  return (
    typeof kind === 'string' &&
    typeof apiVersion === 'string' &&
    !apiVersion.startsWith(API_GROUP) &&
    !kind.endsWith('List') &&
    !isMisspelt(kind)
  );
}

const API_GROUP = API_VERSION.slice(0, API_VERSION.indexOf('/') + 1);

/**
 * A document of another kind with one of these fields in its `spec` is checked as a Scaler. Any other document of
 * another kind is not checked, because every field would be reported as unknown.
 */
const SCALER_FIELDS = ['scaleTargetRef', 'maxReplicas', 'metrics'];

function isLikeScaler(value: unknown): boolean {
  const spec = valueAt(value, ['spec']);
  return isPlainObject(spec) && SCALER_FIELDS.some((name) => Object.hasOwn(spec, name));
}

function isTypeField([first, second]: Path): boolean {
  return second === undefined && (first === 'kind' || first === 'apiVersion');
}

const IMPORT = '; promscaler import converts it';

const KIND_HINTS: ReadonlyMap<string, string> = new Map([
  ['HorizontalPodAutoscaler', IMPORT],
  ['CHPA', IMPORT],
  ['ConfigurableHorizontalPodAutoscaler', IMPORT],
  ['WatermarkPodAutoscaler', IMPORT],
  ['ScaledObject', IMPORT],
  [
    'List',
    '; write the items of the list as separate documents, with --- between them. promscaler import converts a list of autoscalers',
  ],
]);

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Fields of `metadata` that the API server and controllers set. */
export const SYSTEM_METADATA: readonly string[] = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
  'ownerReferences',
  'finalizers',
];

/** Fields that the API server, controllers and kubectl set. A manifest exported from a cluster contains them. */
const SYSTEM_FIELDS: readonly Path[] = [
  ...SYSTEM_METADATA.map((name) => ['metadata', name]),
  ['metadata', 'annotations', LAST_APPLIED],
  ['status'],
];

/** Removes system fields. Returns one warning that lists them, with the position of the first one. */
function removeSystemFields(value: unknown): {
  readonly value: unknown;
  readonly findings: readonly Finding[];
} {
  const present = SYSTEM_FIELDS.filter((path) => valueAt(value, path) !== undefined);
  const [first] = present;
  if (first === undefined) return { value, findings: [] };
  const names = present.map(formatPath);
  const last = names.pop() ?? '';
  const subject = names.length === 0 ? `${last} is` : `${names.join(', ')} and ${last} are`;
  const message = `${subject} set by the cluster and ignored here: remove ${names.length === 0 ? 'the field' : 'these fields'}`;
  const found: Finding = { code: 'system-fields', message, path: first, at: 'key', offset: null };
  return { value: present.reduce(without, value), findings: [found] };
}
