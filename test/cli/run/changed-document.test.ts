import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { eventually } from '../../support/manual-clock.js';
import { type Ran, runCli } from '../fake-io.js';
import { ResourceFixture, type Service } from './custom-resources-fixture.js';

const metric = (query: string): JsonObject => ({
  external: { metric: { name: 'load' }, query, target: { averageValue: 10 } },
});

async function start(
  spec: JsonObject = {},
): Promise<{ readonly fixture: ResourceFixture; readonly service: Service }> {
  const fixture = await ResourceFixture.create();
  fixture.apply('web', spec);
  return { fixture, service: fixture.start() };
}

function explain({ clock }: ResourceFixture, { written }: Service, scaler = 'shop/web'): Promise<Ran> {
  const url = /"url":"(http:[^"]+)"/.exec(written.stderr)?.[1] ?? '';
  return runCli(['explain', scaler, '--url', url], { clock });
}

it('shows a rejected edit in explain, next to the decision of the version before', async () => {
  const { fixture, service } = await start();
  await fixture.shows('web', 'Ready True Ready');
  const before = await explain(fixture, service);

  await fixture.edit('web', { metrics: [metric('sum(load')] });
  await fixture.shows('web', 'Ready False Invalid');
  const { stdout } = await explain(fixture, service);

  expect(before.stdout.split('\n')[3]).toBe('document: generation 1');
  expect(stdout.split('\n')[2]).toMatch(/^state: Rejected/);
  expect(stdout.split('\n')[3]).toBe(
    'document: this decision uses generation 1, because generation 2 is rejected:',
  );
  expect(stdout.split('\n')[4]).toMatch(/^ {2}spec\.metrics\[0\]\.external\.query/);
  await fixture.edit('web', { metrics: [metric('sum(load)')] });
  await fixture.shows('web', 'Ready True Ready');
  // An equal document keeps its scaler, whose generation is then the newest one.
  expect((await explain(fixture, service)).stdout.split('\n')[3]).toBe('document: generation 3');
});

it('shows the errors of a document that was never valid', async () => {
  const { fixture, service } = await start({ metrics: [metric('sum(load')] });
  await fixture.shows('web', 'Ready False Invalid');

  const { exitCode, stderr } = await explain(fixture, service);

  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /the document of shop\/web is rejected, and no valid version is in effect:\n {2}scalers\.promscaler\.dev\/shop\/web: spec\.metrics\[0\]/,
  );
  expect(stderr).toContain(
    '\nWhat to do\n  Correct the document, and apply it again:\n    kubectl edit -n shop scalers.promscaler.dev web',
  );
});

it('says that the decision is that of the file, if an object has the same name', async () => {
  const file = {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 9, metrics: [metric('sum(load)')] },
  };
  const fixture = await ResourceFixture.create();
  fixture.apply('web', {});
  const service = fixture.start({ files: { 'scalers/web.yaml': JSON.stringify(file) } });
  await fixture.shows('web', 'Ready False Duplicate');
  const { stdout } = await explain(fixture, service);

  expect(stdout.split('\n').slice(3, 5)).toEqual([
    'document: the decision uses a file; the Scaler object with the same name is ignored:',
    expect.stringMatching(
      /^ {2}shop\/web is also in .*: a file takes precedence, so this object is not used$/,
    ),
  ]);
});

it('gives a file next to an object one state in kubectl, status and explain, and advice that ends a conflict', async () => {
  const fixture = await ResourceFixture.create();
  const spec = { scaleTargetRef: { name: 'web' }, maxReplicas: 9, metrics: [metric('sum(load)')] };
  const names = ['a', 'b'];
  for (const name of names) fixture.apply(name, spec);
  const file = (name: string): string =>
    JSON.stringify({
      apiVersion: 'promscaler.dev/v1',
      kind: 'Scaler',
      metadata: { name, namespace: 'shop' },
      spec,
    });
  const files = Object.fromEntries(names.map((name) => [`scalers/${name}.yaml`, file(name)]));
  const service = fixture.start({ files });
  await fixture.shows('a', 'Ready False Duplicate');
  await eventually(() => fixture.status('a')['state'] === 'Conflict', 'the conflict in kubectl');

  const { stdout } = await explain(fixture, service, 'shop/a');
  const url = /"url":"(http:[^"]+)"/.exec(service.written.stderr)?.[1] ?? '';
  const status = await runCli(['status', '--url', url], { clock: fixture.clock });
  const at = (name: string): string => join(service.folder, `scalers/${name}.yaml`);

  expect(fixture.status('a')['cause']).toBe(
    'Scaler shop/b scales the same target; the Scaler object with this name is not used',
  );
  expect(stdout).toContain('; the Scaler object with this name is not used\n');
  expect(stdout).not.toContain('validate scalers.promscaler.dev');
  expect(stdout).toContain(
    `To keep this scaler, remove shop/b from ${at('b')}, and delete the object of this name:\n    kubectl delete -n shop scalers.promscaler.dev b\n`,
  );
  expect(status.stdout).toMatch(/^shop +a .* Conflict /m);
  await rm(at('b'));
  await fixture.remove('b');
  await eventually(() => fixture.status('a')['state'] === 'Rejected', 'the end of the conflict');
  expect(fixture.status('a')['cause']).toContain('a file takes precedence, so this object is not used');
  expect((await explain(fixture, service, 'shop/a')).stdout).toMatch(
    /^What to do\n {2}To keep the document in \S+a\.yaml, delete the object with the same name:\n {4}kubectl delete -n shop scalers\.promscaler\.dev a\n {2}To keep the object, remove shop\/a from \S+a\.yaml\n/m,
  );
  await fixture.remove('a');
  await eventually(() => fixture.replicas('web') === 4, 'the file to scale');
});

it.each([
  ['paused', { paused: true, minReplicas: 5 }],
  ['in dry run', { dryRun: true, minReplicas: 5 }],
])('does not show the failure of a query that a version, %s at a bound, has replaced', async (_, spec) => {
  const { fixture, service } = await start();
  fixture.load = null;
  await fixture.shows('web', 'Ready False FailedGetExternalMetric');

  await fixture.edit('web', { ...spec, metrics: [metric('sum(other)')] });
  await fixture.shows('web', 'Ready Unknown NotEvaluated');

  expect(fixture.condition('web', 'ScalingActive')).toMatchObject({
    status: 'Unknown',
    reason: 'NotEvaluated',
    observedGeneration: 2,
  });
  expect((await explain(fixture, service)).stdout).not.toContain('FailedGetExternalMetric');
  const url = /"url":"(http:[^"]+)"/.exec(service.written.stderr)?.[1] ?? '';
  const { rows } = (await (await fetch(`${url}/api/v1/overview`)).json()) as {
    readonly rows: readonly { readonly state: { readonly name: string } }[];
  };
  expect(rows.map(({ state }) => state.name)).not.toContain('NoData');
  fixture.load = 40;
  await fixture.edit('web', { paused: false, dryRun: false });
  await eventually(() => fixture.replicas('web') === 5, 'the new version to scale');
  await fixture.shows('web', 'Ready True Ready');
});
