import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { findHelm } from '../programs/find-programs.js';

jest.setTimeout(300_000);

const ROOT = join(import.meta.dirname, '../..');
const SCRIPT = join(ROOT, 'test/e2e/kind.sh');
const MANIFESTS = join(ROOT, 'test/e2e/manifests');

/** kind is not installed here: scripts replace it, kubectl and helm, and record their arguments. */
describe('kind.sh', () => {
  let helm: string;
  let directory: string;

  beforeAll(async () => {
    helm = await findHelm({ env: process.env, clock: SYSTEM_CLOCK });
  });

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'kind-'));
  });

  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const stub = (name: string, body: string): void => {
    const file = join(directory, name);
    writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' "${name} $*" >> "${directory}/calls"\n${body}\n`);
    chmodSync(file, 0o755);
  };
  /** Runs the script on a cluster where `checkout` has this number of replicas; helm renders the objects to install. */
  const run = (replicas: number): { code: number | null; calls: readonly string[]; rendered: string } => {
    stub('kind', 'test "$1" = get && echo "{}"; true');
    stub('kubectl', `case "$*" in *jsonpath*) echo ${replicas};; esac`);
    stub('sleep', '');
    stub(
      'helm',
      `case "$1" in
upgrade) shift 2; exec "${helm}" template "$@" > "${directory}/rendered";;
template) test -d "${ROOT}/charts/promscaler/templates" ;;
esac`,
    );
    const env = { ...process.env, PATH: `${directory}:${process.env['PATH'] ?? ''}`, TMPDIR: directory };
    const { status } = spawnSync('bash', [SCRIPT, 'lab', 'registry.example/promscaler:7'], { env });
    const calls = readFileSync(join(directory, 'calls'), 'utf8').trim().split('\n');
    return { code: status, calls, rendered: readFileSync(join(directory, 'rendered'), 'utf8') };
  };
  const indexOf = (calls: readonly string[], start: string): number =>
    calls.findIndex((call) => call.startsWith(start));

  it('installs the chart with the loaded image, tests it after the scale-up, and removes everything', () => {
    const { code, calls, rendered } = run(3);

    expect(code).toBe(0);
    const order = [
      'kind get kubeconfig --name lab',
      'kind load docker-image registry.example/promscaler:7 --name lab',
      'kubectl apply -f test/e2e/manifests',
      'helm upgrade --install promscaler charts/promscaler',
      'kubectl get deployment checkout -n shop -o jsonpath',
      'helm test promscaler',
      'helm uninstall promscaler',
      'kubectl delete -f test/e2e/manifests',
    ].map((start) => indexOf(calls, start));
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(rendered).toContain('image: "registry.example/promscaler:7"');
    expect(rendered).toContain('http://prometheus.promscaler-kind:9090');
    expect(rendered).toMatch(/resourceWindowSeconds: 60\b/);
    expect(rendered).toContain('name: checkout, namespace: shop');
    expect(readdirSync(directory).filter((name) => name.startsWith('tmp.'))).toEqual([]);
  });

  it('fails if 2 replicas do not become 3 within 100 polls, and removes everything as well', () => {
    const { code, calls } = run(2);

    expect(code).toBe(1);
    expect(calls.filter((call) => call.includes('jsonpath'))).toHaveLength(100);
    expect(indexOf(calls, 'helm test')).toBe(-1);
    expect(indexOf(calls, 'helm uninstall')).toBeGreaterThan(0);
    expect(indexOf(calls, 'kubectl delete')).toBeGreaterThan(0);
  });

  it('has manifests whose Deployments select their own pods and do not need root', () => {
    for (const file of readdirSync(MANIFESTS)) {
      const documents = parseAllDocuments(readFileSync(join(MANIFESTS, file), 'utf8'));
      const objects = documents.map((document) => {
        expect(document.errors).toEqual([]);
        return document.toJS() as Manifest;
      });
      expect(objects[0]?.kind).toBe('Namespace');
      for (const { spec } of objects.filter(({ kind }) => kind === 'Deployment')) {
        expect(spec?.template.metadata.labels).toEqual(spec?.selector.matchLabels);
        expect(spec?.template.spec.securityContext.runAsNonRoot).toBe(true);
      }
    }
  });
});

interface Manifest {
  readonly kind: string;
  readonly spec?: {
    readonly selector: { readonly matchLabels: unknown };
    readonly template: {
      readonly metadata: { readonly labels: unknown };
      readonly spec: { readonly securityContext: { readonly runAsNonRoot?: boolean } };
    };
  };
}
