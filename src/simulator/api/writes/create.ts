import { admitCustom } from '../../validation/admit.js';
import type { CelEvaluator } from '../../validation/cel-rules.js';
import { DEFINITIONS, checkDefinition, establishedStatus } from '../../validation/definition.js';
import { type JsonObject, objectAt, stringAt, numberAt } from '../../kinds/json.js';
import { fillDefaults } from '../../kinds/defaults.js';
import { generatedName } from '../../objects/names.js';
import { newEventCauses, required } from '../../validation/objects.js';
import { validate } from '../../validation/validate.js';
import type { ApiContext } from '../requests/request.js';
import { type Ownership, type Writer, ownChanges, withOwnerships } from '../../objects/managed-fields.js';
import { type KubeObject, asKubeObject, makeUid, timestamp } from '../../objects/kube-object.js';
import { emptyObject, readObject, storedType, type Arrival } from '../../objects/read-object.js';
import { NAMESPACES, type Resource, apiVersionOf } from '../../objects/resources.js';
import {
  alreadyExists,
  badRequest,
  invalidFields,
  namespaceTerminating,
  notFound,
  serverFault,
} from '../../objects/status-error.js';
import { checkKind } from '../requests/parse-body.js';
import { fromWire } from '../../objects/wire.js';

interface Place {
  readonly resource: Resource;
  readonly namespace: string | null;
}

interface Creation {
  /** Whether the status of the manifest is stored, as for the initial objects. */
  readonly keepsStatus?: boolean;
  /** The owners of the fields, for a server-side apply. Default: the writer owns all fields that it sets. */
  readonly ownerships?: readonly Ownership[];
}

/** Creates an object. Throws 404 if its namespace does not exist, and 409 if an object has its name. */
export function createObject(
  context: ApiContext,
  { resource, namespace: path }: Place,
  body: JsonObject,
  writer: Writer,
  creation: Creation = {},
): KubeObject {
  const apiVersion = apiVersionOf(resource);
  checkKind(resource, apiVersion, body);
  const sent = { apiVersion, kind: resource.kind, ...body };
  const read = readObject(resource, sent, { arrival: 'body', writer });
  const namespace = resource.namespaced ? (path ?? stringAt(read, 'metadata', 'namespace')) : null;
  const identified = identify(context, { resource, namespace }, read, writer);
  const isReset = creation.keepsStatus !== true && resource.subresources.includes('status');
  const object = isReset ? { ...identified, status: emptyObject(resource)['status'] } : identified;
  const admission = { writer, arrival: 'body', cel: context.cel } as const;
  const complete = prepare(resource, object, null, admission);
  const { name } = complete.metadata;
  if (context.store.get(resource.storage, namespace, name) !== null)
    throw alreadyExists({ resource: resource.plural, group: resource.group, name });
  const owned =
    creation.ownerships === undefined
      ? own(resource, null, complete, writer)
      : withOwnerships(complete, creation.ownerships);
  return keep(context, resource, owned, writer);
}

function identify(
  context: ApiContext,
  { resource, namespace }: Place,
  read: JsonObject,
  writer: Writer,
): KubeObject {
  const { random } = context;
  const metadata = objectAt(read, 'metadata');
  const { labels, annotations, ownerReferences, finalizers } = metadata;
  const stated = stringAt(metadata, 'namespace');
  if (resource.namespaced && stated !== null && stated !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if ((stringAt(metadata, 'resourceVersion') ?? '') !== '')
    throw serverFault('resourceVersion should not be set on objects to be created');
  const generateName = stringAt(metadata, 'generateName') ?? undefined;
  const generated = generateName === undefined ? '' : generatedName(generateName, random);
  const name = stringAt(metadata, 'name') ?? generated;
  if (name === '')
    throw invalidFields({ kind: resource.kind, group: resource.group, name }, [
      required('metadata.name', 'name or generateName is required'),
    ]);
  if (namespace !== null) checkNamespace(context, namespace, { resource, name });
  return asKubeObject({
    ...read,
    metadata: {
      name,
      generateName,
      namespace: namespace ?? undefined,
      uid: makeUid(random),
      resourceVersion: '',
      generation: resource.hasGeneration ? 1 : undefined,
      creationTimestamp: timestamp(writer.nowMs),
      labels,
      annotations,
      ownerReferences,
      finalizers,
    },
  });
}

function checkNamespace(
  { store }: ApiContext,
  namespace: string,
  { resource, name }: { readonly resource: Resource; readonly name: string },
): void {
  const stored = store.get(NAMESPACES, null, namespace);
  if (stored === null) throw notFound({ resource: 'namespaces', group: '', name: namespace });
  if (stored.metadata['deletionTimestamp'] === undefined) return;
  throw namespaceTerminating({ resource: resource.plural, group: resource.group, name }, namespace);
}

/** What the validation of an object needs besides the object. */
export interface Admission {
  readonly writer: Writer;
  readonly arrival: Arrival;
  readonly cel: CelEvaluator | null;
}

/** Sets defaults, validates the object, and returns its stored form. Throws `StatusError` if the object is invalid. */
export function prepare(
  resource: Resource,
  object: KubeObject,
  before: KubeObject | null,
  { writer, arrival, cel }: Admission,
): KubeObject {
  const { kind, group } = resource;
  if (group === 'events.k8s.io' && before === null) {
    const causes = newEventCauses(object);
    if (causes.length > 0) throw invalidFields({ kind, group, name: object.metadata.name }, causes);
  }
  const complete = asKubeObject(fillDefaults(fromWire(resource, object)));
  validate(resource, complete, before);
  if (resource.storage === DEFINITIONS) {
    checkDefinition(complete);
    return { ...complete, status: establishedStatus(complete, writer.nowMs) };
  }
  return admitCustom(resource, complete, { writer, arrival, cel, before });
}

/** Returns the object with the writer as owner of the changed fields. */
export function own(
  resource: Resource,
  before: KubeObject | null,
  after: KubeObject,
  writer: Writer,
): KubeObject {
  return ownChanges({ type: storedType(resource), before, empty: emptyObject(resource), after }, writer);
}

export function keep(
  { store }: ApiContext,
  resource: Resource,
  object: KubeObject,
  writer: Writer,
): KubeObject {
  return writer.isDryRun === true ? object : store.put(resource.storage, object);
}

const LEAST_SECONDS = 600;
const DEFAULT_SECONDS = 3600;

/**
 * Answers a TokenRequest for a ServiceAccount. The token authenticates the user `system:serviceaccount:NAMESPACE:NAME`,
 * who has the rules of the subject with this user name.
 */
export function issueToken(
  { store, tokens, clock, random }: ApiContext,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  request: JsonObject,
): JsonObject {
  const account = store.get('/serviceaccounts', namespace, name);
  if (account === null) throw notFound({ resource: 'serviceaccounts', group: '', name });
  const token = `token-${makeUid(random)}`;
  tokens.set(token, `system:serviceaccount:${namespace}:${name}`);
  const seconds = Math.max(LEAST_SECONDS, numberAt(request, 'spec', 'expirationSeconds') ?? DEFAULT_SECONDS);
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, uid: account.metadata.uid, creationTimestamp: timestamp(clock.now()) },
    spec: {
      audiences: ['https://kubernetes.default.svc'],
      boundObjectRef: null,
      ...objectAt(request, 'spec'),
      expirationSeconds: seconds,
    },
    status: { token, expirationTimestamp: timestamp(clock.now() + seconds * 1000) },
  };
}
