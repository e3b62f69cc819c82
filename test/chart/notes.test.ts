import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SCALER } from './cases.js';
import { CHART, HELM_TIMEOUT_MS, startHelm } from './helm.js';
import type { Helm, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

let helm: Helm;

beforeAll(async () => {
  helm = await startHelm();
});

describe('NOTES.txt', () => {
  const notes = (values: Values): string => {
    const args = ['install', 'rel', CHART, '--dry-run=client', '--namespace', 'ops', '-f', '-'];
    const { code, stdout, stderr } = helm(args, JSON.stringify(values));
    expect({ code, stderr: stderr.replace(/^level=.*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
    return stdout.slice(stdout.indexOf('NOTES:'));
  };

  it('prints the next step: to set an address and a document if none is set', () => {
    expect(notes({})).toContain('--set prometheus.url=');
    expect(notes({})).toContain('| kubectl apply -f -');
    expect(notes({})).toContain('kubectl wait --for=condition=Ready scaler/web -n shop --timeout=5m');
    expect(notes({ crd: { enabled: false } })).toContain('--set-file scalers.');
  });

  it('omits completed steps, and prints where to look', () => {
    const done = notes({
      prometheus: { url: 'http://p' },
      scalers: { web: SCALER },
      namespaces: ['shop', 'pay'],
      dryRun: true,
    });

    expect(done).not.toContain('--set');
    expect(done).not.toContain('WARNING');
    expect(done).toContain('scales workloads in the namespaces shop, pay and patches nothing (dryRun).');
    expect(done).toContain('helm test rel -n ops --logs');
    expect(done).toContain('kubectl logs -f -n ops deployment/rel-promscaler');
  });

  it('names the dashboard: the command and the port-forward, or the URLs of the Ingress', () => {
    const hosts = [{ host: 'a.example.com' }, { host: 'b.example.com' }];
    const ingress = { enabled: true, hosts };
    const tls = [{ secretName: 'tls' }];

    expect(notes({})).toContain('promscaler dashboard    # or http://127.0.0.1:8080/ after the port-forward');
    expect(notes({ ingress })).toContain('  http://a.example.com/\n  http://b.example.com/\n');
    expect(notes({ ingress: { ...ingress, tls } })).toContain('  https://a.example.com/\n');
    expect(notes({ ingress })).not.toContain('promscaler dashboard');
    expect(notes({ dashboard: { enabled: false } })).not.toContain('dashboard');
  });

  it('warns about an exposed API without authentication, and an Ingress that the NetworkPolicy rejects', () => {
    const ingress = { enabled: true, hosts: [{ host: 'a.example.com' }] };
    const open = 'exposes the API, and auth is not set: everybody who reaches it reads all scalers';
    const rejected =
      'WARNING: networkPolicy.ingressFrom is empty: the NetworkPolicy rejects an ingress controller';
    const auth = { tokenReview: true };
    const networkPolicy = { ingressFrom: [{ namespaceSelector: {} }] };

    expect(notes({ ingress })).toContain(`WARNING: the Ingress ${open}`);
    expect(notes({ ingress })).toContain(rejected);
    expect(notes({ service: { type: 'LoadBalancer' } })).toContain(
      `WARNING: the Service of type LoadBalancer ${open}`,
    );
    expect(notes({ ingress, auth, networkPolicy })).not.toContain('WARNING');
    expect(notes({})).not.toContain('WARNING');
  });

  it('asks for no document if ConfigMaps contain them', () => {
    expect(notes({ crd: { enabled: false }, scalerConfigMaps: ['team-a'] })).not.toContain('--set-file');
  });

  it('refers to kubectl if documents are objects, and prints which permissions to grant if the chart grants none', () => {
    const crd = { enabled: true };
    const rule = '  - apiGroups: [promscaler.dev]\n    resources: [scalers]\n    verbs: [list, watch]\n';

    expect(notes({ crd })).toContain('| kubectl apply -f -');
    expect(notes({ crd })).not.toContain('--set-file');
    expect(notes({ crd })).not.toContain(rule);
    expect(notes({ crd, rbac: { create: false } })).toContain(rule);
    expect(notes({ crd: { enabled: false }, rbac: { create: false } })).not.toContain('promscaler.dev');
  });

  it.each([
    ['X-Api-Key', true],
    ['private-token', true],
    ['X-Scope-OrgID', false],
  ])('warns about a header %s: %s', (header, isWarned) => {
    const text = notes({ config: { prometheus: { default: { headers: { [header]: 'canary' } } } } });

    expect(text.includes(`headers.${header} is in a ConfigMap`)).toBe(isWarned);
    expect(text).not.toContain('canary');
  });

  it('warns about several replicas without stored state', () => {
    const state = { enabled: false };

    expect(notes({ replicas: 2, state })).toContain('WARNING: state.enabled is false');
    expect(notes({ replicas: 1, state })).not.toContain('WARNING');
  });
});
