import type { JsonObject } from '../kinds/json.js';

/** An error of the API, which is sent as a Kubernetes `Status` object. */
export class StatusError extends Error {
  override name = 'StatusError';
  readonly status: JsonObject;
  readonly code: number;

  constructor(code: number, reason: string | undefined, message: string, details?: JsonObject) {
    super(message);
    this.code = code;
    this.status = makeStatus({ code, reason, message, details });
  }
}

export function makeStatus(failure: {
  readonly code: number;
  readonly reason: string | undefined;
  readonly message: string;
  readonly details?: JsonObject | undefined;
  readonly metadata?: JsonObject;
}): JsonObject {
  const { code, reason, message, details, metadata = {} } = failure;
  return { kind: 'Status', apiVersion: 'v1', metadata, status: 'Failure', message, reason, details, code };
}

export interface ObjectName {
  readonly resource: string;
  /** Empty: the core group. */
  readonly group: string;
  readonly name: string;
}

/** Returns a resource or kind with its group, such as `deployments.apps`. */
export function qualified(resource: string, group: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** Returns the details of a Status. `resource`: the plural or, for some errors, the kind. */
export function detailsOf({
  resource,
  group,
  name,
}: Omit<ObjectName, 'name'> & { readonly name: string | null }): JsonObject {
  return { name: name || undefined, group: group || undefined, kind: resource };
}

function titleOf({ resource, group, name }: ObjectName): string {
  return `${qualified(resource, group)} "${name}"`;
}

export function notFound(object: ObjectName): StatusError {
  return new StatusError(404, 'NotFound', `${titleOf(object)} not found`, detailsOf(object));
}

/** 404: the group is served, but it has no such resource. */
export function noSuchResource(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function alreadyExists(object: ObjectName): StatusError {
  return new StatusError(409, 'AlreadyExists', `${titleOf(object)} already exists`, detailsOf(object));
}

export function namespaceTerminating(object: ObjectName, namespace: string): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  const message = `${titleOf(object)} is forbidden: ${why}`;
  return new StatusError(403, 'Forbidden', message, { ...detailsOf(object), causes: [cause] });
}

/** 409: a precondition does not hold. `cause`: default: the resourceVersion differs. */
export function conflict(object: ObjectName, cause?: string): StatusError {
  const why =
    cause ?? 'the object has been modified; please apply your changes to the latest version and try again';
  const message = `Operation cannot be fulfilled on ${titleOf(object)}: ${why}`;
  return new StatusError(409, 'Conflict', message, detailsOf(object));
}

/** Why a field is invalid. The message is the path of the field, followed by `text`. */
export interface FieldCause {
  readonly reason:
    | 'FieldValueInvalid'
    | 'FieldValueRequired'
    | 'FieldValueNotSupported'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong';
  readonly field: string;
  readonly text: string;
}

export function invalidFields(
  { kind, group, name }: { readonly kind: string; readonly group: string; readonly name: string },
  causes: readonly FieldCause[],
): StatusError {
  const sentences = causes.map(({ field, text }) => `${field}: ${text}`);
  const all = sentences.length === 1 ? sentences.join() : `[${sentences.join(', ')}]`;
  return new StatusError(422, 'Invalid', `${titleOf({ resource: kind, group, name })} is invalid: ${all}`, {
    ...detailsOf({ resource: kind, group, name }),
    causes: causes.map(({ reason, field, text }) => ({ reason, message: text, field })),
  });
}

/** 422: a query parameter is invalid. `kind`: the Go type of the parameters, such as `PatchOptions`. */
export function invalidOption(kind: string, cause: FieldCause): StatusError {
  return invalidFields({ kind, group: 'meta.k8s.io', name: '' }, [cause]);
}

/** 422: the result of a patch cannot be decoded. */
export function invalidPatch(patched: JsonObject, message: string): StatusError {
  const text = `Invalid value: ${JSON.stringify(JSON.stringify(patched))}: ${message}`;
  return new StatusError(422, 'Invalid', ` "" is invalid: patch: ${text}`, {
    causes: [{ reason: 'FieldValueInvalid', message: text, field: 'patch' }],
  });
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );
}

/** 406: the `Accept` header contains no supported form. */
export function notAcceptable(): StatusError {
  const message = '406: Not Acceptable\n\nAvailable representations: application/json';
  return new StatusError(406, 'NotAcceptable', message, {});
}

export function tooLargeBody(limit: number): StatusError {
  const message = `Request entity too large: limit is ${limit}`;
  return new StatusError(413, 'RequestEntityTooLarge', message);
}

/** 500 without a reason, as after an internal error of the real server. */
export function serverFault(message: string): StatusError {
  return new StatusError(500, undefined, message);
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `415: Unsupported Media Type: the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new StatusError(415, 'UnsupportedMediaType', message, {});
}

/** 401: the token is absent or unknown. */
export function unauthorized(): StatusError {
  return new StatusError(401, 'Unauthorized', 'Unauthorized');
}

/** 410: the history does not reach back to the start of a watch. */
export function tooOld(revision: number, current: number): StatusError {
  return new StatusError(410, 'Expired', `too old resource version: ${revision} (${current})`);
}

/** 504: a list or get asks for a revision that does not exist yet. */
export function tooLarge(revision: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${revision}, current: ${current}`;
  return new StatusError(504, 'Timeout', message, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}
