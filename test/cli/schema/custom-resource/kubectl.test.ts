import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { SYSTEM_CLOCK } from '../../../../src/cli/system-clock.js';
import { customResourceDefinitionYaml } from '../../../../src/cli/schema/definition.js';
import { type Json, stringAt } from '../../../../src/simulator/kinds/json.js';
import { type Simulator, startSimulator } from '../../../../src/simulator/simulator.js';
import { send } from '../../../simulator/cluster.js';
import { type KubectlResult, kubectlFile, runKubectl } from '../../../support/kubectl.js';

const EXAMPLES = join(import.meta.dirname, '../../../../config/scalers');
const WEB = `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: front, namespace: shop }
spec:
  scaleTargetRef: { name: web }
  minReplicas: 2
  maxReplicas: 5
  tolerance: 0.05
  metrics:
    - resource: { name: cpu, target: { averageUtilization: 60 } }
`;

jest.setTimeout(300_000);

/** Runs the commands of a user with the real kubectl. */
describe('kubectl with the CustomResourceDefinition of schema --crd', () => {
  let simulator: Simulator;
  let home: string;

  const kubectl = (line: string, input?: string): Promise<KubectlResult> =>
    runKubectl(line.split(' '), {
      kubeconfig: join(home, 'config'),
      home,
      ...(input === undefined ? {} : { input }),
    });

  beforeAll(async () => {
    await kubectlFile();
    home = mkdtempSync(join(tmpdir(), 'kubectl-'));
    const namespaces = [
      ...new Set(
        readdirSync(EXAMPLES).flatMap((file) =>
          parseAllDocuments(readFileSync(join(EXAMPLES, file), 'utf8')).flatMap(
            (document) => stringAt(document.toJS() as Json, 'metadata', 'namespace') ?? [],
          ),
        ),
      ),
    ];
    simulator = await startSimulator({ clock: SYSTEM_CLOCK, namespaces: ['shop', ...namespaces] });
    writeFileSync(join(home, 'config'), simulator.kubeconfig({ namespace: 'shop', isForKubectl: true }));
  });

  afterAll(async () => {
    await simulator.close();
    rmSync(home, { recursive: true, force: true });
  });

  it('accepts the definition, also a second time, and establishes it', async () => {
    const created = await kubectl('apply -f -', customResourceDefinitionYaml());
    const again = await kubectl('apply -f -', customResourceDefinitionYaml());
    const waited = await kubectl('wait --for=condition=Established crd/scalers.promscaler.dev --timeout=10s');

    const name = 'customresourcedefinition.apiextensions.k8s.io/scalers.promscaler.dev';
    expect([created.stderr, again.stderr, waited.stderr]).toEqual(['', '', '']);
    expect([created.stdout, again.stdout]).toEqual([`${name} created\n`, `${name} unchanged\n`]);
  });

  it('applies every example, and once more without a change', async () => {
    const versions = (): readonly string[] =>
      simulator
        .listObjects('promscaler.dev/scalers')
        .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);

    const first = await kubectl(`apply -f ${EXAMPLES}`);
    const before = versions();
    const second = await kubectl(`apply -f ${EXAMPLES}`);

    expect([first.stderr, second.stderr]).toEqual(['', '']);
    expect(first.stdout.match(/ created\n/g)?.length).toBeGreaterThanOrEqual(readdirSync(EXAMPLES).length);
    // The server does not store empty labels, so kubectl patches full.yaml each time, without a change.
    const lines = second.stdout.trim().split('\n');
    expect(lines).toHaveLength(first.stdout.match(/\n/g)?.length ?? 0);
    expect(lines.filter((line) => !line.endsWith(' unchanged'))).toEqual([
      'scaler.promscaler.dev/checkout-full configured',
    ]);
    expect(versions()).toEqual(before);
  });

  it('applies a change, shows it in a table, waits for Ready, describes, and deletes', async () => {
    await kubectl('apply -f -', WEB);
    const changed = await kubectl('apply -f -', WEB.replace('maxReplicas: 5', 'maxReplicas: 7'));
    const now = '2026-01-01T00:00:00Z';
    // kubectl waits until the condition is for the current generation: the second.
    const condition = {
      ...{ type: 'Ready', status: 'True', reason: 'Ready', message: 'the target can be scaled' },
      ...{ lastTransitionTime: now, observedGeneration: 2 },
    };
    const shown = { reference: 'Deployment/web', targets: 'cpu: 45%/60%', minReplicas: 2, maxReplicas: 7 };
    const numbers = { currentReplicas: 3, desiredReplicas: 4, ...shown };
    const state = { state: 'OK', stateSince: now };
    const status = { observedGeneration: 2, ...numbers, ...state, conditions: [condition] };
    const waiting = kubectl('wait --for=condition=Ready scaler/front --timeout=15s');
    const path = '/apis/promscaler.dev/v1/namespaces/shop/scalers/front/status';
    const written = await send(simulator, 'PATCH', path, { body: { status } });
    const waited = await waiting;
    const table = await kubectl('get psc front');
    await send(simulator, 'PATCH', path, { body: { status: { state: 'NoTarget', cause: 'web not found' } } });
    const failed = await kubectl('get psc front');
    const wide = await kubectl('get psc front -o wide');
    const described = await kubectl('describe scaler front');
    const deleted = await kubectl('delete scaler front');

    expect(changed.stdout).toBe('scaler.promscaler.dev/front configured\n');
    expect(written.code).toBe(200);
    expect(waited.stdout).toBe('scaler.promscaler.dev/front condition met\n');
    expect(table.stdout).toMatch(
      /^NAME +REFERENCE +TARGETS +MIN +MAX +REPLICAS +DESIRED +STATE +SINCE +AGE\n/,
    );
    expect(table.stdout).toMatch(/\nfront +Deployment\/web +cpu: 45%\/60% +2 +7 +3 +4 +OK +\S+ +\d+s\n$/);
    expect(failed.stdout).toMatch(/ NoTarget +\S+ +\d+s\n$/);
    expect(wide.stdout).toMatch(/ NoTarget +\S+ +web not found +\d+s\n$/);
    expect(described.stdout).toMatch(/ Current Replicas: +3\n/);
    expect(deleted.code).toBe(0);
  });

  it('explains a field with its default', async () => {
    const { stdout } = await kubectl('explain scaler.spec.tolerance');

    expect(stdout).toMatch(/without\s+scaling\.\s+Default: 0\.1\./);
  });

  it.each([
    [
      'a misspelt field',
      'maxReplicas: 5',
      'maxReplicas: 5\n  maxReplica: 5',
      'unknown field "spec.maxReplica"',
    ],
    [
      'a string for a number',
      'minReplicas: 2',
      "minReplicas: '2'",
      'spec.minReplicas in body must be of type integer',
    ],
    ['no ceiling', '  maxReplicas: 5\n', '', 'spec.maxReplicas: Required value'],
    [
      'a metric of no kind',
      'resource: { name: cpu, target: { averageUtilization: 60 } }',
      'metric: { name: rps }',
      'unknown field "spec.metrics[0].metric"',
    ],
    [
      'a metric of type External without external',
      'resource: { name: cpu, target: { averageUtilization: 60 } }',
      'type: External',
      'spec.metrics[0]: Invalid value: "object": a metric of type External must have the field external',
    ],
    [
      'a metric of two kinds',
      'resource: { name: cpu, target: { averageUtilization: 60 } }',
      'pods: { query: a, target: { averageValue: 1 } }\n      external: { query: b, target: { value: 1 } }',
      'spec.metrics[0]: Invalid value: "object": a metric can have only one of resource, containerResource, pods,',
    ],
    [
      'a list for a share',
      'tolerance: 0.05',
      'tolerance: [1]',
      'spec.tolerance in body should have at most 0 items',
    ],
  ])('reports %s at once', async (_, from, to, sentence) => {
    const { code, stderr } = await kubectl('apply -f -', WEB.replace(from, to));

    expect(code).toBe(1);
    expect(stderr).toContain(sentence);
  });
});
