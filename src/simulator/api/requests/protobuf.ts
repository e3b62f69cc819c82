import { type Json, type JsonObject, isList, isObject } from '../../json/json.js';
import { MESSAGES, type Message, type Wire } from './protobuf-messages.js';
import { badRequest, unsupportedMediaType } from '../../objects/status-error.js';

const MAGIC = 'k8s\0';
/** The fields of `ResourceAttributes` by number; source: k8s.io/api authorization/v1/generated.proto. */
const ATTRIBUTES = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'];

/** Decodes a SelfSubjectAccessReview, which `kubectl auth can-i` sends as protobuf. Throws 400 if it is invalid. */
export function decodeReview(bytes: Buffer): JsonObject {
  const attributes = textsOf(lastOf(lastOf(messageOf(bytes, 2), 2), 1));
  const named = ATTRIBUTES.map((name, index) => [name, attributes.get(index + 1) ?? ''] as const);
  return { spec: { resourceAttributes: Object.fromEntries(named) } };
}

/** Decodes a SelfSubjectRulesReview (`kubectl auth can-i --list`). Throws 400 if it is invalid. */
export function decodeRulesReview(bytes: Buffer): JsonObject {
  return { spec: { namespace: lastOf(lastOf(messageOf(bytes, 2), 2), 1).toString() } };
}

/**
 * Decodes a manifest, as `kubectl create` sends it. Throws 415 for an unsupported kind or field, 400 for invalid
 * protobuf.
 */
export function decodeManifest(bytes: Buffer): JsonObject {
  const names = textsOf(messageOf(bytes, 1));
  const [apiVersion = '', kind = ''] = [names.get(1), names.get(2)];
  const message = MESSAGES.get(`${apiVersion}/${kind}`);
  if (message === undefined) throw unsupportedMediaType(['application/json', 'application/yaml']);
  return { ...readMessage(message, messageOf(bytes, 2)), apiVersion, kind };
}

/** Returns part 1 (the type) or 2 (the object) of the envelope. */
function messageOf(bytes: Buffer, part: 1 | 2): Buffer {
  if (bytes.subarray(0, 4).toString('latin1') !== MAGIC)
    throw badRequest('the body is no Kubernetes protobuf');
  return lastOf(bytes.subarray(4), part);
}

function textsOf(message: Buffer): ReadonlyMap<number, string> {
  return new Map(
    fieldsOf(message).map(({ number, value }) => [number, Buffer.isBuffer(value) ? value.toString() : '']),
  );
}

function readMessage(message: Message, bytes: Buffer): JsonObject {
  const result: Record<string, Json> = {};
  for (const { number, value } of fieldsOf(bytes)) {
    const field = message[number];
    if (field === undefined) {
      // Go encodes unset fields as empty values.
      if (isEmptyMessage(value)) continue;
      throw unsupportedMediaType(['application/json', 'application/yaml']);
    }
    const [name, wire] = field;
    if (wire === 'skip') continue;
    result[name] = readField(wire, value, result[name]);
  }
  return result;
}

function isEmptyMessage(value: Buffer | bigint): boolean {
  if (!Buffer.isBuffer(value)) return value === 0n;
  if (value.length === 0) return true;
  try {
    return fieldsOf(value).every((field) => isEmptyMessage(field.value));
  } catch {
    return false;
  }
}

function readField(wire: Wire, value: Buffer | bigint, before: Json | undefined): Json {
  if (typeof wire === 'string') return readScalar(wire, value);
  const bytes = Buffer.isBuffer(value) ? value : Buffer.alloc(0);
  if ('list' in wire) return [...(isList(before) ? before : []), readField(wire.list, value, undefined)];
  if ('message' in wire) return unwrapped(readMessage(wire.message, bytes));
  const entry = new Map(fieldsOf(bytes).map((field) => [field.number, field.value]));
  const key = entry.get(1);
  const name = Buffer.isBuffer(key) ? key.toString() : '';
  const member = readField(wire.map, entry.get(2) ?? Buffer.alloc(0), undefined);
  return { ...(isObject(before) ? before : {}), [name]: member };
}

/** A message with a single unnamed field is encoded as the value of that field. */
function unwrapped(message: JsonObject): Json {
  return message[''] ?? message;
}

function readScalar(wire: 'string' | 'bytes' | 'int' | 'bool' | 'skip', value: Buffer | bigint): Json {
  if (Buffer.isBuffer(value)) return value.toString(wire === 'bytes' ? 'base64' : 'utf8');
  return wire === 'bool' ? value !== 0n : Number(BigInt.asIntN(64, value));
}

interface WireField {
  readonly number: number;
  readonly value: Buffer | bigint;
}

function fieldsOf(message: Buffer): readonly WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    const value = readVarint(message, tag.next);
    const number = Number(tag.value >> 3n);
    const kind = tag.value % 8n;
    if (kind !== 2n && kind !== 0n) throw badRequest('the body holds a field of an unknown wire type');
    const end = kind === 2n ? value.next + Number(value.value) : value.next;
    if (end > message.length) throw badRequest('the body ends within a field');
    fields.push({ number, value: kind === 2n ? message.subarray(value.next, end) : value.value });
    at = end;
  }
  return fields;
}

/** Returns the bytes of the last length-delimited field with this number; empty if absent. */
function lastOf(message: Buffer, wanted: number): Buffer {
  const found = fieldsOf(message).findLast(({ number }) => number === wanted)?.value;
  return Buffer.isBuffer(found) ? found : Buffer.alloc(0);
}

function readVarint(message: Buffer, start: number): { readonly value: bigint; readonly next: number } {
  let value = 0n;
  for (let at = start, shift = 0n; at < message.length && shift < 70n; at += 1, shift += 7n) {
    const byte = message[at] ?? 0;
    value |= BigInt(byte % 128) << shift;
    if (byte < 128) return { value, next: at + 1 };
  }
  throw badRequest('the body ends within a number');
}
