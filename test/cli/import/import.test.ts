import { describe, expect, it } from '@jest/globals';
import { type Ran, folderOf, runCli } from '../fake-io.js';

const NO_CLUSTER = { KUBECONFIG: '/nonexistent' };

function hpa(name: string, rest = ''): string {
  return `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: ${name}, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${name} }
  maxReplicas: 5
${rest}`;
}

const PODS =
  '  metrics: [{ type: Pods, pods: { metric: { name: rps }, target: { type: AverageValue, averageValue: "10" } } }]\n';

function runImport(argv: readonly string[], stdin = '', cwd = folderOf({})): Promise<Ran> {
  return runCli(['import', ...argv], { stdin, cwd, env: NO_CLUSTER });
}

function namesIn({ stdout }: Ran): readonly (string | undefined)[] {
  return Array.from(stdout.matchAll(/^ {2}name: (.*)$/gm), ([, name]) => name);
}

describe('import', () => {
  it('prints documents that validate accepts, for a list as kubectl prints it', async () => {
    const items = ['a', 'b'].map((name) => hpa(name).replace(/^/gm, '  ').replace('  ', '- '));
    const list = `apiVersion: v1\nitems:\n${items.join('\n')}\nkind: List\nmetadata: { resourceVersion: "" }\n`;
    const ran = await runImport(['-'], list);

    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(namesIn(ran)).toEqual(['a', 'b']);
    const validated = await runCli(['validate', '-'], { stdin: ran.stdout });
    expect(validated).toMatchObject({
      exitCode: 0,
      stdout:
        'without --live, validate does not check whether the metrics, labels and target exist, nor the number of series, units and permissions\n2 documents, 0 errors, 0 warnings\n',
    });
  });

  it('names two autoscalers of one target, and converts both', async () => {
    const ran = await runImport(
      ['-'],
      `${hpa('a')}---\n${hpa('b').replace('Deployment, name: b', 'Deployment, name: a')}`,
    );

    expect(ran.exitCode).toBe(0);
    expect(namesIn(ran)).toEqual(['a', 'b']);
    expect(ran.stderr).toBe(
      '-: HPA shop/b has the same target as HPA shop/a: promscaler scales this target only after one of the documents is removed\n',
    );
  });

  it('reports an autoscaler of an unknown API version, and converts the others', async () => {
    const unknown = hpa('b').replace('autoscaling/v2', 'autoscaling/v3');
    const ran = await runImport(['-'], `${hpa('a')}---\n${unknown}`);

    expect(ran.exitCode).toBe(1);
    expect(namesIn(ran)).toEqual(['a']);
    expect(ran.stderr).toBe(
      '-: HPA shop/b: apiVersion is "autoscaling/v3", which is not supported\n-: HPA shop/b: not imported\n',
    );
  });

  it('skips an HPA that KEDA created with one note, and fails only without another document or with --strict', async () => {
    const owner = '{ apiVersion: keda.sh/v1alpha1, kind: ScaledObject, name: worker, controller: true }';
    const ofKeda = hpa('keda').replace('shop }', `shop, ownerReferences: [${owner}] }`);
    const ran = await runImport(['-'], `${hpa('a')}---\n${ofKeda}`);
    const strict = await runImport(['-', '--strict'], `${hpa('a')}---\n${ofKeda}`);
    const alone = await runImport(['-'], ofKeda);

    const stderr =
      '-: HPA shop/keda is not imported: KEDA created it from ScaledObject shop/worker. Import the ScaledObject instead: kubectl get scaledobjects -A -o yaml\n';
    expect(ran).toMatchObject({ exitCode: 0, stderr });
    expect(namesIn(ran)).toEqual(['a']);
    expect(strict).toMatchObject({ exitCode: 1, stderr });
    expect(alone).toMatchObject({ exitCode: 1, stdout: '', stderr });
  });

  it('reads files, directories and standard input in their order', async () => {
    const cwd = folderOf({
      'x/b.yaml': hpa('b'),
      'x/a.yml': hpa('a'),
      'x/c.txt': hpa('c'),
      'd.json': hpa('d'),
    });
    const ran = await runImport(['d.json', 'x', '-'], hpa('e'), cwd);

    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(namesIn(ran)).toEqual(['d', 'a', 'b', 'e']);
  });

  it.each([
    ['a list', (objects: readonly unknown[]) => JSON.stringify({ kind: 'List', items: objects }, null, 2)],
    [
      'a typed list',
      (objects: readonly object[]) =>
        JSON.stringify({
          kind: 'HorizontalPodAutoscalerList',
          apiVersion: 'autoscaling/v2',
          items: objects.map((one) => ({ ...one, kind: undefined, apiVersion: undefined })),
        }),
    ],
    [
      'values one after the other',
      (objects: readonly unknown[]) => objects.map((one) => JSON.stringify(one, null, 2)).join('\n'),
    ],
    [
      'one value per line',
      (objects: readonly unknown[]) => objects.map((one) => JSON.stringify(one)).join('\n'),
    ],
    [
      'YAML documents in JSON',
      (objects: readonly unknown[]) => objects.map((one) => `---\n${JSON.stringify(one)}`).join('\n'),
    ],
  ])('reads JSON: %s', async (_, write) => {
    const objects = ['a', 'b'].map((name) => ({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name, namespace: 'shop', annotations: { 'example.com/x': '{"[\\"' } },
      spec: { scaleTargetRef: { kind: 'Deployment', name }, maxReplicas: 3 },
    }));
    const ran = await runImport(['-'], write(objects));

    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(namesIn(ran)).toEqual(['a', 'b']);
  });

  it.each([
    ['not YAML', 'a: b: c', '-:3:4: error: not YAML'],
    ['too deep', '['.repeat(100), '-:3:64: error: the document is nested deeper than 64 levels [too-deep]'],
    ['a template', 'metadata: {{ x }}', 'helm template CHART | promscaler import -'],
    ['an alias', 'a: &x 1\nb: *x', '-:4:4: error: *x is an alias'],
    [
      'without a name',
      'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler',
      '-: HPA (without a name): metadata.name is missing',
    ],
  ])('exits with 1 for one document that is %s, and imports the others', async (_, bad, message) => {
    const [first, second] = ['a', 'b'].map((name) =>
      JSON.stringify({
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name, namespace: 'x' },
        spec: { scaleTargetRef: { name, kind: 'Deployment' }, maxReplicas: 3 },
      }),
    );
    const ran = await runImport(['-'], `--- ${first ?? ''}\n---\n${bad}\n---\n${second ?? ''}\n`);

    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain(message);
    expect(namesIn(ran)).toEqual(['a', 'b']);
  });

  it('reports file, object and field of lost settings, and fails only with --strict', async () => {
    const cwd = folderOf({ 'hpa.yaml': `${hpa('a', PODS)}---\n${hpa('b')}` });
    const usual = await runImport(['hpa.yaml'], '', cwd);
    const strict = await runImport(['hpa.yaml', '--strict'], '', cwd);

    const line =
      'hpa.yaml: HPA shop/a: spec.metrics[0]: FILL IN the query of this Pods metric "rps": pass the rules of prometheus-adapter with --adapter-config\n';
    expect(usual).toMatchObject({ exitCode: 0, stderr: line });
    expect(namesIn(usual)).toEqual(['a', 'b']);
    expect(strict).toMatchObject({
      exitCode: 1,
      stderr: `${line}hpa.yaml: HPA shop/a: not imported, because --strict requires a complete conversion\n`,
    });
    expect(namesIn(strict)).toEqual(['b']);
  });

  it('reads queries from the config of prometheus-adapter', async () => {
    const adapter = `rules:
  - seriesQuery: 'requests_total{pod!=""}'
    resources: { template: <<.Resource>> }
    name: { as: rps }
    metricsQuery: sum(rate(<<.Series>>{<<.LabelMatchers>>}[1m])) by (<<.GroupBy>>)
resourceRules:
  cpu: { containerQuery: 'my_cpu{<<.LabelMatchers>>}' }
`;
    const cwd = folderOf({ 'hpa.yaml': hpa('a', PODS), 'adapter.yaml': adapter });
    const ran = await runImport(['hpa.yaml', '--adapter-config', 'adapter.yaml', '--strict'], '', cwd);

    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toBe(
      'adapter.yaml: resourceRules.cpu: Resource metrics use the field resourceQueries.cpu of the data source. Set this field to my_cpu{namespace=~"$namespaces"}\n',
    );
    expect(ran.stdout).toContain(
      'query: sum(rate(requests_total{namespace="$namespace", pod=~"$pods"}[1m])) by (pod)\n',
    );
  });

  it.each([
    ['that does not exist', 'none.yaml', '--adapter-config: reading none.yaml: '],
    ['without rules', 'hpa.yaml', '--adapter-config: hpa.yaml: has no rules of prometheus-adapter'],
  ])('fails for a config %s', async (_, file, message) => {
    const ran = await runImport(
      ['hpa.yaml', '--adapter-config', file],
      '',
      folderOf({ 'hpa.yaml': hpa('a') }),
    );

    expect(ran).toMatchObject({ exitCode: 1, stdout: '' });
    expect(ran.stderr).toContain(message);
  });

  it('sets dryRun and the namespace on request', async () => {
    const text = hpa('a').replace(', namespace: shop', '');
    const ran = await runImport(['-', '-n', 'prod', '--dry-run'], text);

    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ran.stdout).toContain('  namespace: prod\n');
    expect(ran.stdout).toContain('  dryRun: true\n');
    expect(ran.stdout).toContain('    promscaler.dev/adopted-from: HorizontalPodAutoscaler/a\n');
    expect((await runImport(['-'], text)).stdout).not.toContain('promscaler.dev/adopted-from');
  });

  it('ignores other objects next to an autoscaler, and fails if there is no autoscaler', async () => {
    const service = 'apiVersion: v1\nkind: Service\nmetadata: { name: a }\n';
    const both = await runImport(['-'], `${service}---\n${hpa('a')}`);
    const none = await runImport(['-'], `${service}---\n${service}`);
    const empty = await runImport(['-'], '# nothing\n');

    expect(both).toMatchObject({ exitCode: 0, stderr: '' });
    expect(none).toMatchObject({
      exitCode: 1,
      stderr: 'promscaler: no autoscaler to import: the input has 2 Service\n',
    });
    expect(empty).toMatchObject({
      exitCode: 1,
      stderr: 'promscaler: no autoscaler to import: the input has no documents\n',
    });
  });

  it('reads a list of more than 1 MiB and 20,000 tokens', async () => {
    const items = Array.from({ length: 500 }, (_, index) => ({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: {
        name: `a-${index}`,
        namespace: 'shop',
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(2500) },
      },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: `a-${index}` },
        maxReplicas: 3,
      },
    }));
    const cwd = folderOf({ 'all.yaml': `apiVersion: v1\nkind: List\nitems: ${JSON.stringify(items)}\n` });
    const ran = await runImport(['all.yaml'], '', cwd);

    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(namesIn(ran)).toHaveLength(500);
  });
});
