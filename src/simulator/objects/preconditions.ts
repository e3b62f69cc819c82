import { type JsonObject, stringAt } from '../kinds/json.js';
import type { KubeObject } from './kube-object.js';
import type { Resource } from './resources.js';
import { type ObjectName, badRequest, conflict, invalidFields } from './status-error.js';

export interface Addressed {
  readonly resource: Resource;
  readonly subresource: string;
  readonly namespace: string | null;
  readonly name: string;
}

/** Returns the name for messages and details of a Status. Only errors about the uid include the subresource. */
export function nameOf({ resource, subresource, name }: Addressed, isWithSubresource = false): ObjectName {
  const plural =
    isWithSubresource && subresource !== '' ? `${resource.plural}/${subresource}` : resource.plural;
  return { resource: plural, group: resource.group, name };
}

/**
 * Throws 409 if `wanted` has another uid or resourceVersion than the stored object, and 400 if it has another name or
 * namespace than the path. Absent fields are not checked.
 */
export function checkPreconditions(target: Addressed, current: KubeObject, wanted: JsonObject): void {
  const uid = stringAt(wanted, 'metadata', 'uid') ?? '';
  if (uid !== '' && uid !== current.metadata.uid)
    throw conflict(
      nameOf(target, true),
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`,
    );
  const version = stringAt(wanted, 'metadata', 'resourceVersion') ?? '';
  if (version !== '' && version !== current.metadata.resourceVersion) throw conflict(nameOf(target));
  checkAddress(target, wanted);
}

/** Throws 400 if `wanted` has another name or namespace than the path. Absent fields are not checked. */
export function checkAddress({ name, namespace }: Addressed, wanted: JsonObject): void {
  const own = stringAt(wanted, 'metadata', 'name') ?? name;
  if (own !== name)
    throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
  const wantedNamespace = stringAt(wanted, 'metadata', 'namespace') ?? namespace;
  if (wantedNamespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** Throws 422 if a PUT has no resourceVersion and its kind requires one. */
export function requireVersion({ resource, name }: Addressed, body: JsonObject): void {
  const isStrict =
    resource.isCustom || resource.kind === 'Lease' || resource.kind === 'CustomResourceDefinition';
  if (!isStrict || (stringAt(body, 'metadata', 'resourceVersion') ?? '') !== '') return;
  const text = 'Invalid value: 0x0: must be specified for an update';
  throw invalidFields({ kind: resource.kind, group: resource.group, name }, [
    { reason: 'FieldValueInvalid', field: 'metadata.resourceVersion', text },
  ]);
}

/** Throws 409 if the preconditions of DeleteOptions do not hold. */
export function checkDeletion({ resource, name }: Addressed, current: KubeObject, options: JsonObject): void {
  const { kind, group } = resource;
  const refuse = (what: string, why: string, wanted: string, actual: string): never => {
    throw conflict(
      { resource: kind, group, name },
      `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${actual}). The object might have been ${why}`,
    );
  };
  const uid = stringAt(options, 'preconditions', 'uid');
  if (uid !== null && uid !== current.metadata.uid)
    refuse('UID', 'deleted and then recreated', uid, current.metadata.uid);
  const version = stringAt(options, 'preconditions', 'resourceVersion');
  if (version !== null && version !== current.metadata.resourceVersion)
    refuse('ResourceVersion', 'modified', version, current.metadata.resourceVersion);
}
