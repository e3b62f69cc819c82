import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { PERMISSIONS, type Permission, permissionsBy } from '../../src/service/permissions.js';
import { rulesFor } from '../support/permission-rules.js';
import { CHART, HELM_TIMEOUT_MS, at, listAt, pick, render, startHelm, textAt } from './helm.js';
import type { Helm, Rendered, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const DEFAULTS = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Values;
const FILES = { crd: { enabled: false } };

/** Returns `VERB GROUP/RESOURCE NAME` of all that the rules allow. */
function grantsOf(rules: readonly unknown[]): readonly string[] {
  return rules
    .flatMap((rule) =>
      listAt(rule, 'apiGroups').flatMap((group) =>
        listAt(rule, 'resources').flatMap((resource) =>
          listAt(rule, 'verbs').flatMap((verb) =>
            [...(at(rule, 'resourceNames') === undefined ? [''] : listAt(rule, 'resourceNames'))].map(
              (name) => `${String(verb)} ${String(group)}/${String(resource)} ${String(name)}`.trim(),
            ),
          ),
        ),
      ),
    )
    .sort();
}

/** Returns what the table grants with these values of the chart, at a place. */
function grantedBy(
  values: Values,
  place: Permission['where'],
  targets = ['deployments', 'statefulsets', 'replicasets'],
): readonly string[] {
  const isOn = (value: string): boolean => at({ ...DEFAULTS, ...values }, ...value.split('.')) === true;
  const on = [...new Set(PERMISSIONS.map((permission) => permission.grantedBy))].filter(
    (value) => value === 'targets' || isOn(value),
  );
  // With sharding, each replica has a Lease of its own.
  const granting = on.filter((value) => value !== 'leaderElection.enabled' || !isOn('sharding.enabled'));
  const kinds = targets.map((target) => {
    const [plural = '', ...group] = target.split('.');
    return { plural, group: target === 'replicationcontrollers' ? '' : group.join('.') || 'apps' };
  });
  return grantsOf(rulesFor(permissionsBy(granting, kinds).filter(({ where }) => where === place)));
}

/** The roles that the chart adds to those of the cluster for teams. */
const TEAM_ROLES = [
  'ClusterRole * ops-rel-promscaler-scalers-edit',
  'ClusterRole * ops-rel-promscaler-scalers-view',
];

const ACCOUNT = { kind: 'ServiceAccount', name: 'rel-promscaler', namespace: 'ops' };

describe('the permissions', () => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm();
  });

  /** KIND NAMESPACE/NAME of all roles and bindings. */
  const rolesOf = (values: Values): readonly string[] =>
    render(helm, values)
      .filter((object) => /Role/.test(textAt(object, 'kind')))
      .map((object) =>
        [object['kind'], at(object, 'metadata', 'namespace') ?? '*', textAt(object, 'metadata', 'name')].join(
          ' ',
        ),
      )
      .sort();

  /** Returns what the role in the namespace of the release grants. */
  const ownGrants = (values: Values): readonly string[] =>
    grantsOf(
      render(helm, values)
        .filter(({ kind, metadata }) => kind === 'Role' && at(metadata, 'name') === 'rel-promscaler')
        .flatMap((role) => listAt(role, 'rules')),
    );
  const off = { enabled: false };

  it.each([
    {},
    FILES,
    { podDeletionCost: { enabled: true } },
    { state: off },
    { leaderElection: off },
    { sharding: { enabled: true } },
    { targets: ['statefulsets', 'rollouts.argoproj.io', 'widgets.example.com', 'gadgets.example.com'] },
    { targets: ['replicationcontrollers'] },
    { targets: ['x.example.com'] },
  ])('are those of the table with %j, in all namespaces by default', (values: Values) => {
    const objects = render(helm, values);
    const targets = at(values, 'targets') as string[] | undefined;

    const scaled = pick(objects, 'ClusterRole', 'ops-rel-promscaler');
    expect(grantsOf(listAt(scaled, 'rules'))).toEqual(grantedBy(values, 'scaled', targets));
    expect(ownGrants(values)).toEqual(grantedBy(values, 'own'));
    expect(pick(objects, 'ClusterRoleBinding')).toMatchObject({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'ops-rel-promscaler' },
      subjects: [ACCOUNT],
    });
    expect(rolesOf(values)).toEqual([
      'ClusterRole * ops-rel-promscaler',
      ...(at(values, 'crd') === undefined ? TEAM_ROLES : []),
      'ClusterRoleBinding * ops-rel-promscaler',
      'Role ops rel-promscaler',
      'RoleBinding ops rel-promscaler',
    ]);
  });

  it('are the same in the configured namespaces, and none outside of them', () => {
    const namespaces = ['shop', 'on', '012'];
    const objects = render(helm, { ...FILES, namespaces });

    for (const namespace of namespaces) {
      const inNamespace = (wanted: string): Rendered | undefined =>
        objects.find(({ kind, metadata }) => kind === wanted && at(metadata, 'namespace') === namespace);
      expect(grantsOf(listAt(inNamespace('Role'), 'rules'))).toEqual(grantedBy(FILES, 'scaled'));
      expect(inNamespace('RoleBinding')).toMatchObject({
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'ops-rel-promscaler' },
        subjects: [ACCOUNT],
      });
    }
    expect(rolesOf({ ...FILES, namespaces })).toEqual([
      'Role 012 ops-rel-promscaler',
      'Role on ops-rel-promscaler',
      'Role ops rel-promscaler',
      'Role shop ops-rel-promscaler',
      'RoleBinding 012 ops-rel-promscaler',
      'RoleBinding on ops-rel-promscaler',
      'RoleBinding ops rel-promscaler',
      'RoleBinding shop ops-rel-promscaler',
    ]);
  });

  it('are none in the own namespace without Lease and state', () => {
    expect(rolesOf({ ...FILES, state: off, leaderElection: off })).toEqual([
      'ClusterRole * ops-rel-promscaler',
      'ClusterRoleBinding * ops-rel-promscaler',
    ]);
    const binding = render(helm).find(({ kind }) => kind === 'RoleBinding');
    expect(binding).toMatchObject({ roleRef: { kind: 'Role', name: 'rel-promscaler' }, subjects: [ACCOUNT] });
  });

  it('are separate roles if the own namespace is scaled, too', () => {
    expect(rolesOf({ ...FILES, namespaces: ['ops'] }).filter((role) => role.startsWith('Role '))).toEqual([
      'Role ops ops-rel-promscaler',
      'Role ops rel-promscaler',
    ]);
  });

  it.each([{}, { namespaces: ['shop'] }])(
    'bind system:auth-delegator only with auth.tokenReview, also with %j: reviews have no namespace',
    (values) => {
      const delegators = (given: Values): readonly Rendered[] =>
        render(helm, given).filter(({ roleRef }) => at(roleRef, 'name') === 'system:auth-delegator');

      expect(delegators(values)).toEqual([]);
      expect(delegators({ ...values, auth: { tokenReview: true } })).toMatchObject([
        {
          kind: 'ClusterRoleBinding',
          metadata: { name: 'ops-rel-promscaler-auth-delegator' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole' },
          subjects: [ACCOUNT],
        },
      ]);
    },
  );

  it('have no wildcard, no secrets and no nodes, and allow writing only these resources', () => {
    const writing = PERMISSIONS.filter(({ verbs }) => verbs.some((verb) => !/^(get|list|watch)$/.test(verb)));

    const rules = JSON.stringify(rulesFor(PERMISSIONS));
    expect(rules).not.toMatch(/\*|secrets|nodes|exec|impersonate|escalate|bind/);
    expect([...new Set(writing.map(({ resource }) => resource))]).toEqual([
      'pods',
      'TARGET/scale',
      'events',
      'scalers/status',
      'leases',
      'configmaps',
      'tokenreviews',
      'subjectaccessreviews',
    ]);
  });

  it('can be managed outside the chart', () => {
    expect(rolesOf({ ...FILES, rbac: { create: false } })).toEqual([]);
    const account = { create: false, name: 'mine' };
    const objects = render(helm, { ...FILES, serviceAccount: account });
    expect(objects.map(({ kind }) => kind)).not.toContain('ServiceAccount');
    expect(at(pick(objects, 'Deployment'), 'spec', 'template', 'spec', 'serviceAccountName')).toBe('mine');
    expect(at(pick(objects, 'ClusterRoleBinding'), 'subjects', 0, 'name')).toBe('mine');
  });
});

describe('the token', () => {
  it('is mounted only by the pod', async () => {
    const objects = render(await startHelm());

    expect(pick(objects, 'ServiceAccount')['automountServiceAccountToken']).toBe(false);
    const pod = at(pick(objects, 'Deployment'), 'spec', 'template', 'spec');
    expect(at(pod, 'automountServiceAccountToken')).toBe(true);
    expect(at(pod, 'serviceAccountName')).toBe('rel-promscaler');
  });
});
