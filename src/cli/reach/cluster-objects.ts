import type { JsonObject } from '../../kubernetes/api/json.js';
import { createTransport, type KubernetesRequest } from '../../kubernetes/requests/transport.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import { CommandError, type CommandIo } from '../output/io.js';
import { ANSWER_DEADLINE_MS, connectToCluster, type ReachOptions } from './find-service.js';
import { VERSION } from '../output/version.js';
import type { ResourceKind } from './source-kinds.js';

/** Reads and writes objects of one namespace with the permissions of the user. Failures are `CommandError`s. */
export interface ClusterObjects {
  /** Null: there is no such object. */
  readonly get: (kind: ResourceKind, name: string) => Promise<JsonObject | null>;
  readonly list: (kind: ResourceKind) => Promise<readonly JsonObject[]>;
  /** Returns false if the object already exists. */
  readonly create: (kind: ResourceKind, object: JsonObject) => Promise<boolean>;
  /** Sends a merge patch, even after a signal: half an adoption would leave the workload without an autoscaler. */
  readonly patch: (kind: ResourceKind, name: string, body: JsonObject) => Promise<void>;
  /** Removes exactly this version. Returns false if the object has another version, and true if it does not exist. */
  readonly remove: (kind: ResourceKind, name: string, version: ObjectVersion) => Promise<boolean>;
  readonly close: () => void;
}

interface ObjectVersion {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The field manager in `managedFields`, which distinguishes the user from the service. */
const FIELD_MANAGER = 'promscaler-adopt';

/** Connects to the cluster. Sends no request yet. */
export async function openObjects(
  namespace: string,
  options: Pick<ReachOptions, 'kubeconfig' | 'context'>,
  io: CommandIo,
): Promise<ClusterObjects> {
  const connection = await connectToCluster(options, io);
  const transport = createTransport({ connection, clock: io.clock, userAgent: `promscaler/${VERSION}` });
  const { signal } = io;
  const send = async (
    kind: ResourceKind,
    request: Pick<KubernetesRequest, 'signal' | 'body'> & {
      readonly verb: keyof typeof DOING;
      readonly name?: string;
    },
  ): Promise<JsonObject> => {
    const { name, ...rest } = request;
    const { path } = resourceScope(kind.root, kind.plural, namespace);
    const isWrite = request.verb === 'create' || request.verb === 'patch';
    return transport.request({
      ...rest,
      lane: request.verb === 'get' ? 'read' : 'write',
      path: name === undefined ? path : `${path}/${encodeURIComponent(name)}`,
      ...(isWrite ? { query: { fieldManager: FIELD_MANAGER } } : {}),
      doing: `${DOING[request.verb]} ${kind.word} ${namespace}${name === undefined ? '' : `/${name}`}`,
      resource: kind.plural,
      deadlineMs: ANSWER_DEADLINE_MS,
    });
  };
  const failure = (error: unknown, kind: ResourceKind, verb: string): unknown =>
    clusterError(error, { verb, plural: kind.plural, namespace }, (message) =>
      kind.ifNotServed !== undefined && NOT_SERVED.test(message)
        ? message.replace(NOT_SERVED, notServed(kind))
        : message,
    );
  return {
    get: async (kind, name) => {
      try {
        return await send(kind, { verb: 'get', name, signal });
      } catch (error) {
        if (isMissing(error, name)) return null;
        throw failure(error, kind, 'get');
      }
    },
    list: async (kind) => {
      try {
        const scope = resourceScope(kind.root, kind.plural, namespace);
        const { items } = await listAll({ transport, scope, convert: (object) => object, signal });
        return items;
      } catch (error) {
        throw failure(error, kind, 'list');
      }
    },
    create: async (kind, body) => {
      try {
        await send(kind, { verb: 'create', body, signal: undefined });
        return true;
      } catch (error) {
        if (error instanceof KubernetesError && error.kind === 'conflict') return false;
        throw failure(error, kind, 'create');
      }
    },
    patch: async (kind, name, body) => {
      try {
        await send(kind, { verb: 'patch', name, body, signal: undefined });
      } catch (error) {
        throw failure(error, kind, 'patch');
      }
    },
    remove: async (kind, name, { uid, resourceVersion }) => {
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid, resourceVersion } };
      try {
        await send(kind, { verb: 'delete', name, body, signal });
        return true;
      } catch (error) {
        if (isMissing(error, name)) return true;
        if (error instanceof KubernetesError && error.kind === 'conflict') return false;
        throw failure(error, kind, 'delete');
      }
    },
    close: transport.close,
  };
}

const DOING = {
  get: 'reading',
  create: 'creating',
  patch: 'patching',
  delete: 'deleting',
} as const;

/**
 * Returns whether the object is missing. The 404 for a missing object contains its name; the 404 for a resource that is
 * not served does not.
 */
function isMissing(error: unknown, name: string): boolean {
  return (
    error instanceof KubernetesError && error.kind === 'not_found' && error.message.includes(`"${name}"`)
  );
}

/** Matches the answer to a request for a resource that the API server does not serve. */
const NOT_SERVED = /404 Not Found: 404 page not found|the server could not find the requested resource/;

function notServed({ plural, root, ifNotServed }: ResourceKind): string {
  return `the API server does not serve ${plural} (${root.replace('/apis/', '')}). ${ifNotServed ?? ''}`;
}

interface NeededPermission {
  readonly verb: string;
  readonly plural: string;
  readonly namespace: string;
}

/**
 * Returns a failure of the API server as a `CommandError`. If the request is forbidden, the message names the
 * permission that the user lacks; for 404, `missing` returns the message. Any other error is returned unchanged.
 */
export function clusterError(
  error: unknown,
  { verb, plural, namespace }: NeededPermission,
  missing: (message: string) => string,
): unknown {
  if (!(error instanceof KubernetesError)) return error;
  if (error.kind === 'forbidden' || error.kind === 'unauthorized')
    return new CommandError(
      `${error.message}. You need permission to ${verb} ${plural} in namespace ${namespace}`,
    );
  return new CommandError(error.kind === 'not_found' ? missing(error.message) : error.message);
}
