import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { folderOf } from './cli/fake-io.js';
import { codeBlocksOf } from './docs/code-blocks.js';
import { ROOT } from './docs/pages.js';
import { scalerYaml } from './support/scaler-yaml.js';

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly steps: readonly Step[];
  readonly permissions?: unknown;
  readonly if?: string;
  readonly needs?: string;
}

interface Workflow {
  readonly on: unknown;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const block = codeBlocksOf('docs/guides/tune.md').find(({ text }) => text.includes('runs-on:'));
const workflow = parse(block?.text ?? '') as Workflow;
const steps = (workflow.jobs['check']?.steps ?? []).flatMap(({ name = '', run }) =>
  run === undefined ? [] : [{ name, run }],
);

/** The bundle, which starts in half the CPU time of dist/cli/main.js. */
const CLI = join(ROOT, 'dist/bundle/main.js');

const TEST = `scalers: [../scalers/web.yaml]
tests:
  - name: twice the usage needs twice the pods
    replicas: 4
    series: [{ metric: cpu, values: 140 }]
    expect: [{ at: 0s, replicas: 8 }]
`;
/** Half an hour of a load of 200: 5 pods at a capacity of 40, and 8 at a target of 70 %. */
const LOAD = `t_seconds,value\n${Array.from({ length: 30 }, (_, minute) => `${minute * 60},200\n`).join('')}`;

interface StepRun {
  readonly status: number | null;
  readonly output: string;
  /** The file for the comment. */
  readonly report: string;
}

/** Prints its arguments and the file that it would send. */
const GH = `#!/bin/sh
echo "$GH_TOKEN" "$GH_REPO" "$@"
for last; do :; done
cat "$last"
`;

/** Runs a step as GitHub does with `shell: bash`. */
function runStep(run: string, document: string, more: NodeJS.ProcessEnv = {}): StepRun {
  const folder = folderOf({
    'scalers/web.yaml': document,
    'tests/web.yaml': TEST,
    'loads/web.csv': LOAD,
    'bin/README': '',
    'summary.md': '',
    'back-test.md': 'the table of the last step',
    'bin/gh': GH,
  });
  for (const file of [join(folder, 'bin/gh'), CLI]) chmodSync(file, 0o755);
  symlinkSync(CLI, join(folder, 'bin/promscaler'));
  const path = `${join(folder, 'bin')}:${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`;
  const env = { PATH: path, GITHUB_STEP_SUMMARY: join(folder, 'summary.md'), ...more };
  const { status, stdout, stderr } = spawnSync('bash', ['-eo', 'pipefail', '-c', run], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
  return { status, output: stdout + stderr + textOf('summary.md'), report: textOf('back-test.md') };
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
    expect(runAll(scalerYaml({ maxReplicas: 20 }))).toEqual({ validate: 0, test: 0, 'back-test': 0 });
  });

  it('rejects a maximum of 4 pods by its test, and by the back-test: 1 of 5 pods is missing', () => {
    expect(runAll(scalerYaml({ maxReplicas: 4 }))).toEqual({ validate: 0, test: 1, 'back-test': 1 });

    const outputOf = (wanted: string): string =>
      runStep(checks.find(({ name }) => name === wanted)?.run ?? '', scalerYaml({ maxReplicas: 4 })).output;
    expect(outputOf('test')).toMatch(/^::error file=tests\/web.yaml,line=\d+/m);
    expect(outputOf('back-test')).toMatch(/^\| scalers\/web.yaml \| 20.00 \|/m);
  });

  it('rejects an invalid document in each step', () => {
    const statuses = runAll(scalerYaml({ maxReplicas: 0 }));
    expect(statuses).toEqual({ validate: 1, test: 1, 'back-test': 1 });
  });

  it('has the table for the comment, also if the back-test fails', () => {
    const { run = '' } = checks.find(({ name }) => name === 'back-test') ?? {};

    const { status, output, report } = runStep(run, scalerYaml({ maxReplicas: 4 }));

    expect(status).toBe(1);
    expect(report).toMatch(/^\| {2}\| theta_U % \|[^]*^\| scalers\/web.yaml \| 20.00 \|/m);
    expect(output).toContain(report);
  });
});

describe('the comment on the pull request', () => {
  const job = workflow.jobs['comment'];
  const step = job?.steps.find(({ name }) => name === 'comment');

  it('is the only job that may write, and it runs nothing of the pull request', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(Object.keys(workflow.on as object)).toEqual(['pull_request']);
    expect(workflow.jobs['check']?.permissions).toBeUndefined();
    expect(job?.permissions).toEqual({ 'pull-requests': 'write' });
    expect(job?.steps.map(({ uses, name }) => uses ?? name)).toEqual([
      'actions/download-artifact@v4',
      'comment',
    ]);
  });

  it('is written for branches of the repository, if there is a report, also if a check failed', () => {
    expect(job?.needs).toBe('check');
    expect(job?.if).toBe(
      "${{ !cancelled() && needs.check.outputs.report != '' && github.event.pull_request.head.repo.full_name == github.repository }}",
    );
  });

  it('edits its last comment, or creates one, from the file', () => {
    const values = Object.fromEntries(Object.keys(step?.env ?? {}).map((name) => [name, `the-${name}`]));

    const { status, output } = runStep(step?.run ?? '', scalerYaml({ maxReplicas: 20 }), values);

    expect(status).toBe(0);
    expect(output).toContain(
      'the-GH_TOKEN the-GH_REPO pr comment the-NUMBER --edit-last --create-if-none --body-file back-test.md\nthe table of the last step',
    );
  });

  it('has no expression inside of a script, where a name could become code', () => {
    const scripts = Object.values(workflow.jobs).flatMap(({ steps: all }) => all.map(({ run = '' }) => run));

    expect(scripts.filter((run) => run.includes('${{'))).toEqual([]);
  });
});
