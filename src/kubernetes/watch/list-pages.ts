import { sleep, type Clock } from '../../units/clock.js';
import { objectIn, objectsIn, textIn, type JsonObject } from '../api/json.js';
import type { JsonFields } from '../requests/prune-json.js';
import type { Transport } from '../requests/transport.js';
import { KubernetesError } from '../api/types.js';

export interface ResourceScope {
  /** The API path, such as `/apis/apps/v1/namespaces/shop/deployments`. */
  readonly path: string;
  /** The plural name as in RBAC rules, such as `deployments`. */
  readonly plural: string;
  readonly namespace: string | null;
}

export function nameScope({ plural, namespace }: ResourceScope): string {
  return `${plural} in ${namespace === null ? 'all namespaces' : `namespace ${namespace}`}`;
}

/** Returns the scope of a list. `root` is `/api/v1` or `/apis/GROUP/VERSION`. `namespace` null: the whole cluster. */
export function resourceScope(root: string, plural: string, namespace: string | null): ResourceScope {
  const scope = namespace === null ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return { path: `${root}${scope}/${plural}`, plural, namespace };
}

const PAGE_SIZE = '500';
/** Limits the pages of a list, in case the server keeps sending continue tokens. */
const MAX_PAGES = 2000;
/** Limits the objects of a list. Kubernetes supports 150,000 pods. */
const MAX_ITEMS = 300_000;
/** Limits the converted objects of a list, in characters of JSON. 150,000 pods have about 75 million. */
const MAX_KEPT_CHARACTERS = 256 * 1024 * 1024;
const PAGE_DEADLINE_MS = 30_000;
const WHOLE_DEADLINE_MS = 120_000;

interface Listed<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

export interface Listing<T> {
  readonly transport: Transport;
  readonly scope: ResourceScope;
  /** Converts an object; null: the object is dropped. */
  readonly convert: (object: JsonObject) => T | null;
  /** The fields of an object that `convert` reads. Default: all. */
  readonly fields?: JsonFields;
  /** A selector in the syntax of `kubectl -l`. Default: all objects. */
  readonly labelSelector?: string;
  readonly signal: AbortSignal;
  /** Called after each page. */
  readonly onPage?: () => void;
  /** Called with the body of each response: see `KubernetesRequest`. */
  readonly onBody?: (body: Buffer) => void;
}

/**
 * Lists a resource in pages of 500. The list is consistent, because `resourceVersion` is unset and never 0. If the
 * continue token expires, lists again without pages: continuing with the token in the 410 would be inconsistent. Throws
 * `KubernetesError`, also if the list does not end: a repeated token, or too many pages, objects or bytes. Source:
 * reliability.md, K2, K4, K5.
 */
export async function listAll<T>(given: Listing<T>): Promise<Listed<T>> {
  const ending = new AbortController();
  try {
    return await listPages({ ...given, signal: AbortSignal.any([given.signal, ending.signal]) });
  } finally {
    // Aborts the request for the page that was requested ahead and is no longer needed.
    ending.abort();
  }
}

async function listPages<T>(listing: Listing<T>): Promise<Listed<T>> {
  const items: T[] = [];
  const tokens = new Set<string>();
  const pages = createPageSource(listing, tokens);
  let resourceVersion: string | null = null;
  let token: string | null = null;
  let kept = 0;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    let page: JsonObject;
    try {
      page = await pages.request(token);
    } catch (error) {
      if (token !== null && error instanceof KubernetesError && error.kind === 'gone')
        return listWhole(listing);
      throw error;
    }
    const read = readPage(listing, page);
    listing.onPage?.();
    for (const item of read.items) items.push(item);
    kept += read.characters;
    if (items.length > MAX_ITEMS) throw endless(listing, `the list has more than ${MAX_ITEMS} objects`);
    if (kept > MAX_KEPT_CHARACTERS)
      throw endless(listing, `the objects have more than ${MAX_KEPT_CHARACTERS} bytes`);
    // All pages should have the same version. If they differ, a watch from the version of the first page misses
    // nothing.
    resourceVersion ??= read.resourceVersion;
    token = read.token;
    if (token === null) return { items, resourceVersion };
    if (tokens.has(token)) throw endless(listing, 'the server returned the same page twice');
    tokens.add(token);
  }
  throw endless(listing, `the list has more than ${MAX_PAGES} pages`);
}

/**
 * Requests the next page as soon as the response contains its token, so that it arrives while the current page is
 * parsed.
 */
function createPageSource<T>(
  listing: Listing<T>,
  tokens: ReadonlySet<string>,
): { readonly request: (token: string | null) => Promise<JsonObject> } {
  let ahead: { readonly token: string; readonly page: Promise<JsonObject> } | null = null;
  const send = (token: string | null): Promise<JsonObject> =>
    requestPage(
      { ...listing, onBody: requestAhead },
      { limit: PAGE_SIZE, ...(token === null ? {} : { continue: token }) },
    );
  const requestAhead = (body: Buffer): void => {
    const token = peekToken(body);
    // At most one page is requested ahead: with a slow consumer, more would fill the memory.
    if (ahead !== null || token === null || tokens.has(token)) return;
    const page = send(token);
    // Prevents an unhandled rejection: if the previous page fails, no code awaits this page.
    page.catch(() => undefined);
    ahead = { token, page };
  };
  return {
    request: (token) => {
      const known = ahead;
      ahead = null;
      return known !== null && known.token === token ? known.page : send(token);
    },
  };
}

const PEEKED_BYTES = 4096;
const CONTINUE = /"continue":"([^"\\]+)"/;

/** Returns the likely continue token, because the API server writes `metadata` before `items`; null: not found. */
function peekToken(body: Buffer): string | null {
  const start = body.toString('latin1', 0, PEEKED_BYTES);
  const items = start.indexOf('"items"');
  return CONTINUE.exec(items < 0 ? start : start.slice(0, items))?.[1] ?? null;
}

function endless<T>({ scope }: Listing<T>, what: string): KubernetesError {
  return new KubernetesError('bad_answer', `listing ${nameScope(scope)}: ${what}`);
}

const TOO_LARGE_ATTEMPTS = 3;
const TOO_LARGE_RETRY_SECONDS = 1;

/**
 * Lists a resource at `version` or later, which the server can answer from its watch cache. While the cache is behind,
 * tries three times. After that, or if the server rejects the version, lists consistently. Throws `KubernetesError`.
 * Source: reliability.md, K3.
 */
export async function listNotOlder<T>(
  listing: Listing<T>,
  version: string,
  clock: Clock,
): Promise<Listed<T>> {
  const query = { resourceVersion: version, resourceVersionMatch: 'NotOlderThan' };
  for (let attempt = 1; attempt <= TOO_LARGE_ATTEMPTS; attempt += 1) {
    try {
      return readPage(listing, await requestPage(listing, query));
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      // `bad_answer`: a list that is too large for one response may succeed in pages.
      if (error.kind === 'gone' || error.kind === 'invalid' || error.kind === 'bad_answer') break;
      if (!isTooLarge(error)) throw error;
      // If the response had a `Retry-After`, the transport has already retried.
      if (error.retryAfterSeconds !== null) break;
      if (attempt < TOO_LARGE_ATTEMPTS) await sleep(clock, TOO_LARGE_RETRY_SECONDS * 1000, listing.signal);
    }
  }
  return listAll(listing);
}

/**
 * Returns whether the watch cache is behind. It is recognized by the message, because only newer servers set a cause.
 */
function isTooLarge({ status, message }: KubernetesError): boolean {
  return status === 504 && message.includes('Too large resource version');
}

async function listWhole<T>(listing: Listing<T>): Promise<Listed<T>> {
  return readPage(listing, await requestPage(listing, {}));
}

function requestPage<T>(listing: Listing<T>, query: Readonly<Record<string, string>>): Promise<JsonObject> {
  const { transport, scope, fields, labelSelector, signal, onBody } = listing;
  return transport.request({
    lane: 'list',
    path: scope.path,
    query: labelSelector === undefined ? query : { ...query, labelSelector },
    ...(fields === undefined ? {} : { fields: listFields(fields) }),
    doing: `listing ${nameScope(scope)}`,
    verb: 'list',
    resource: scope.plural,
    deadlineMs: 'limit' in query ? PAGE_DEADLINE_MS : WHOLE_DEADLINE_MS,
    onBody,
    signal,
  });
}

const listsOf = new WeakMap<object, JsonFields>();

function listFields(items: JsonFields): JsonFields {
  if (items === true) return true;
  let fields = listsOf.get(items);
  if (fields === undefined) {
    fields = { kind: true, metadata: { resourceVersion: true, continue: true }, items };
    listsOf.set(items, fields);
  }
  return fields;
}

function readPage<T>(
  { scope, convert }: Listing<T>,
  page: JsonObject,
): Listed<T> & { readonly token: string | null; readonly characters: number } {
  const metadata = objectIn(page, 'metadata');
  const resourceVersion = textIn(metadata, 'resourceVersion') ?? '';
  if (textIn(page, 'kind')?.endsWith('List') !== true || resourceVersion === '')
    throw new KubernetesError('bad_answer', `listing ${nameScope(scope)}: the response is not a list`);
  const items: T[] = [];
  let characters = 0;
  for (const object of objectsIn(page, 'items')) {
    const item = convert(object);
    if (item === null) continue;
    items.push(item);
    characters += weigh(item);
  }
  const token = textIn(metadata, 'continue') ?? '';
  return { items, resourceVersion, token: token === '' ? null : token, characters };
}

/** Estimates how many characters an object has as JSON, in a fifth of the time of writing the JSON. */
function weigh(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let characters = 2;
  if (Array.isArray(value))
    for (const element of value as readonly unknown[]) characters += weigh(element) + 1;
  else {
    // `Object.entries` would create an array for each object of each pod.
    const members = value as JsonObject;
    for (const name in members) characters += name.length + 4 + weigh(members[name]);
  }
  return characters;
}
