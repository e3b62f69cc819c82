import { isPlainObject, valueAt } from '../../scaler/plain-json.js';
import { readYaml } from '../../scaler/yaml/read-yaml.js';

/** What a snapshot is and where one comes from: the end of every message about an input that is none. */
export const WHAT_A_SNAPSHOT_IS =
  'A snapshot is the JSON that one decision is made on (scaler, now, target, pods, samples, state): get one from /api/v1/scalers/NAMESPACE/NAME/snapshot of a running service';

const FIELDS = ['scaler', 'now', 'target', 'pods', 'samples', 'state'];

/**
 * What a JSON value is instead of a snapshot, as a sentence of its own; null where it has a field of one, so that a
 * message about its fields says more.
 */
export function whyNoSnapshot(name: string, json: unknown): string | null {
  if (!isPlainObject(json)) return null;
  if (Object.keys(json).length === 0)
    return `${called(name)} is not a snapshot: the object is empty. ${WHAT_A_SNAPSHOT_IS}`;
  if (isPlainObject(json['snapshot']) && 'decision' in json)
    return `${called(name)} is not a snapshot, but the output of explain -o json: its field "snapshot" is one (jq .snapshot)`;
  if (FIELDS.some((field) => Object.hasOwn(json, field))) return null;
  const kind = json['kind'];
  if (typeof kind === 'string')
    return `${called(name)} is ${describeKind(kind)}, not a snapshot. ${advice(kind, name)}`;
  if ('desiredReplicas' in json)
    return `${called(name)} is a decision, not a snapshot. ${WHAT_A_SNAPSHOT_IS}`;
  return null;
}

/** The message for a text that is no JSON, with what the parser says; a document in YAML is named instead. */
export function notJson(name: string, text: string, error: string): string {
  // A document is small; a large text that is no JSON is a snapshot that was cut off.
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
