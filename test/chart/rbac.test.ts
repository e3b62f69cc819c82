import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { HELM_TIMEOUT_MS, at, listAt, pick, render, startHelm, textAt } from './helm.js';
import type { Helm } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const RULES = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: ['apps'],
    resources: ['deployments', 'statefulsets', 'replicasets'],
    verbs: ['get', 'list', 'watch'],
  },
  {
    apiGroups: ['apps'],
    resources: ['deployments/scale', 'statefulsets/scale', 'replicasets/scale'],
    verbs: ['get', 'patch'],
  },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'], verbs: ['list'] },
];

const ACCOUNT = { kind: 'ServiceAccount', name: 'rel-promscaler', namespace: 'ops' };

describe('the rights', () => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm();
  });

  const kindsOf = (values: Parameters<typeof render>[1]): readonly string[] =>
    render(helm, values)
      .map((object) => textAt(object, 'kind'))
      .filter((kind) => /Role/.test(kind));

  it('are these and no others, in all namespaces by default', () => {
    const objects = render(helm);

    expect(at(pick(objects, 'ClusterRole'), 'rules')).toEqual(RULES);
    expect(pick(objects, 'ClusterRoleBinding')).toMatchObject({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'ops-rel-promscaler' },
      subjects: [ACCOUNT],
    });
    expect(kindsOf({})).toEqual(['ClusterRole', 'ClusterRoleBinding']);
  });

  it('are the same in the given namespaces, and nothing outside of them', () => {
    const namespaces = ['shop', 'on', '012'];
    const objects = render(helm, { namespaces });

    const roles = objects.filter(({ kind }) => kind === 'Role');
    const bindings = objects.filter(({ kind }) => kind === 'RoleBinding');
    expect(roles.map((role) => at(role, 'metadata', 'namespace'))).toEqual(namespaces);
    expect(bindings.map((binding) => at(binding, 'metadata', 'namespace'))).toEqual(namespaces);
    for (const role of roles) expect(role['rules']).toEqual(RULES);
    for (const binding of bindings) {
      expect(binding).toMatchObject({
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'ops-rel-promscaler' },
        subjects: [ACCOUNT],
      });
    }
    expect(kindsOf({ namespaces })).not.toContain('ClusterRole');
    expect(kindsOf({ namespaces })).not.toContain('ClusterRoleBinding');
  });

  it('are for the given kinds alone; outside of apps for their /scale alone', () => {
    const targets = ['statefulsets', 'rollouts.argoproj.io', 'widgets.example.com', 'gadgets.example.com'];

    expect(at(pick(render(helm, { targets }), 'ClusterRole'), 'rules')).toEqual([
      RULES[0],
      { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'watch'] },
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
    expect(at(pick(render(helm, { targets: ['x.example.com'] }), 'ClusterRole'), 'rules')).toEqual([
      RULES[0],
      { apiGroups: ['example.com'], resources: ['x/scale'], verbs: ['get', 'patch'] },
      RULES[3],
      RULES[4],
    ]);
  });

  it('have no wildcard and no secrets, and patch /scale and Events alone', () => {
    const rules = listAt(pick(render(helm), 'ClusterRole'), 'rules');

    expect(JSON.stringify(rules)).not.toMatch(/\*|secrets|nodes|exec|impersonate|escalate|bind/);
    const written = rules.flatMap((rule) =>
      listAt(rule, 'verbs').some((verb) => !['get', 'list', 'watch'].includes(String(verb)))
        ? listAt(rule, 'resources')
        : [],
    );
    expect(written).toEqual(['deployments/scale', 'statefulsets/scale', 'replicasets/scale', 'events']);
  });

  it('can be left to someone else', () => {
    expect(kindsOf({ rbac: { create: false } })).toEqual([]);
    const account = { create: false, name: 'mine' };
    const objects = render(helm, { serviceAccount: account });
    expect(objects.map(({ kind }) => kind)).not.toContain('ServiceAccount');
    expect(at(pick(objects, 'Deployment'), 'spec', 'template', 'spec', 'serviceAccountName')).toBe('mine');
    expect(at(pick(objects, 'ClusterRoleBinding'), 'subjects', 0, 'name')).toBe('mine');
  });
});

describe('the token', () => {
  it('is asked for by the pod alone', async () => {
    const objects = render(await startHelm());

    expect(pick(objects, 'ServiceAccount')['automountServiceAccountToken']).toBe(false);
    const pod = at(pick(objects, 'Deployment'), 'spec', 'template', 'spec');
    expect(at(pod, 'automountServiceAccountToken')).toBe(true);
    expect(at(pod, 'serviceAccountName')).toBe('rel-promscaler');
  });
});
