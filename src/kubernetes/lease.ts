import type { Instant } from '../units/time.js';
import { countIn, objectIn, textIn, type JsonObject } from './json.js';
import type { KubernetesRequest, Transport } from './requests/transport.js';
import { KubernetesError } from './types.js';

/** The part of a Lease's spec that an election lives by. */
export interface LeaseSpec {
  /** Empty: nobody holds it. */
  readonly holderIdentity: string;
  /** Null where the record has none. */
  readonly leaseDurationSeconds: number | null;
  /** A MicroTime as written; null where the record has none. */
  readonly acquireTime: string | null;
  readonly renewTime: string | null;
  /** 0 where the record has none. */
  readonly leaseTransitions: number;
}

/** A Lease as the server sent it. */
export interface SeenLease {
  readonly spec: LeaseSpec;
  /** The whole spec as text: whether it has changed tells whether its holder lives. */
  readonly rawSpec: string;
  /** All of it: labels, annotations and fields of the spec that we don't know survive an update. */
  readonly object: JsonObject;
}

/** One Lease. Everything throws `KubernetesError` and is sent once; nothing is repeated. */
export interface LeaseClient {
  /** `NAMESPACE/NAME`, for messages. */
  readonly name: string;
  /** A live GET; null where there is no such Lease. */
  readonly read: (signal: AbortSignal) => Promise<SeenLease | null>;
  /** `conflict` where somebody else was quicker. */
  readonly create: (spec: LeaseSpec, signal: AbortSignal) => Promise<SeenLease>;
  /** A PUT with the uid and resourceVersion of what was seen: `conflict` where it has changed since. */
  readonly update: (seen: SeenLease, spec: LeaseSpec, signal: AbortSignal) => Promise<SeenLease>;
}

export interface LeaseClientOptions {
  readonly transport: Transport;
  readonly namespace: string;
  readonly name: string;
  /** Of each request, connection to last byte. */
  readonly deadlineMs: number;
}

/** The client of one Lease of coordination.k8s.io/v1; it asks when it is told to. */
export function createLeaseClient(options: LeaseClientOptions): LeaseClient {
  const { transport, namespace, name, deadlineMs } = options;
  const folder = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const place = `${folder}/${encodeURIComponent(name)}`;
  const what = `Lease ${namespace}/${name}`;
  const ask = async (
    request: Pick<KubernetesRequest, 'method' | 'path' | 'verb' | 'doing' | 'body'>,
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
    read: async (signal) => {
      try {
        return await ask({ method: 'GET', path: place, verb: 'get', doing: `reading ${what}` }, signal);
      } catch (error) {
        if (error instanceof KubernetesError && error.kind === 'not_found') return null;
        throw error;
      }
    },
    create: (spec, signal) => {
      const body = { ...HEAD, metadata: { name, namespace }, spec: withoutNulls(spec) };
      return ask({ method: 'POST', path: folder, verb: 'create', doing: `creating ${what}`, body }, signal);
    },
    update: (seen, spec, signal) => {
      const body = updateBody(seen, spec);
      return ask({ method: 'PUT', path: place, verb: 'update', doing: `updating ${what}`, body }, signal);
    },
  };
}

const HEAD = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as const;

/** The instant as a MicroTime: always six digits, `2026-01-01T00:00:00.250000Z`. */
export function microTime(instant: Instant): string {
  return new Date(instant).toISOString().replace('Z', '000Z');
}

function updateBody({ object }: SeenLease, spec: LeaseSpec): JsonObject {
  const metadata = { ...objectIn(object, 'metadata') };
  // Who wrote what is the server's own business, and the longest part of the object.
  delete metadata['managedFields'];
  return { ...HEAD, metadata, spec: { ...objectIn(object, 'spec'), ...withoutNulls(spec) } };
}

function withoutNulls(spec: LeaseSpec): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null));
}

/** A Lease without uid or resourceVersion could not be updated safely: that is no answer. */
function readLease(answer: JsonObject, doing: string): SeenLease {
  const metadata = objectIn(answer, 'metadata');
  const isWhole = [textIn(metadata, 'uid'), textIn(metadata, 'resourceVersion')].every((text) => text);
  if (textIn(answer, 'kind') !== 'Lease' || !isWhole)
    throw new KubernetesError('bad_answer', `${doing}: the answer is no Lease`);
  const raw = objectIn(answer, 'spec');
  const spec = {
    holderIdentity: textIn(raw, 'holderIdentity') ?? '',
    leaseDurationSeconds: countIn(raw, 'leaseDurationSeconds'),
    acquireTime: textIn(raw, 'acquireTime'),
    renewTime: textIn(raw, 'renewTime'),
    leaseTransitions: countIn(raw, 'leaseTransitions') ?? 0,
  };
  return { spec, rawSpec: JSON.stringify(raw ?? {}), object: answer };
}
