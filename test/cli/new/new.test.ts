import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readScalers } from '../../../src/scaler/read/read-scalers.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { type Ran, folderOf, runCli } from '../fake-io.js';

const NO_CLUSTER = { KUBECONFIG: join(folderOf({}), 'none') };

function runNew(...argv: readonly string[]): Promise<Ran> {
  return runCli(['new', ...argv, '--offline'], { env: NO_CLUSTER });
}

function scalerOf({ stdout, stderr }: Ran): Scaler {
  const { scalers, problems } = readScalers(stdout, 'web.yaml');
  const [scaler] = scalers;
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  if (scaler === undefined) throw new Error(`no document: ${stderr}`);
  return scaler;
}

describe('new', () => {
  it('writes a document with 2 to 5 replicas at 80 % cpu, which validate accepts without a warning', async () => {
    const ran = await runNew(
      'deployment/web',
      '-n',
      'shop',
      '--min',
      '2',
      '--max',
      '5',
      '--cpu-percent',
      '80',
    );

    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(scalerOf(ran)).toMatchObject({
      namespace: 'shop',
      name: 'web',
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        minReplicas: 2,
        maxReplicas: 5,
        metrics: [{ type: 'Resource', name: 'cpu', target: { type: 'Utilization', percent: 80 } }],
      },
    });
    const validated = await runCli(['validate', '-'], { stdin: ran.stdout });
    expect(validated).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('has defaults of 1 for --min, 80 % cpu for the metric and default for the namespace', async () => {
    const scaler = scalerOf(await runNew('web', '--max', '5'));

    expect(scaler).toMatchObject({ namespace: 'default', spec: { minReplicas: 1, preset: 'hpa' } });
    expect(scaler.spec.metrics).toMatchObject([{ name: 'cpu', target: { percent: 80 } }]);
  });

  it('accepts memory only, or cpu, memory and a query together', async () => {
    const memory = scalerOf(await runNew('web', '--max', '5', '--memory-percent', '70'));
    const options = ['--cpu-percent', '60', '--memory-percent', '70', '--query', 'queue', '--value', '2k'];
    const all = scalerOf(await runNew('web', '--max', '5', ...options));

    expect(memory.spec.metrics).toMatchObject([{ name: 'memory', target: { percent: 70 } }]);
    expect(all.spec.metrics).toMatchObject([
      { name: 'cpu', target: { percent: 60 } },
      { name: 'memory', target: { percent: 70 } },
      { name: 'queue', type: 'External', target: { type: 'Value', milli: 2_000_000n } },
    ]);
  });

  it.each(['hpa', 'chpa', 'hpa-1.11'])(
    'comments %s with defaults that are the ones in effect',
    async (preset) => {
      const ran = await runNew('web', '--max', '5', '--preset', preset);
      const spelt = ran.stdout.replace(/^ {2}# (\w+: [\d.]+ #)/gm, '  $1');

      expect(spelt).not.toBe(ran.stdout);
      expect(scalerOf({ ...ran, stdout: spelt }).spec).toEqual(scalerOf(ran).spec);
      const tried = scalerOf({ ...ran, stdout: ran.stdout.replace('# dryRun', 'dryRun') });
      expect(tried.spec).toEqual({ ...scalerOf(ran).spec, dryRun: true });
    },
  );

  it('warns about a preset that scales down after one answer', async () => {
    const { exitCode, stderr } = await runNew('web', '--max', '5', '--preset', 'chpa');

    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      'promscaler: warning: --preset chpa disables stabilization: a single low recommendation scales down immediately; set downscaleConfirmation: {} to require three low recommendations in a row\n',
    );
  });

  it('has a commented field that removes that warning, but not if stabilization does', async () => {
    const chpa = await runNew('web', '--max', '5', '--preset', 'chpa');
    const hpa = await runNew('web', '--max', '5');

    const tried = {
      ...chpa,
      stdout: chpa.stdout.replace('# downscaleConfirmation', 'downscaleConfirmation'),
    };
    expect(scalerOf(tried).spec.downscaleConfirmation).toEqual({ seconds: 60, decisions: 3 });
    expect(hpa.stdout).not.toContain('downscaleConfirmation');
  });

  it('uses the name of --name', async () => {
    expect(scalerOf(await runNew('web', '--max', '5', '--name', 'web-scaler'))).toMatchObject({
      name: 'web-scaler',
      spec: { scaleTargetRef: { name: 'web' } },
    });
  });
});

describe('a workload of new', () => {
  it.each([
    ['web', 'apps/v1', 'Deployment'],
    ['deploy/web', 'apps/v1', 'Deployment'],
    ['Deployment/web', 'apps/v1', 'Deployment'],
    ['deployments.apps/web', 'apps/v1', 'Deployment'],
    ['deployment.v1.apps/web', 'apps/v1', 'Deployment'],
    ['sts/web', 'apps/v1', 'StatefulSet'],
    ['statefulset.apps/web', 'apps/v1', 'StatefulSet'],
    ['rs/web', 'apps/v1', 'ReplicaSet'],
    ['rc/web', 'v1', 'ReplicationController'],
    ['rollout.argoproj.io/web', 'argoproj.io/v1alpha1', 'Rollout'],
    ['rollout/web', 'argoproj.io/v1alpha1', 'Rollout'],
    ['CloneSet.apps.kruise.io/web', 'apps.kruise.io/v1', 'CloneSet'],
    ['CloneSet.v1alpha1.apps.kruise.io/web', 'apps.kruise.io/v1alpha1', 'CloneSet'],
  ])('%s is %s %s', async (target, apiVersion, kind) => {
    const { spec } = scalerOf(await runNew(target, '--max', '5'));

    expect(spec.scaleTargetRef).toEqual({ apiVersion, kind, name: 'web' });
  });
});

describe('a query of new', () => {
  it.each([
    ['sum by (pod) (rate(http_requests_total[1m]))', 'Pods'],
    ['sum(rate(http_requests_total[1m])) by (namespace, pod)', 'Pods'],
    ['rate(http_requests_total{pod=~"$pods"}[1m])', 'Pods'],
    ['sum without (instance) (in_flight{pod=~"$pods"})', 'Pods'],
    ['sum(rate(http_requests_total{pod=~"$pods"}[1m]))', 'External'],
    ['max(sum by (pod) (in_flight))', 'External'],
    ['sum by (queue) (messages)', 'External'],
    ['messages', 'External'],
  ])('%s makes a %s metric', async (query, type) => {
    const { spec } = scalerOf(await runNew('web', '--max', '5', '--query', query, '--average-value', '500m'));

    expect(spec.metrics).toMatchObject([{ type, query, target: { type: 'AverageValue', milli: 500n } }]);
  });

  it('is an External metric with --value, also by (pod)', async () => {
    const query = 'sum by (pod) (x)';

    const { spec } = scalerOf(await runNew('web', '--max', '5', '--query', query, '--value', '1Gi'));

    expect(spec.metrics).toMatchObject([{ type: 'External', target: { type: 'Value' } }]);
  });

  it('can scale the workload to 0, and needs no metric name', async () => {
    const { spec } = scalerOf(
      await runNew('web', '--min', '0', '--max', '5', '--query', 'vector(1)', '--value', '1'),
    );

    expect(spec).toMatchObject({ minReplicas: 0, metrics: [{ name: 'query', query: 'vector(1)' }] });
  });

  it('reads back as written, with any characters in its labels', async () => {
    const characters = fc.string({
      unit: fc.constantFrom(...Array.from("a \\'#:-|>%{}[]&*!@`~,\t\u00e9\u2028\ud83d\ude00")),
    });
    await fc.assert(
      fc.asyncProperty(characters, async (label) => {
        const query = `sum(\n  x{a=${JSON.stringify(label)}}\n\n) # "1": ${label.replace('\n', '')}`.trim();
        const ran = await runNew('web', '--max', '5', '--query', query, '--value', '1');
        expect(scalerOf(ran).spec.metrics).toMatchObject([{ query }]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('wrong usage of new', () => {
  it.each([
    [['web'], '--max is required'],
    [['web', '--max', '0'], '--max is 0, must be an integer from 1 to 2147483647'],
    [['web', '--max', '2147483648'], '--max is 2147483648, must be'],
    [['web', '--max', '1.5'], '--max is 1.5, must be'],
    [['web', '--max', '5', '--min', '6'], '--min is 6, must be at most --max (5)'],
    [
      ['web', '--max', '5', '--min', '0'],
      '--min is 0, which needs a --query that returns a total (an External metric)',
    ],
    [['web', '--max', '5', '--cpu-percent', '0'], '--cpu-percent is 0, must be an integer from 1'],
    [['web', '--max', '5', '--memory-percent', '80%'], '--memory-percent is 80%, must be'],
    [['web', '--max', '5', '--average-value', '1'], '--average-value needs --query'],
    [['web', '--max', '5', '--query', 'x'], '--query needs --average-value (per pod) or --value'],
    [
      ['web', '--max', '5', '--query', 'x', '--value', '1', '--average-value', '1'],
      '--average-value and --value cannot be combined',
    ],
    [['web', '--max', '5', '--query', ' ', '--value', '1'], '--query is empty'],
    [['web', '--max', '5', '--query', 'sum(', '--value', '1'], '--query: "(" is never closed'],
    [['web', '--max', '5', '--query', 'x{a="$pod"}', '--value', '1'], '--query: $pod is not a variable'],
    [['web', '--max', '5', '--query', 'x', '--value', '0x10'], '--value is "0x10", must be a quantity'],
    [
      ['web', '--max', '5', '--query', 'x', '--average-value', '0'],
      '--average-value is 0, must be a quantity',
    ],
    [
      ['web', '--max', '5', '--preset', 'hpa1.11'],
      '--preset is "hpa1.11", must be one of hpa, chpa, hpa-1.11',
    ],
    [['web', '--max', '5', '-n', 'Shop'], '--namespace is "Shop", must be'],
    [['web', '--max', '5', '--name', 'a b'], '--name is "a b", must be'],
    [['Web', '--max', '5'], 'the name of the workload is "Web", must be'],
    [['a/b/c', '--max', '5'], 'must be KIND/NAME, such as deployment/web'],
    [['/web', '--max', '5'], 'must be KIND/NAME'],
    [['depoly/web', '--max', '5'], 'did you mean "deploy"?'],
    [['ds/web', '--max', '5'], 'a DaemonSet runs one pod per node'],
    [['cloneset.apps.kruise.io/web', '--max', '5'], 'Write the kind as in a manifest'],
    [[], "missing required argument 'target'"],
  ])('%j ends with 2: %s', async (argv, sentence) => {
    const { exitCode, stdout, stderr } = await runNew(...argv);

    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toContain('spec.');
  });
});

describe('--output-file', () => {
  it('writes a new file, and does not change an existing one', async () => {
    const cwd = folderOf({});
    const argv = ['new', 'web', '--max', '5', '--offline', '--output-file', 'web.yaml'];

    const first = await runCli(argv, { cwd, env: NO_CLUSTER });
    const before = readFileSync(join(cwd, 'web.yaml'), 'utf8');
    const second = await runCli([...argv, '--min', '2'], { cwd, env: NO_CLUSTER });

    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(first.stdout).toBe('web.yaml created. Next: promscaler validate web.yaml\n');
    expect(before).toContain('"promscaler validate web.yaml"');
    expect(readScalers(before, 'web.yaml').problems).toEqual([]);
    expect(second).toMatchObject({ exitCode: 1, stdout: '' });
    expect(second.stderr).toBe('promscaler: writing web.yaml: the file exists and is not overwritten\n');
    expect(readFileSync(join(cwd, 'web.yaml'), 'utf8')).toBe(before);
  });

  it('accepts any name in an existing directory', async () => {
    const cwd = folderOf({});
    const argv = ['new', 'web', '--max', '5', '--offline', '--output-file'];

    const odd = await runCli([...argv, 'a\nkind: x'], { cwd, env: NO_CLUSTER });
    const nowhere = await runCli([...argv, 'none/web.yaml'], { cwd, env: NO_CLUSTER });

    expect(odd.exitCode).toBe(0);
    expect(existsSync(join(cwd, 'a\nkind: x'))).toBe(true);
    expect(nowhere).toMatchObject({ exitCode: 1, stdout: '' });
    expect(nowhere.stderr).toContain('writing none/web.yaml: the directory does not exist');
  });
});
