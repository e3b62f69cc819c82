import { type JsonObject, objectAt, stringAt } from '../../json/json.js';
import { type Rbac, type Subject, isAllowed } from './rules.js';
import { unauthorized } from '../../objects/status-error.js';

const ANYBODY: Subject = {
  user: 'simulator-admin',
  rules: [{ apiGroups: ['*'], resources: ['*', '*/scale', '*/status'], verbs: ['*'] }],
};

/**
 * Returns the subject of an `Authorization` header. Throws 401 for a token that is neither configured nor issued,
 * unless `rbac` is empty.
 */
export function authenticate(
  rbac: Rbac,
  issued: ReadonlyMap<string, string>,
  authorization: string | undefined,
): Subject {
  if (Object.keys(rbac).length === 0) return ANYBODY;
  const token = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1]?.trim() ?? '';
  const subject = Object.hasOwn(rbac, token) ? rbac[token] : undefined;
  if (subject !== undefined) return subject;
  const user = issued.get(token);
  if (user === undefined) throw unauthorized();
  return Object.values(rbac).find((one) => one.user === user) ?? { user, rules: [] };
}

/** Answers a SelfSubjectAccessReview (`kubectl auth can-i`). */
export function reviewAccess(subject: Subject, review: JsonObject): JsonObject {
  const asked = objectAt(review, 'spec', 'resourceAttributes');
  const allowed = isAllowed(subject.rules, {
    verb: stringAt(asked, 'verb') ?? '',
    group: stringAt(asked, 'group') ?? '',
    resource: stringAt(asked, 'resource') ?? '',
    subresource: stringAt(asked, 'subresource') ?? '',
    namespace: stringAt(asked, 'namespace') || null,
    name: stringAt(asked, 'name') || null,
  });
  return {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: { resourceAttributes: asked },
    status: { allowed },
  };
}

/** Answers a SelfSubjectRulesReview (`kubectl auth can-i --list`) for a namespace. */
export function reviewRules(subject: Subject, namespace: string): JsonObject {
  const rules = subject.rules.filter((rule) => rule.namespaces?.includes(namespace) ?? true);
  return {
    kind: 'SelfSubjectRulesReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules.map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        resourceNames,
      })),
      nonResourceRules: [],
      incomplete: false,
    },
  };
}
