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

  it('names the next step: an address and a document where none is given', () => {
    expect(notes({})).toContain('--set prometheus.url=');
    expect(notes({})).toContain('--set-file scalers.');
  });

  it('leaves out what is done, and says where to look', () => {
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

  it('asks for no document where ConfigMaps bring them', () => {
    expect(notes({ scalerConfigMaps: ['team-a'] })).not.toContain('--set-file');
  });

  it('leads to kubectl where documents are objects, and tells what to grant where the chart grants nothing', () => {
    const crd = { enabled: true };
    const rule = '- { apiGroups: [promscaler.dev], resources: [scalers], verbs: [get, list, watch] }';

    expect(notes({ crd })).toContain('| kubectl apply -f -');
    expect(notes({ crd })).not.toContain('--set-file');
    expect(notes({ crd })).not.toContain(rule);
    expect(notes({ crd, rbac: { create: false } })).toContain(rule);
    expect(notes({ rbac: { create: false } })).not.toContain('promscaler.dev');
  });

  it.each([
    ['X-Api-Key', true],
    ['private-token', true],
    ['X-Scope-OrgID', false],
  ])('warns of a header %s: %s', (header, isWarned) => {
    const text = notes({ config: { prometheus: { default: { headers: { [header]: 'canary' } } } } });

    expect(text.includes(`headers.${header} is in a ConfigMap`)).toBe(isWarned);
    expect(text).not.toContain('canary');
  });

  it('warns of replicas that tell each other nothing', () => {
    const state = { enabled: false };

    expect(notes({ replicas: 2, state })).toContain('WARNING: state.enabled is false');
    expect(notes({ replicas: 1, state })).not.toContain('WARNING');
  });
});
