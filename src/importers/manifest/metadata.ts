import { isPlainObject, type PlainObject } from '../../scaler/plain-json.js';
import { formatValue, type Path } from '../../scaler/problems/finding.js';
import { SYSTEM_METADATA } from '../../scaler/read/parse-scaler.js';
import { labelName, objectName } from '../../scaler/schema/field-types.js';
import type { ImportContext } from './context.js';
import type { Fields } from './fields.js';

/**
 * Metadata by which tools recognize their objects. If a document contained such metadata, Helm would reject the
 * document, and Argo CD would delete the object.
 */
const TOOL_KEYS: readonly RegExp[] = [
  /^kubectl\.kubernetes\.io\//,
  /^autoscaling\.alpha\.kubernetes\.io\//,
  /^(?:[a-z]+\.)*keda\.sh\//,
  /^wpa\.datadoghq\.com\//,
  /^(?:meta\.)?helm\.sh\//,
  /^(?:[a-z]+\.)*argoproj\.io\//,
  /^(?:[a-z]+\.)*toolkit\.fluxcd\.io\//,
  /^objectset\.rio\.cattle\.io\//,
  /^app\.kubernetes\.io\/(?:managed-by|instance)$/,
  /^(?:chart|heritage|release)$/,
];

export interface ReadMetadata {
  /** `NAMESPACE/NAME`; empty: the object has no name. */
  readonly label: string;
  /** Null: the object has no valid name. */
  readonly metadata: PlainObject | null;
  readonly annotations: PlainObject;
}

/**
 * Reads the metadata. `metadata` lacks labels and annotations that a server or a tool has set; `annotations` contains
 * all annotations.
 */
export function readMetadata(manifest: Fields, context: ImportContext): ReadMetadata {
  const fields = manifest.object('metadata');
  if (fields === undefined) {
    manifest.log.lose(['metadata', 'name'], 'is missing');
    return { label: '', metadata: null, annotations: {} };
  }
  fields.skip(...SYSTEM_METADATA, 'generateName', 'clusterName');
  const name = fields.text('name');
  const written = fields.text('namespace');
  const annotations = fields.raw('annotations');
  const labels = fields.raw('labels');
  remarkOnOwner(fields);
  const namespace = written ?? context.namespace;
  if (written === undefined && !context.isNamespaceGiven)
    fields.log.note(
      ['metadata', 'namespace'],
      `is missing; ${namespace} is used; -n selects another namespace`,
    );
  const label = name === undefined ? '' : `${namespace}/${name}`;
  const isValid =
    isName(name, objectName, fields, 'name') && isName(namespace, labelName, fields, 'namespace');
  const metadata = {
    name,
    namespace,
    ...textMap('labels', labels, fields),
    ...textMap('annotations', annotations, fields),
  };
  fields.rest();
  return {
    label,
    metadata: isValid ? metadata : null,
    annotations: isPlainObject(annotations) ? annotations : {},
  };
}

function isName(value: string | undefined, type: typeof objectName, { log }: Fields, field: string): boolean {
  const path: Path = ['metadata', field];
  if (value === undefined) log.lose(path, 'is missing: a scaler document needs a name');
  else if (!type.safeParse(value).success)
    log.lose(path, `is ${formatValue(value)}, which is not a valid name`);
  else return true;
  return false;
}

/** Limits a key: a prefix has at most 253 characters, and a name 63. A key in YAML may have 1,024. */
const LONGEST_KEY = 317;

function textMap(key: string, value: unknown, { log }: Fields): PlainObject {
  if (value === undefined) return {};
  if (!isPlainObject(value)) {
    log.lose(['metadata', key], `is ${formatValue(value)}, must be an object; the field is not carried over`);
    return {};
  }
  const entries = Object.entries(value).filter(([name, text]) => {
    if (TOOL_KEYS.some((pattern) => pattern.test(name))) return false;
    if (typeof text === 'string' && name.length <= LONGEST_KEY) return true;
    if (name.length > LONGEST_KEY) {
      log.lose(['metadata', key], `has a key of ${name.length} characters; this key is not carried over`);
      return false;
    }
    log.lose(
      ['metadata', key, name],
      `is ${formatValue(text)}, must be a string; the value is not carried over`,
    );
    return false;
  });
  return entries.length === 0 ? {} : { [key]: Object.fromEntries(entries) };
}

/** Adds a remark if the object has a controller, which would create the object again after a deletion. */
function remarkOnOwner(fields: Fields): void {
  const owners = fields.raw('ownerReferences');
  const list: readonly unknown[] = Array.isArray(owners) ? owners : [];
  const owner = list.find((one) => isPlainObject(one) && one['controller'] === true);
  if (!isPlainObject(owner)) return;
  const name = `${String(owner['kind'])} ${String(owner['name'])}`;
  const message = `${name} controls this object and recreates it after a deletion: disable autoscaling in ${name}`;
  fields.log.lose([...fields.path, 'ownerReferences'], message);
}
