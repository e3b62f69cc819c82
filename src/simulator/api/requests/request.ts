import type { Catalog, Resource } from '../../objects/resources.js';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export interface ResourceRequest {
  readonly verb: Verb;
  readonly resource: Resource;
  /** `scale`, `status` or another subresource; empty: none. */
  readonly subresource: string;
  /** Null for all namespaces or a cluster-scoped object. */
  readonly namespace: string | null;
  /** Null for a collection. */
  readonly name: string | null;
  readonly query: URLSearchParams;
}

/** Parses a request. Returns null if no resource is served at the path. */
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

/** The path `namespaces/NAME`, possibly with `status` or `finalize`, addresses the namespace itself. */
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
