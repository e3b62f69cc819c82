import type { Catalog, Resource } from '../../objects/resources.js';
import { type Writer, managerOf } from '../../objects/managed-fields.js';
import { invalidOption, notAcceptable } from '../../objects/status-error.js';
import { forbidden, required, unsupported } from '../../validation/objects.js';
import type { CelEvaluator } from '../../validation/cel-rules.js';
import type { ClusterState } from '../../objects/store.js';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export interface ResourceRequest {
  readonly verb: Verb;
  readonly resource: Resource;
  /** For example `scale` or `status`; empty: there is no subresource. */
  readonly subresource: string;
  /** The namespace of the request; null: it is for all namespaces, or for a cluster-scoped object. */
  readonly namespace: string | null;
  /** The name of the object; null: the request is for a list. */
  readonly name: string | null;
  readonly query: URLSearchParams;
}

/** Parses a request; null: no resource is served at the path. */
export function parseRequest(catalog: Catalog, method: string, address: URL): ResourceRequest | null {
  const path = decodePath(address.pathname);
  if (path === null) return null;
  const [root, ...parts] = path;
  const group = root === 'api' ? '' : root === 'apis' ? parts.shift() : undefined;
  const version = parts.shift();
  if (group === undefined || version === undefined) return null;
  const { namespace, rest } = splitNamespace(group, parts);
  const [plural, name = null, subresource = '', ...more] = rest;
  if (plural === undefined || more.length > 0) return null;
  const resource = catalog.byPath(group, version, plural);
  if (resource === null || (!resource.namespaced && namespace !== null)) return null;
  if (resource.namespaced && namespace === null && name !== null) return null;
  const verb = verbOf(method, name, address.searchParams);
  return verb === null ? null : { verb, resource, subresource, namespace, name, query: address.searchParams };
}

function decodePath(pathname: string): string[] | null {
  try {
    return pathname
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    return null;
  }
}

/**
 * Splits the namespace from a path. In `namespaces/NAME`, also with `/status` or `/finalize`, the namespace is the
 * object of the request and is not split off.
 */
function splitNamespace(
  group: string,
  parts: readonly string[],
): { readonly namespace: string | null; readonly rest: readonly string[] } {
  const [first, namespace, within] = parts;
  const isItself = group === '' && (within === undefined || within === 'status' || within === 'finalize');
  if (first !== 'namespaces' || namespace === undefined || isItself) return { namespace: null, rest: parts };
  return { namespace, rest: parts.slice(2) };
}

function verbOf(method: string, name: string | null, query: URLSearchParams): Verb | null {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (isTrue(query.get('watch'))) return 'watch';
      return name === null ? 'list' : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === null ? 'deletecollection' : 'delete';
    default:
      return null;
  }
}

export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value !== 'false';
}

const KINDS: Readonly<Record<string, string>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
};

/**
 * Reads the field manager and the options of a write, such as `dryRun`, from its query parameters. Throws 422 if a
 * parameter is invalid.
 */
export function readWriter(
  { query, subresource, verb }: ResourceRequest,
  sent: { readonly userAgent: string; readonly contentType: string },
  nowMs: number,
): Writer {
  const kind = KINDS[verb] ?? 'CreateOptions';
  const isApply = verb === 'patch' && sent.contentType.includes('apply-patch');
  const validation = query.get('fieldValidation') || 'Warn';
  if (!['Ignore', 'Warn', 'Strict'].includes(validation))
    throw invalidOption(kind, unsupported('fieldValidation', validation, ['Ignore', 'Strict', 'Warn']));
  const dryRun = query.get('dryRun') || null;
  if (dryRun !== null && dryRun !== 'All') throw invalidOption(kind, unsupported('dryRun', dryRun, ['All']));
  if (isApply && !query.get('fieldManager'))
    throw invalidOption(kind, required('fieldManager', 'is required for apply patch'));
  if (!isApply && verb === 'patch' && query.has('force'))
    throw invalidOption(kind, forbidden('force', 'may not be specified for non-apply patch'));
  return {
    manager: managerOf(query, sent.userAgent),
    subresource,
    nowMs,
    isStrict: validation === 'Strict',
    ...(validation === 'Warn' ? { warnings: [] } : {}),
    isDryRun: dryRun === 'All',
    isForced: query.get('force') === 'true',
  };
}

export type Form = 'object' | 'table' | 'metadata';

/** Returns the first supported form in an `Accept` header. All forms are JSON. Throws 406 if there is none. */
export function negotiate(accept: string): Form {
  if (accept.trim() === '') return 'object';
  for (const clause of accept.split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice('as='.length);
    if (as === undefined) return 'object';
    if (as === 'Table') return 'table';
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return 'metadata';
  }
  throw notAcceptable();
}

export interface ApiContext extends ClusterState {
  /** The address in the answer to `GET /api`; null: the host of the request. */
  readonly advertisedAddress: string | null;
  /** Evaluates CEL rules; null: the optional library is not installed. */
  readonly cel: CelEvaluator | null;
  readonly tokens: Map<string, string>;
}
