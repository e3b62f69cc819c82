import { answerRequest, openWatch } from '../../../src/simulator/api/answer.js';
import { createObject } from '../../../src/simulator/api/writes/create.js';
import type { ApiParts, ApiRequest } from '../../../src/simulator/api/exchange.js';
import { FaultPlan } from '../../../src/simulator/api/requests/faults.js';
import {
  parseRequest,
  type ResourceRequest,
  type ApiContext,
} from '../../../src/simulator/api/requests/request.js';
import { type WatchPeer, Watches } from '../../../src/simulator/api/reads/watch.js';
import { type JsonObject, numberAt, objectAt, stringAt } from '../../../src/simulator/kinds/json.js';
import type { KubeObject } from '../../../src/simulator/objects/kube-object.js';
import { Catalog } from '../../../src/simulator/objects/resources.js';
import { Store } from '../../../src/simulator/objects/store.js';
import { instantFromMs } from '../../../src/units/time.js';
import type { ApiRecord } from './log.js';
import { SIMULATION_START_MS } from './process.js';
import type { Random } from './random.js';
import { NAMESPACE, OWN_NAMESPACE } from './scenario.js';
import { TENANT } from './tenant.js';
import type { Timeline } from './timeline.js';

/** An answer of the API server as text. */
export interface WireAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
}

/** The resources that the simulation writes itself, as the store names them. */
export const DEPLOYMENTS = 'apps/deployments';
export const PODS = '/pods';
export const HPAS = 'autoscaling/horizontalpodautoscalers';

type Address = Pick<ApiRequest, 'address' | 'parsed'>;

const BOOKMARK_SECONDS = 60;
const MOST_ADDRESSES = 5000;

/** The API server of the simulator, called without sockets, on the clock of the simulation. */
export class Cluster {
  readonly store: Store;
  readonly #parts: Pick<ApiParts, 'context' | 'rbac' | 'watches'>;
  readonly #addresses = new Map<string, Address>();

  constructor({ timeline, random }: { readonly timeline: Timeline; readonly random: Random }) {
    const clock: ApiContext['clock'] = {
      now: () => instantFromMs(SIMULATION_START_MS + Math.floor(timeline.nowMs)),
      monotonicMs: () => timeline.nowMs,
      random: random.next,
      after: (ms, callback) => timeline.after(ms, callback),
    };
    this.store = new Store(clock);
    const context: ApiContext = {
      clock,
      random: random.next,
      catalog: new Catalog(),
      store: this.store,
      advertisedAddress: null,
      cel: null,
      tokens: new Map(),
    };
    const watches = new Watches(context, new FaultPlan(), BOOKMARK_SECONDS);
    this.#parts = { context, rbac: () => ({}), watches };
    for (const name of [NAMESPACE, OWN_NAMESPACE, TENANT])
      this.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }

  /** Draws uids from the same stream as the API server. */
  get random(): () => number {
    return this.#parts.context.random;
  }

  /** Creates an object with its status. */
  create(manifest: JsonObject, { ageMs = 0 }: { readonly ageMs?: number } = {}): KubeObject {
    const { context } = this.#parts;
    const kind = stringAt(manifest, 'kind') ?? '';
    const resource = context.catalog.byKind(stringAt(manifest, 'apiVersion') ?? '', kind);
    if (resource === null) throw new Error(`${kind} is not served`);
    const writer = { manager: 'simulation', subresource: '', nowMs: context.clock.now() - ageMs };
    const namespace = stringAt(manifest, 'metadata', 'namespace');
    return createObject(context, { resource, namespace }, manifest, writer, { keepsStatus: true });
  }

  /** Patches an object as another client does. */
  patch(path: string, body: JsonObject): void {
    const { address, parsed } = this.read({ method: 'PATCH', path, query: {} });
    const sent = sentOf('PATCH', JSON.stringify(body), 'kubectl');
    const { code, body: text } = this.#answer({ method: 'PATCH', address, parsed, sent });
    if (code >= 300) throw new Error(`PATCH ${path}: ${text}`);
  }

  /** Reads the address of a request. */
  read({ method, path, query }: Pick<ApiRecord, 'method' | 'path' | 'query'>): Address {
    const search = Object.keys(query).length === 0 ? '' : new URLSearchParams(query).toString();
    const key = `${method} ${path}?${search}`;
    const known = this.#addresses.get(key);
    if (known !== undefined) return known;
    const address = new URL(`http://cluster${path}?${search}`);
    const read = { address, parsed: parseRequest(this.#parts.context.catalog, method, address) };
    if (this.#addresses.size >= MOST_ADDRESSES) this.#addresses.clear();
    this.#addresses.set(key, read);
    return read;
  }

  /**
   * Answers a request and notes in its record what it wrote. `override`: the replicas that an admission webhook sets
   * instead; null: none.
   */
  answer(record: ApiRecord, override: number | null = null): WireAnswer {
    const { method } = record;
    const { address, parsed } = this.read(record);
    const before = parsed === null ? null : this.#storedAt(parsed, record);
    if (record.subresource === 'scale' && method === 'PATCH') record.live = liveOf(before);
    const body = override === null ? record.body : withReplicas(record.body as JsonObject, override);
    const sent = sentOf(method, body === null ? '' : JSON.stringify(body), 'promscaler');
    const reply = this.#answer({ method, address, parsed, sent });
    if (parsed !== null && method !== 'GET' && reply.code < 300) {
      const after = this.#storedAt(parsed, record);
      if (after !== null) record.written = this.#writtenOf(record, before, after);
    }
    return { status: reply.code, retryAfter: null, body: reply.body };
  }

  /** Opens a watch; the answer that refuses it, or null. */
  watch(record: ApiRecord, peer: WatchPeer): WireAnswer | null {
    const { parsed } = this.read(record);
    if (parsed === null) throw new Error(`no watch is served at ${record.path}`);
    const sent = sentOf('GET', '', 'promscaler');
    const refusal = openWatch(this.#parts, { authorization: undefined, sent }, parsed, peer);
    return refusal === null ? null : { status: refusal.code, retryAfter: null, body: refusal.body };
  }

  #answer(request: Omit<ApiRequest, 'host' | 'authorization'>): ReturnType<typeof answerRequest> {
    return answerRequest(this.#parts, { ...request, host: 'cluster', authorization: undefined });
  }

  #storedAt({ resource, namespace, name }: ResourceRequest, { body }: ApiRecord): KubeObject | null {
    const named = name ?? stringAt(body as JsonObject, 'metadata', 'name');
    return named === null ? null : this.store.get(resource.storage, namespace, named);
  }

  #writtenOf(record: ApiRecord, before: KubeObject | null, after: KubeObject): ApiRecord['written'] {
    const atMs = this.#parts.context.clock.monotonicMs();
    const isScale = record.subresource === 'scale' && before !== null;
    return {
      atMs,
      uid: after.metadata.uid,
      from: isScale ? replicasOf(before) : null,
      to: isScale ? replicasOf(after) : null,
      object: isScale ? null : after,
    };
  }
}

/** `spec.replicas` of a workload. */
export function replicasOf(object: KubeObject): number {
  return numberAt(object, 'spec', 'replicas') ?? 1;
}

function liveOf(object: KubeObject | null): ApiRecord['live'] {
  if (object === null) return null;
  const { uid, resourceVersion } = object.metadata;
  return { uid, replicas: replicasOf(object), resourceVersion };
}

function withReplicas(body: JsonObject, replicas: number): JsonObject {
  return { ...body, spec: { ...objectAt(body, 'spec'), replicas } };
}

function sentOf(method: string, body: string, userAgent: string): ApiRequest['sent'] {
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return { body, contentType, accept: 'application/json', userAgent };
}
