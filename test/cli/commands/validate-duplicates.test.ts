import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../fake-io.js';

const GOOD = `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { name: web }
  maxReplicas: 3
`;

describe('validate, for two documents with one name,', () => {
  it('rejects both of two documents with one name in two files', async () => {
    const cwd = folderOf({ 'a.yaml': GOOD, 'b.yaml': GOOD });

    const { exitCode, stdout } = await runCli(['validate', 'a.yaml', 'b.yaml'], { cwd });

    expect(exitCode).toBe(1);
    expect(stdout).toContain('a.yaml:3:19: error: shop/web is also in b.yaml:3');
    expect(stdout).toContain('\n2 documents, 1 error, 0 warnings\n');
  });
});

describe('validate, for two documents with one target,', () => {
  const second = GOOD.replace('name: web, namespace', 'name: second, namespace');

  it('reports it once, with the name of the other', async () => {
    const cwd = folderOf({ 'a.yaml': GOOD, 'b.yaml': second });

    const { exitCode, stdout } = await runCli(['validate', '.'], { cwd });

    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'a.yaml:5:19: error: this document and Scaler shop/second both scale deployment shop/web, so promscaler patches the target for neither of the two documents',
    );
    expect(stdout).toContain('2 documents, 1 error, 0 warnings\n');
  });

  it('names both others of three', async () => {
    const third = GOOD.replace('name: web, namespace', 'name: third, namespace');
    const cwd = folderOf({ 'a.yaml': GOOD, 'b.yaml': second, 'c.yaml': third });

    const { stdout } = await runCli(['validate', '.'], { cwd });

    expect(stdout).toContain(
      'a.yaml:5:19: error: this document and Scaler shop/second, Scaler shop/third all scale deployment shop/web, so promscaler patches the target for none of these documents',
    );
    expect(stdout).toContain('3 documents, 1 error, 0 warnings\n');
  });

  it('accepts one in dry run next to one that scales', async () => {
    const cwd = folderOf({
      'a.yaml': GOOD,
      'b.yaml': second.replace('  scaleT', '  dryRun: true\n  scaleT'),
    });

    expect((await runCli(['validate', '.'], { cwd })).stdout).toContain('2 documents, 0 errors');
  });

  it('accepts the same name in two namespaces and another kind', async () => {
    const other = second.replace('{ name: web }', '{ name: web, kind: StatefulSet }');
    const cwd = folderOf({
      'a.yaml': GOOD,
      'b.yaml': other,
      'c.yaml': GOOD.replace('namespace: shop', 'namespace: lab'),
    });

    expect((await runCli(['validate', '.'], { cwd })).stdout).toContain('3 documents, 0 errors');
  });
});
