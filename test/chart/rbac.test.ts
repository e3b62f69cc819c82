import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { HELM_TIMEOUT_MS, at, listAt, pick, render as renderAll, startHelm, textAt } from './helm.js';
import type { Helm, Rendered, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const RULES = [
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
  {
    apiGroups: ['apps'],
    resources: ['deployments', 'statefulsets', 'replicasets'],
    verbs: ['list', 'watch'],
  },
  {
    apiGroups: ['apps'],
    resources: ['deployments/scale', 'statefulsets/scale', 'replicasets/scale'],
    verbs: ['get', 'patch'],
  },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'], verbs: ['list', 'watch'] },
];

const STATES = Array.from(
  { length: 16 },
  (_, bucket) => `promscaler-state-${String(bucket).padStart(2, '0')}`,
);

/** Rules in the namespace of the release, by their use. */
const OWN_RULES = {
  election: [
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      resourceNames: ['promscaler'],
      verbs: ['get', 'update'],
    },
  ],
  state: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: STATES, verbs: ['get', 'patch'] }],
};

const ACCOUNT = { kind: 'ServiceAccount', name: 'rel-promscaler', namespace: 'ops' };

/** With documents in files; `crd.test.ts` has the roles for objects. */
const render = (helm: Helm, values: Values = {}): readonly Rendered[] =>
  renderAll(helm, { crd: { enabled: false }, ...values });

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

  const ownRulesOf = (values: Values): unknown =>
    at(
      render(helm, values).find(
        ({ kind, metadata }) => kind === 'Role' && at(metadata, 'name') === 'rel-promscaler',
      ),
      'rules',
    );

  it('are these and no others, in all namespaces by default', () => {
    const objects = render(helm);

    expect(at(pick(objects, 'ClusterRole'), 'rules')).toEqual(RULES);
    expect(pick(objects, 'ClusterRoleBinding')).toMatchObject({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'ops-rel-promscaler' },
      subjects: [ACCOUNT],
    });
    expect(rolesOf({})).toEqual([
      'ClusterRole * ops-rel-promscaler',
      'ClusterRoleBinding * ops-rel-promscaler',
      'Role ops rel-promscaler',
      'RoleBinding ops rel-promscaler',
    ]);
  });

  it('are the same in the configured namespaces, and none outside of them', () => {
    const namespaces = ['shop', 'on', '012'];
    const objects = render(helm, { namespaces });

    for (const namespace of namespaces) {
      const role = objects.find(
        ({ kind, metadata }) => kind === 'Role' && at(metadata, 'namespace') === namespace,
      );
      const binding = objects.find(
        ({ kind, metadata }) => kind === 'RoleBinding' && at(metadata, 'namespace') === namespace,
      );
      expect(role?.['rules']).toEqual(RULES);
      expect(binding).toMatchObject({
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'ops-rel-promscaler' },
        subjects: [ACCOUNT],
      });
    }
    expect(rolesOf({ namespaces })).toEqual([
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

  it('include the Lease and the state in the own namespace, and neither if both are off', () => {
    const off = { enabled: false };

    expect(ownRulesOf({})).toEqual([...OWN_RULES.election, ...OWN_RULES.state]);
    expect(ownRulesOf({ state: off })).toEqual(OWN_RULES.election);
    expect(ownRulesOf({ leaderElection: off })).toEqual(OWN_RULES.state);
    expect(rolesOf({ state: off, leaderElection: off })).toEqual([
      'ClusterRole * ops-rel-promscaler',
      'ClusterRoleBinding * ops-rel-promscaler',
    ]);
    const binding = render(helm).find(({ kind }) => kind === 'RoleBinding');
    expect(binding).toMatchObject({ roleRef: { kind: 'Role', name: 'rel-promscaler' }, subjects: [ACCOUNT] });
  });

  it('are separate roles if the own namespace is scaled, too', () => {
    expect(rolesOf({ namespaces: ['ops'] }).filter((role) => role.startsWith('Role '))).toEqual([
      'Role ops ops-rel-promscaler',
      'Role ops rel-promscaler',
    ]);
  });

  it('allow reading pods, and patching them only with podDeletionCost.enabled', () => {
    const values = { podDeletionCost: { enabled: true } };
    const patch = { apiGroups: [''], resources: ['pods'], verbs: ['patch'] };

    const [pods, ...others] = RULES;
    expect(at(pick(render(helm, values), 'ClusterRole'), 'rules')).toEqual([pods, patch, ...others]);
  });

  it('allow reading Scalers and patching their status with crd.enabled, the default', () => {
    const values = { crd: { enabled: true } };
    const scalers = [
      { apiGroups: ['promscaler.dev'], resources: ['scalers'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['promscaler.dev'], resources: ['scalers/status'], verbs: ['patch'] },
    ];
    const ofAccount = (objects: readonly Rendered[], kind: string): readonly unknown[] =>
      objects
        .filter(
          (object) => object['kind'] === kind && at(object, 'metadata', 'name') === 'ops-rel-promscaler',
        )
        .map(({ rules }) => rules);

    expect(ofAccount(render(helm, values), 'ClusterRole')).toEqual([[...RULES, ...scalers]]);
    expect(ofAccount(render(helm, { ...values, namespaces: ['shop', 'pay'] }), 'Role')).toEqual([
      [...RULES, ...scalers],
      [...RULES, ...scalers],
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

  it('cover only the configured kinds; outside of apps only their /scale', () => {
    const targets = ['statefulsets', 'rollouts.argoproj.io', 'widgets.example.com', 'gadgets.example.com'];

    expect(at(pick(render(helm, { targets }), 'ClusterRole'), 'rules')).toEqual([
      RULES[0],
      { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['list', 'watch'] },
      { apiGroups: ['apps'], resources: ['statefulsets/scale'], verbs: ['get', 'patch'] },
      { apiGroups: ['argoproj.io'], resources: ['rollouts/scale'], verbs: ['get', 'patch'] },
      {
        apiGroups: ['example.com'],
        resources: ['widgets/scale', 'gadgets/scale'],
        verbs: ['get', 'patch'],
      },
      RULES[3],
      RULES[4],
    ]);
    expect(at(pick(render(helm, { targets: ['replicationcontrollers'] }), 'ClusterRole'), 'rules')).toEqual([
      RULES[0],
      { apiGroups: [''], resources: ['replicationcontrollers/scale'], verbs: ['get', 'patch'] },
      RULES[3],
      RULES[4],
    ]);
    expect(at(pick(render(helm, { targets: ['x.example.com'] }), 'ClusterRole'), 'rules')).toEqual([
      RULES[0],
      { apiGroups: ['example.com'], resources: ['x/scale'], verbs: ['get', 'patch'] },
      RULES[3],
      RULES[4],
    ]);
  });

  it('have no wildcard and no secrets, and allow writing only /scale, Events, the Lease and the state', () => {
    const objects = render(helm);
    const rules = [
      ...listAt(pick(objects, 'ClusterRole'), 'rules'),
      ...listAt(pick(objects, 'Role'), 'rules'),
    ];

    expect(JSON.stringify(rules)).not.toMatch(/\*|secrets|nodes|exec|impersonate|escalate|bind/);
    const written = rules.flatMap((rule) =>
      listAt(rule, 'verbs').some((verb) => !['get', 'list', 'watch'].includes(String(verb)))
        ? listAt(rule, 'resources')
        : [],
    );
    expect(written).toEqual([
      'deployments/scale',
      'statefulsets/scale',
      'replicasets/scale',
      'events',
      'leases',
      'leases',
      'configmaps',
    ]);
    const named = rules.filter((rule) => at(rule, 'resourceNames') !== undefined);
    expect(named.flatMap((rule) => listAt(rule, 'resourceNames'))).toEqual(['promscaler', ...STATES]);
  });

  it('can be managed outside the chart', () => {
    expect(rolesOf({ rbac: { create: false } })).toEqual([]);
    const account = { create: false, name: 'mine' };
    const objects = render(helm, { serviceAccount: account });
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
