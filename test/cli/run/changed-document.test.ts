import { expect, it, jest } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { eventually } from '../../support/manual-clock.js';
import { type Ran, runCli } from '../fake-io.js';
import { ResourceRig, type Service } from './custom-resources-rig.js';

jest.setTimeout(60_000);

const metric = (query: string): JsonObject => ({
  external: { metric: { name: 'load' }, query, target: { averageValue: 10 } },
});

async function start(
  spec: JsonObject = {},
): Promise<{ readonly rig: ResourceRig; readonly service: Service }> {
  const rig = await ResourceRig.create();
  rig.apply('web', spec);
  return { rig, service: rig.start() };
}

function explain({ clock }: ResourceRig, { written }: Service, scaler = 'shop/web'): Promise<Ran> {
  const url = /"url":"(http:[^"]+)"/.exec(written.stderr)?.[1] ?? '';
  return runCli(['explain', scaler, '--url', url], { clock });
}

it('shows a rejected edit in explain, next to the decision of the version before', async () => {
  const { rig, service } = await start();
  await rig.shows('web', 'Ready True Ready');
  const before = await explain(rig, service);

  await rig.edit('web', { metrics: [metric('sum(load')] });
  await rig.shows('web', 'Ready False Invalid');
  const { stdout } = await explain(rig, service);

  expect(before.stdout.split('\n')[3]).toBe('document: generation 1');
  expect(stdout.split('\n')[2]).toMatch(/^state: Rejected/);
  expect(stdout.split('\n')[3]).toBe('document: generation 2 is rejected, this decision is of generation 1:');
  expect(stdout.split('\n')[4]).toMatch(/^ {2}spec\.metrics\[0\]\.external\.query/);
  await rig.edit('web', { metrics: [metric('sum(load)')] });
  await rig.shows('web', 'Ready True Ready');
  // An equal document keeps its scaler, whose generation is then the newest one.
  expect((await explain(rig, service)).stdout.split('\n')[3]).toBe('document: generation 3');
});

it('shows the errors of a document that was never valid', async () => {
  const { rig, service } = await start({ metrics: [metric('sum(load')] });
  await rig.shows('web', 'Ready False Invalid');

  const { exitCode, stderr } = await explain(rig, service);

  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /the document of shop\/web is rejected, and no valid version is in effect:\n {2}scalers\.promscaler\.dev\/shop\/web: spec\.metrics\[0\]/,
  );
});

it('says that the decision is that of the file, if an object has the same name', async () => {
  const file = {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 9, metrics: [metric('sum(load)')] },
  };
  const rig = await ResourceRig.create();
  rig.apply('web', {});
  const service = rig.start({ files: { 'scalers/web.yaml': JSON.stringify(file) } });
  await rig.shows('web', 'Ready False Duplicate');
  const { stdout } = await explain(rig, service);

  expect(stdout.split('\n').slice(3, 5)).toEqual([
    'document: this decision is that of a file; the object with the same name is not used:',
    expect.stringMatching(/^ {2}shop\/web is also in .*: files take precedence, this object is not used$/),
  ]);
});

it.each([
  ['paused', { paused: true, minReplicas: 5 }],
  ['in dry run', { dryRun: true, minReplicas: 5 }],
])('does not show the failure of a query that a version, %s at a bound, has replaced', async (_, spec) => {
  const { rig, service } = await start();
  rig.load = null;
  await rig.shows('web', 'Ready False FailedGetExternalMetric');

  await rig.edit('web', { ...spec, metrics: [metric('sum(other)')] });
  await rig.shows('web', 'Ready Unknown NotEvaluated');

  expect(rig.condition('web', 'ScalingActive')).toMatchObject({
    status: 'Unknown',
    reason: 'NotEvaluated',
    observedGeneration: 2,
  });
  expect((await explain(rig, service)).stdout).not.toContain('FailedGetExternalMetric');
  const url = /"url":"(http:[^"]+)"/.exec(service.written.stderr)?.[1] ?? '';
  const { rows } = (await (await fetch(`${url}/api/v1/overview`)).json()) as {
    readonly rows: readonly { readonly state: { readonly name: string } }[];
  };
  expect(rows.map(({ state }) => state.name)).not.toContain('NoData');
  rig.load = 40;
  await rig.edit('web', { paused: false, dryRun: false });
  await eventually(() => rig.replicas('web') === 5, 'the new version to scale');
  await rig.shows('web', 'Ready True Ready');
});
