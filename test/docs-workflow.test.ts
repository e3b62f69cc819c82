import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { folderOf } from './cli/fake-io.js';
import { codeBlocksOf } from './docs/code-blocks.js';
import { ROOT } from './docs/pages.js';

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { readonly name?: string; readonly run?: string }[] }>
  >;
}

const block = codeBlocksOf('docs/guides/tune.md').find(({ text }) => text.includes('runs-on:'));
const workflow = parse(block?.text ?? '') as Workflow;
const steps = Object.values(workflow.jobs)
  .flatMap((job) => job.steps)
  .flatMap(({ name = '', run }) => (run === undefined ? [] : [{ name, run }]));

const documentOf = (maxReplicas: number): string => `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { name: web }
  maxReplicas: ${maxReplicas}
  metrics:
    - resource: { name: cpu, target: { averageUtilization: 70 } }
`;
const TEST = `scalers: [../scalers/web.yaml]
tests:
  - name: twice the usage needs twice the pods
    replicas: 4
    series: [{ metric: cpu, values: 140 }]
    expect: [{ at: 0s, replicas: 8 }]
`;
/** Half an hour of a load of 200: 5 pods at a capacity of 40, and 8 at a target of 70 %. */
const LOAD = `t_seconds,value\n${Array.from({ length: 30 }, (_, minute) => `${minute * 60},200\n`).join('')}`;

/** Runs a step as GitHub does. */
function runStep(run: string, document: string): { readonly status: number | null; readonly output: string } {
  const folder = folderOf({
    'scalers/web.yaml': document,
    'tests/web.yaml': TEST,
    'loads/web.csv': LOAD,
    'bin/README': '',
    'summary.md': '',
  });
  symlinkSync(join(ROOT, 'dist/cli/main.js'), join(folder, 'bin/promscaler'));
  const path = `${join(folder, 'bin')}:${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`;
  const env = { PATH: path, GITHUB_STEP_SUMMARY: join(folder, 'summary.md') };
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', run], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr + readFileSync(join(folder, 'summary.md'), 'utf8') };
}

describe('the workflow for pull requests', () => {
  const checks = steps.filter(({ name }) => name !== 'install');
  const runAll = (document: string): Record<string, number | null> =>
    Object.fromEntries(checks.map(({ name, run }) => [name, runStep(run, document).status]));

  it('installs the version of this checkout', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(steps[0]).toEqual({ name: 'install', run: `npm install --global promscaler@${version}` });
  });

  it('accepts a document with enough pods', () => {
    expect(runAll(documentOf(20))).toEqual({ validate: 0, test: 0, 'back-test': 0 });
  });

  it('rejects a maximum of 4 pods by its test, and by the back-test: 1 of 5 pods is missing', () => {
    expect(runAll(documentOf(4))).toEqual({ validate: 0, test: 1, 'back-test': 1 });

    const outputOf = (wanted: string): string =>
      runStep(checks.find(({ name }) => name === wanted)?.run ?? '', documentOf(4)).output;
    expect(outputOf('test')).toMatch(/^::error file=tests\/web.yaml,line=\d+/m);
    expect(outputOf('back-test')).toMatch(/^\| scalers\/web.yaml \| 20.00 \|/m);
  });

  it('rejects an invalid document in each step', () => {
    const statuses = runAll(documentOf(0));
    expect(statuses).toEqual({ validate: 1, test: 1, 'back-test': 1 });
  });
});
