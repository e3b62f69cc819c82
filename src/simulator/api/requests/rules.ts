import type { ResourceRequest } from './request.js';
import { StatusError, detailsOf, qualified } from '../../objects/status-error.js';

/** An RBAC rule. `*` in a list matches everything. */
export interface Rule {
  readonly apiGroups: readonly string[];
  /** For example `deployments` and `deployments/scale`. A star before `/scale` matches the scale of every resource. */
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Namespaces in which the rule applies; unset: all namespaces, so that it also allows lists of all namespaces. */
  readonly namespaces?: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface Subject {
  readonly user: string;
  readonly rules: readonly Rule[];
}

/** Maps bearer tokens to subjects. If it is empty, everything is allowed, even without a token. */
export type Rbac = Readonly<Record<string, Subject>>;

interface Access {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string | null;
  readonly name: string | null;
}

export function isAllowed(rules: readonly Rule[], access: Access): boolean {
  const { resource, subresource } = access;
  const wanted = subresource === '' ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`];
  return rules.some(
    (rule) =>
      includes(rule.verbs, access.verb) &&
      includes(rule.apiGroups, access.group) &&
      wanted.some((name) => includes(rule.resources, name)) &&
      (rule.namespaces === undefined ||
        (access.namespace !== null && includes(rule.namespaces, access.namespace))) &&
      (rule.resourceNames === undefined ||
        (access.name !== null && rule.resourceNames.includes(access.name))),
  );
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

export function accessOf({ verb, resource, subresource, namespace, name }: ResourceRequest): Access {
  return { verb, group: resource.group, resource: resource.plural, subresource, namespace, name };
}

/** Returns a 403 with the message of the real server. */
export function forbidden(user: string, access: Access): StatusError {
  const { verb, group, resource, subresource, namespace, name } = access;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === null ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const message = `${qualified(resource, group)}${name === null ? '' : ` "${name}"`} is forbidden: User "${user}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`;
  return new StatusError(403, 'Forbidden', message, detailsOf({ resource, group, name }));
}
