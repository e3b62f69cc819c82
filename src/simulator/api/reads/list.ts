import { parseJson } from '../../../units/json-bounds.js';
import { type JsonObject, isObject, numberAt, stringAt } from '../../kinds/json.js';
import { type KubeObject, namespaceOf } from '../../objects/kube-object.js';
import type { ResourceRequest, ApiContext } from '../requests/request.js';
import { matchOf } from '../../objects/selectors.js';
import { forbidden } from '../../validation/objects.js';
import { nameOf } from '../../objects/preconditions.js';
import {
  StatusError,
  badRequest,
  invalidOption,
  notFound,
  serverFault,
  tooLarge,
  tooOld,
} from '../../objects/status-error.js';

interface Page {
  readonly items: readonly KubeObject[];
  /**
   * The metadata of the list. With a selector, the number of items on later pages is unknown. The last page has neither
   * this number nor a continue token.
   */
  readonly metadata: JsonObject;
}

/** The contents of a continue token: the revision of the list (-1: the current one), and the last returned key. */
interface Token {
  readonly revision: number;
  readonly after: string;
}

/** Returns an object. Throws 404, or 504 if the revision in `resourceVersion` does not exist yet. */
export function getObject({ store }: ApiContext, request: ResourceRequest): KubeObject {
  const { resource, namespace, query } = request;
  const name = request.name ?? '';
  const wanted = readRevision(query.get('resourceVersion'));
  if (wanted > store.revision) throw tooLarge(wanted, store.revision);
  const object = store.get(resource.storage, namespace, name);
  if (object === null) throw notFound(nameOf({ ...request, name }));
  return object;
}

/**
 * Returns a page of at most `limit` items. All pages of a list are from the same revision: the current revision or,
 * with `resourceVersionMatch=Exact`, the revision in `resourceVersion`. Throws 410 if the history does not reach back
 * to the revision, and 504 if the revision does not exist yet.
 */
export function listObjects(context: ApiContext, request: ResourceRequest): Page {
  const { query, resource, namespace } = request;
  const token = readToken(query);
  const revision =
    token === null ? wantedRevision(context, query) : Math.min(token.revision, context.store.revision);
  const objects = context.store.allAt(resource.storage, revision);
  if (objects === null) throw token === null ? tooOld(revision, context.store.revision) : expired(token);
  const match = matchOf(query, resource);
  const keys: string[] = [];
  for (const [key, object] of objects) {
    const isWithin = namespace === null || namespaceOf(object) === namespace;
    if (isWithin && (token === null || key > token.after) && match(object)) keys.push(key);
  }
  keys.sort();
  const limit = Number(query.get('limit') ?? '0');
  const isCut = limit > 0 && keys.length > limit;
  const given = isCut ? keys.slice(0, limit) : keys;
  const items = given.flatMap((key) => objects.get(key) ?? []);
  const resourceVersion = String(revision);
  if (!isCut) return { items, metadata: { resourceVersion } };
  const isFiltered = Boolean(query.get('labelSelector')) || Boolean(query.get('fieldSelector'));
  const next = writeToken({ revision, after: given.at(-1) ?? '' });
  const remainingItemCount = isFiltered ? undefined : keys.length - given.length;
  return { items, metadata: { resourceVersion, continue: next, remainingItemCount } };
}

/** Parses a `resourceVersion`; -1: it is unset. Like the real server, throws 500 if it is not a number. */
export function readRevision(text: string | null): number {
  if (text === null || text === '') return -1;
  const revision = Number(text);
  if (!/^\d+$/.test(text))
    throw serverFault(
      `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
    );
  return revision;
}

function wantedRevision({ store }: ApiContext, query: URLSearchParams): number {
  const wanted = readRevision(query.get('resourceVersion'));
  const match = query.get('resourceVersionMatch');
  if (match !== null && wanted < 0)
    throw invalidOption(
      'ListOptions',
      forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden unless resourceVersion is provided',
      ),
    );
  if (wanted > store.revision) throw tooLarge(wanted, store.revision);
  return match === 'Exact' && wanted > 0 ? wanted : store.revision;
}

function writeToken(token: Token): string {
  return Buffer.from(
    JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: token.after }),
  ).toString('base64url');
}

function readToken(query: URLSearchParams): Token | null {
  const text = query.get('continue') ?? '';
  if (text === '') return null;
  if ((query.get('resourceVersion') ?? '') !== '') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const token = parseToken(text);
  if (token === null) throw badRequest('continue key is not valid: illegal base64 data or encoding');
  return token;
}

function parseToken(text: string): Token | null {
  const value = parseJson(Buffer.from(text, 'base64url').toString());
  const json = isObject(value) ? value : {};
  const revision = numberAt(json, 'rv');
  const after = stringAt(json, 'start');
  return revision === null || after === null
    ? null
    : { revision: revision < 0 ? Number.MAX_SAFE_INTEGER : revision, after };
}

/**
 * Returns 410 with a continue token for the current revision. A client that uses it gets the rest of the list, which is
 * then inconsistent.
 */
function expired(token: Token): StatusError {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  const error = new StatusError(410, 'Expired', message);
  return Object.assign(error, {
    status: { ...error.status, metadata: { continue: writeToken({ revision: -1, after: token.after }) } },
  });
}
