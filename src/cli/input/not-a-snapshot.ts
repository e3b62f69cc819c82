import { isPlainObject, valueAt } from '../../scaler/plain-json.js';
import { readYaml } from '../../scaler/yaml/read-yaml.js';

const WHAT_A_SNAPSHOT_IS =
  'A snapshot is the JSON input of one decision (scaler, now, target, pods, samples, state). Get one from /api/v1/scalers/NAMESPACE/NAME/snapshot of a running service';

export const EMPTY_SNAPSHOT =
  'the input is empty, must be a snapshot as JSON. Get one from /api/v1/scalers/NAMESPACE/NAME/snapshot of a running service';

const FIELDS = ['scaler', 'now', 'target', 'pods', 'samples', 'state'];

/**
 * Describes a JSON value that is not a snapshot. Returns null if it has a field of a snapshot, because an error about
 * that field is more precise.
 */
export function whyNoSnapshot(name: string, json: unknown): string | null {
  if (!isPlainObject(json)) return null;
  if (Object.keys(json).length === 0)
    return `${called(name)} is not a snapshot: the object is empty. ${WHAT_A_SNAPSHOT_IS}`;
  if (isPlainObject(json['snapshot']) && 'decision' in json)
    return `${called(name)} is not a snapshot, but the output of explain -o json. Extract its field "snapshot" (jq .snapshot)`;
  if (FIELDS.some((field) => Object.hasOwn(json, field))) return null;
  const kind = json['kind'];
  if (typeof kind === 'string')
    return `${called(name)} is ${describeKind(kind)}, not a snapshot. ${advice(kind, name)}`;
  if ('desiredReplicas' in json)
    return `${called(name)} is a decision, not a snapshot. ${WHAT_A_SNAPSHOT_IS}`;
  return null;
}

/** Returns the message for input that is not JSON: the kind of the YAML document, otherwise the error of the parser. */
export function notJson(name: string, text: string, error: string): string {
  // Documents are small: a large input that is not JSON is a truncated snapshot.
  const kind = text.length > LARGEST_DOCUMENT ? null : valueAt(readYaml(text, name)[0]?.value, ['kind']);
  const why = typeof kind === 'string' ? whyNoSnapshot(name, { kind }) : null;
  return why ?? `${called(name)} is not a snapshot: not JSON: ${error}`;
}

const LARGEST_DOCUMENT = 65_536;

function describeKind(kind: string): string {
  return kind === 'Scaler' ? 'a scaler document' : `a ${kind}`;
}

function advice(kind: string, name: string): string {
  const next = kind === 'Scaler' ? `promscaler show ${name} prints it with every default. ` : '';
  return `${next}${WHAT_A_SNAPSHOT_IS}`;
}

function called(name: string): string {
  return name === '-' ? 'standard input' : name;
}
