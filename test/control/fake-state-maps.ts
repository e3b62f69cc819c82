import { type KubernetesRequest, METHODS, type Transport } from '../../src/kubernetes/requests/transport.js';
import type { KubernetesErrorKind } from '../../src/kubernetes/api/types.js';
import { failure } from './fake-cluster.js';

/** What the server does with one request; `apply` is its normal behavior. */
export type RequestScript = (
  apply: () => Readonly<Record<string, unknown>>,
) => Promise<Readonly<Record<string, unknown>>>;

interface Stored {
  resourceVersion: number;
  data: Record<string, string>;
}

/** The ConfigMaps of state behind a `Transport`, with merge-patch and resourceVersion as in the API server. */
export class FakeStateMaps implements Transport {
  readonly maps = new Map<string, Stored>();
  readonly requests: KubernetesRequest[] = [];
  createdAt = '2025-01-01T00:00:00Z';
  /** Thrown by every request of the method, while set. */
  readonly failures = new Map<string, KubernetesErrorKind>();
  /** One for each of the next PATCHes. */
  readonly patchScripts: RequestScript[] = [];
  /** Awaited before each request. */
  before: (request: KubernetesRequest) => Promise<void> = () => Promise.resolve();

  constructor() {
    for (let bucket = 0; bucket < 16; bucket += 1) {
      this.maps.set(`promscaler-state-${String(bucket).padStart(2, '0')}`, { resourceVersion: 1, data: {} });
    }
  }

  /** All entries of all ConfigMaps. */
  get entries(): Readonly<Record<string, string>> {
    return Object.assign({}, ...[...this.maps.values()].map(({ data }) => data)) as Record<string, string>;
  }

  count(method: 'GET' | 'PATCH'): number {
    return this.requests.filter(({ verb }) => METHODS[verb] === method).length;
  }

  /** Writes an entry as another client (null: removes it). */
  edit(name: string, key: string, text: string | null): void {
    const stored = this.#find(name);
    stored.resourceVersion += 1;
    if (text === null) Reflect.deleteProperty(stored.data, key);
    else stored.data[key] = text;
  }

  readonly request = async (request: KubernetesRequest): Promise<Readonly<Record<string, unknown>>> => {
    this.requests.push(request);
    await this.before(request);
    const kind = this.failures.get(METHODS[request.verb]);
    if (kind !== undefined) throw failure(kind);
    const script = request.verb === 'patch' ? this.patchScripts.shift() : undefined;
    return script === undefined ? this.#serve(request) : script(() => this.#serve(request));
  };

  readonly openWatch = (): Promise<never> => Promise.reject(new Error('nothing is watched'));
  readonly close = (): void => undefined;

  #serve({ verb, path, body }: KubernetesRequest): Readonly<Record<string, unknown>> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const stored = this.#find(name);
    if (verb === 'patch') {
      const { metadata, data } = body as unknown as {
        metadata: { resourceVersion: string };
        data: Record<string, string | null>;
      };
      if (metadata.resourceVersion !== String(stored.resourceVersion)) throw failure('conflict');
      for (const [key, text] of Object.entries(data)) {
        if (text === null) Reflect.deleteProperty(stored.data, key);
        else stored.data[key] = text;
      }
      stored.resourceVersion += 1;
    }
    return {
      kind: 'ConfigMap',
      metadata: { name, resourceVersion: String(stored.resourceVersion), creationTimestamp: this.createdAt },
      data: { ...stored.data },
    };
  }

  #find(name: string): Stored {
    const stored = this.maps.get(name);
    if (stored === undefined) throw failure('not_found');
    return stored;
  }
}
