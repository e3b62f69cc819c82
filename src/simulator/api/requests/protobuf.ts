import { type Json, type JsonObject, isList, isObject } from '../../kinds/json.js';
import { badRequest, unsupportedMediaType } from '../../objects/status-error.js';

/** Type of a field. `skip`: the field is not decoded, because no client sets it. */
type Wire =
  | 'string'
  | 'bytes'
  | 'int'
  | 'bool'
  | 'skip'
  | { readonly message: Message }
  | { readonly list: Wire }
  | { readonly map: Wire };

/** Maps the number of a field to its name in JSON and its type. */
type Message = Readonly<Record<number, readonly [name: string, wire: Wire]>>;

const STRINGS: Wire = { map: 'string' };

const META: Message = {
  1: ['name', 'string'],
  2: ['generateName', 'string'],
  3: ['namespace', 'string'],
  8: ['creationTimestamp', 'skip'],
  11: ['labels', STRINGS],
  12: ['annotations', STRINGS],
};

const QUANTITY: Wire = { message: { 1: ['', 'string'] } };

function object(fields: Message): Message {
  return { 1: ['metadata', { message: META }], ...fields };
}

function specified(spec: Message): Message {
  return object({ 2: ['spec', { message: spec }], 3: ['status', 'skip'] });
}

const PORT: Message = {
  1: ['name', 'string'],
  2: ['hostPort', 'int'],
  3: ['containerPort', 'int'],
  4: ['protocol', 'string'],
  5: ['hostIP', 'string'],
};

const CONTAINER: Message = {
  1: ['name', 'string'],
  2: ['image', 'string'],
  3: ['command', { list: 'string' }],
  4: ['args', { list: 'string' }],
  5: ['workingDir', 'string'],
  6: ['ports', { list: { message: PORT } }],
  7: ['env', { list: { message: { 1: ['name', 'string'], 2: ['value', 'string'] } } }],
  8: ['resources', { message: { 1: ['limits', { map: QUANTITY }], 2: ['requests', { map: QUANTITY }] } }],
  14: ['imagePullPolicy', 'string'],
};

const POD: Message = {
  2: ['containers', { list: { message: CONTAINER } }],
  3: ['restartPolicy', 'string'],
  4: ['terminationGracePeriodSeconds', 'int'],
  6: ['dnsPolicy', 'string'],
  7: ['nodeSelector', STRINGS],
  8: ['serviceAccountName', 'string'],
};

const DEPLOYMENT: Message = {
  1: ['replicas', 'int'],
  2: ['selector', { message: { 1: ['matchLabels', STRINGS] } }],
  3: ['template', { message: object({ 2: ['spec', { message: POD }] }) }],
  4: ['strategy', { message: { 1: ['type', 'string'] } }],
  5: ['minReadySeconds', 'int'],
  6: ['revisionHistoryLimit', 'int'],
  7: ['paused', 'bool'],
};

const REFERENCE: Wire = {
  message: { 1: ['kind', 'string'], 2: ['name', 'string'], 3: ['apiVersion', 'string'] },
};
const BOUNDS: Message = {
  1: ['scaleTargetRef', REFERENCE],
  2: ['minReplicas', 'int'],
  3: ['maxReplicas', 'int'],
};
const AMOUNT: Message = {
  1: ['type', 'string'],
  2: ['value', QUANTITY],
  3: ['averageValue', QUANTITY],
  4: ['averageUtilization', 'int'],
};
const METRIC: Message = {
  1: ['type', 'string'],
  4: ['resource', { message: { 1: ['name', 'string'], 2: ['target', { message: AMOUNT }] } }],
};

/**
 * Maps apiVersion and kind to the fields that are decoded. Only the kinds and fields are included that
 * `kubectl create`, `autoscale` and `create token` send as protobuf. Source: generated.proto of k8s.io/api and
 * k8s.io/apimachinery.
 */
const MESSAGES: ReadonlyMap<string, Message> = new Map<string, Message>([
  ['v1/Namespace', object({ 2: ['spec', 'skip'], 3: ['status', 'skip'] })],
  [
    'v1/ConfigMap',
    object({ 2: ['data', STRINGS], 3: ['binaryData', { map: 'bytes' }], 4: ['immutable', 'bool'] }),
  ],
  ['v1/Secret', object({ 2: ['data', { map: 'bytes' }], 3: ['type', 'string'], 4: ['stringData', STRINGS] })],
  ['v1/ServiceAccount', object({})],
  [
    'authentication.k8s.io/v1/TokenRequest',
    specified({ 1: ['audiences', { list: 'string' }], 4: ['expirationSeconds', 'int'] }),
  ],
  ['apps/v1/Deployment', specified(DEPLOYMENT)],
  [
    'autoscaling/v1/HorizontalPodAutoscaler',
    specified({ ...BOUNDS, 4: ['targetCPUUtilizationPercentage', 'int'] }),
  ],
  [
    'autoscaling/v2/HorizontalPodAutoscaler',
    specified({ ...BOUNDS, 4: ['metrics', { list: { message: METRIC } }] }),
  ],
]);

const MAGIC = 'k8s\0';
/** The fields of `ResourceAttributes` by number. Source: k8s.io/api authorization/v1/generated.proto. */
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

/** Decodes a manifest of `kubectl create`. Throws 415 for an unsupported kind or field, 400 for invalid protobuf. */
export function decodeManifest(bytes: Buffer): JsonObject {
  const names = textsOf(messageOf(bytes, 1));
  const [apiVersion = '', kind = ''] = [names.get(1), names.get(2)];
  const message = MESSAGES.get(`${apiVersion}/${kind}`);
  if (message === undefined) throw unsupportedMediaType(['application/json', 'application/yaml']);
  return { ...readMessage(message, messageOf(bytes, 2)), apiVersion, kind };
}

/** Returns a part of the envelope: 1 is the type (apiVersion and kind), 2 the object. Throws 400 for another format. */
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
      // An unknown field with an empty value is ignored, because Go encodes unset fields as empty values.
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

/**
 * Returns the value of the field with an empty name, which is the only field of its message (such as a quantity);
 * otherwise the message itself.
 */
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

/** Returns the bytes of the last length-delimited field with this number; empty: there is none. */
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
