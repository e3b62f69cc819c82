import type { Permission } from '../../src/service/permissions.js';
import type { Rule } from '../../src/simulator/api/requests/rules.js';

/** Returns one rule for each permission. */
export function rulesFor(permissions: readonly Permission[]): readonly Rule[] {
  return permissions.map(({ group, resource, verbs, names }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
    ...(names === undefined ? {} : { resourceNames: names }),
  }));
}
