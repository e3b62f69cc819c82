import type { JsonObject } from '../json.js';
import { badRequest } from './status-error.js';

/** The first bytes of every protobuf body of Kubernetes. */
const MAGIC = 'k8s\0';
/** The fields of `ResourceAttributes` by number; source: k8s.io/api authorization/v1/generated.proto. */
const ATTRIBUTES = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'];

/**
 * A SelfSubjectAccessReview in protobuf, as `kubectl auth can-i` sends it, in the form of its JSON. Throws 400 where it is
 * none.
 */
export function decodeReview(bytes: Buffer): JsonObject {
  const attributes = fieldOf(fieldOf(messageOf(bytes), 2), 1);
  const decoded: Record<string, string> = {};
  for (const [index, name] of ATTRIBUTES.entries()) decoded[name] = fieldOf(attributes, index + 1).toString();
  return { spec: { resourceAttributes: decoded } };
}

/**
 * The manifest of a Namespace in protobuf, as `kubectl create namespace` sends it: a name and nothing else. Throws 400
 * where it is none. Source: k8s.io/apimachinery meta/v1/generated.proto.
 */
export function decodeNamespace(bytes: Buffer): JsonObject {
  const name = fieldOf(fieldOf(messageOf(bytes), 1), 1).toString();
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

/** What stands in the envelope that every body has. */
function messageOf(bytes: Buffer): Buffer {
  if (bytes.subarray(0, 4).toString('latin1') !== MAGIC)
    throw badRequest('the body is no Kubernetes protobuf');
  return fieldOf(bytes.subarray(4), 2);
}

/** The bytes of the last length-delimited field of this number; none where it is absent. */
function fieldOf(message: Buffer, wanted: number): Buffer {
  let found = message.subarray(0, 0);
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    const value = readVarint(message, tag.next);
    const isDelimited = tag.value % 8 === 2;
    if (!isDelimited && tag.value % 8 !== 0)
      throw badRequest('the body holds a field of an unknown wire type');
    const end = isDelimited ? value.next + value.value : value.next;
    if (isDelimited && Math.floor(tag.value / 8) === wanted) found = message.subarray(value.next, end);
    at = end;
  }
  return found;
}

function readVarint(message: Buffer, start: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let at = start, factor = 1; at < message.length; at += 1, factor *= 128) {
    const byte = message[at] ?? 0;
    value += (byte % 128) * factor;
    if (byte < 128) return { value, next: at + 1 };
  }
  throw badRequest('the body ends within a number');
}
