import type { Instant } from '../units/time.js';
import { countIn, objectIn, textIn, type JsonObject } from './api/json.js';
import type { KubernetesRequest, Transport } from './requests/transport.js';
import { KubernetesError, nullIfNotFound } from './api/types.js';

export interface LeaseSpec {
  /** The holder; empty: the Lease is released. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number | null;
  /** A MicroTime as it was stored; null: unset. */
  readonly acquireTime: string | null;
  readonly renewTime: string | null;
  /** From 0 to `MAX_TRANSITIONS`. Any other value in the Lease is read as 0. */
  readonly leaseTransitions: number;
}

/** The largest int32: the API server rejects an update with a larger number. */
export const MAX_TRANSITIONS = 2 ** 31 - 1;

export interface SeenLease {
  readonly spec: LeaseSpec;
  /** The whole spec as JSON. If it changes, the holder is alive. */
  readonly rawSpec: string;
  /** The whole object, so that an update keeps labels, annotations and unknown fields. */
  readonly object: JsonObject;
}

/** Reads and writes one Lease. Requests are not retried and throw `KubernetesError`. */
export interface LeaseClient {
  readonly name: string;
  readonly read: (signal: AbortSignal) => Promise<SeenLease | null>;
  /** Throws `conflict` if the Lease already exists. `annotations`: none by default. */
  readonly create: (
    spec: LeaseSpec,
    signal: AbortSignal,
    annotations?: Readonly<Record<string, string>>,
  ) => Promise<SeenLease>;
  /** Throws `conflict` if the Lease has changed since `seen`. */
  readonly update: (seen: SeenLease, spec: LeaseSpec, signal: AbortSignal) => Promise<SeenLease>;
}

export interface LeaseClientOptions {
  readonly transport: Transport;
  readonly namespace: string;
  readonly name: string;
  readonly deadlineMs: number;
}

export function leasesPath(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
}

export function createLeaseClient(options: LeaseClientOptions): LeaseClient {
  const { transport, namespace, name, deadlineMs } = options;
  const collection = leasesPath(namespace);
  const path = `${collection}/${encodeURIComponent(name)}`;
  const what = `Lease ${namespace}/${name}`;
  const send = async (
    request: Pick<KubernetesRequest, 'path' | 'verb' | 'doing' | 'body'>,
    signal: AbortSignal,
  ): Promise<SeenLease> => {
    const answer = await transport.request({
      ...request,
      lane: 'lease',
      resource: 'leases',
      deadlineMs,
      signal,
    });
    return readLease(answer, request.doing);
  };
  return {
    name: `${namespace}/${name}`,
    read: (signal) => nullIfNotFound(() => send({ path, verb: 'get', doing: `reading ${what}` }, signal)),
    create: (spec, signal, annotations = {}) => {
      const metadata = { name, namespace, annotations };
      const body = { ...LEASE_HEAD, metadata, spec: withoutNulls(spec) };
      return send({ path: collection, verb: 'create', doing: `creating ${what}`, body }, signal);
    },
    update: ({ object }, spec, signal) => {
      const written = { ...objectIn(object, 'spec'), ...withoutNulls(spec) };
      const body = { ...LEASE_HEAD, metadata: sentMetadata(object), spec: written };
      return send({ path, verb: 'update', doing: `updating ${what}`, body }, signal);
    },
  };
}

export const LEASE_HEAD = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as const;

/** Returns a MicroTime, which has six fractional digits: `2026-01-01T00:00:00.250000Z`. */
export function microTime(instant: Instant): string {
  return new Date(instant).toISOString().replace('Z', '000Z');
}

/** Returns the metadata without managedFields, which only the server maintains, and which are the longest part. */
export function sentMetadata(object: JsonObject): JsonObject {
  const metadata = { ...objectIn(object, 'metadata') };
  delete metadata['managedFields'];
  return metadata;
}

export function withoutNulls(spec: LeaseSpec): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null));
}

/** Throws `KubernetesError` for a Lease without uid or resourceVersion, because it could not be updated safely. */
export function readLease(answer: JsonObject, doing: string): SeenLease {
  const metadata = objectIn(answer, 'metadata');
  const isWhole = [textIn(metadata, 'uid'), textIn(metadata, 'resourceVersion')].every((text) => text);
  if (textIn(answer, 'kind') !== 'Lease' || !isWhole)
    throw new KubernetesError('bad_answer', `${doing}: the response is not a Lease`);
  const raw = objectIn(answer, 'spec');
  const transitions = countIn(raw, 'leaseTransitions') ?? 0;
  const spec = {
    holderIdentity: textIn(raw, 'holderIdentity') ?? '',
    leaseDurationSeconds: countIn(raw, 'leaseDurationSeconds'),
    acquireTime: textIn(raw, 'acquireTime'),
    renewTime: textIn(raw, 'renewTime'),
    leaseTransitions: transitions <= MAX_TRANSITIONS ? transitions : 0,
  };
  return { spec, rawSpec: JSON.stringify(raw ?? {}), object: answer };
}
