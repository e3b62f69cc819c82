import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { send } from '../../simulator/cluster.js';
import { eventually } from '../../support/manual-clock.js';
import type { ValidationReport } from '../../../src/cli/commands/run-validate.js';
import { startApiProxy } from '../../../src/cli/demo/set-up-demo.js';
import { demoService } from '../../../src/cli/demo/workloads.js';
import { folderOf, runCli } from '../fake-io.js';
import { kubeconfigFor } from '../live-service.js';
import { ResourceFixture, scalerObject, type Service } from './custom-resources-fixture.js';

it('shows in each output that two scalers of one target are held, with the name of the other', async () => {
  const fixture = await ResourceFixture.create();
  fixture.apply('web');
  const service = fixture.start();
  await eventually(() => fixture.replicas('web') === 4, 'shop/web to have 4 replicas');
  await fixture.shows('web', 'Ready True Ready');

  fixture.apply('second', { scaleTargetRef: { name: 'web' } });
  await fixture.shows('second', 'Ready False ConflictingScaler');
  await fixture.shows('web', 'Ready False ConflictingScaler');
  fixture.load = 60;
  const url = /"url":"(http:[^"]+)"/.exec(service.written.stderr)?.[1] ?? '';
  const explain = async (): Promise<string> =>
    (await runCli(['explain', 'shop/web', '--url', url], { clock: fixture.clock })).stdout;
  let text = await explain();
  const until = fixture.clock.monotonicMs() + 60_000;
  while (!text.includes('4 -> 6') && fixture.clock.monotonicMs() < until) text = await explain();

  const why =
    'Scaler shop/second scales the same target; promscaler patches nothing until one of the two scalers is deleted or in dry run';
  expect(fixture.condition('web', 'Ready')?.message).toBe(why);
  expect(fixture.condition('second', 'Ready')?.message).toContain('Scaler shop/web scales the same target');
  expect(text).toMatch(/^shop\/web {2}stays at 4, not 6: ConflictingScaler {2}\(Deployment web/);
  expect(text).toContain(`\nnot applied: ${why}\n`);
  const logged = service.written.stderr.split('\n').filter((line) => line.includes('scale the same target'));
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatch(/"level":"warn".*"target":"deployment shop\/web".*"shop\/second, shop\/web"/);
  expect(fixture.replicas('web')).toBe(4);

  // `validate --live` compares with the cluster, also before the document is applied.
  const document = `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: third, namespace: shop }
spec: { scaleTargetRef: { name: api }, maxReplicas: 20 }
`;
  fixture.apply('api');
  const cwd = folderOf({ 'third.yaml': document, kubeconfig: fixture.simulator.kubeconfig() });
  const { exitCode, stdout } = await runCli(
    [
      'validate',
      'third.yaml',
      '--live',
      '--prometheus',
      fixture.prometheusUrl,
      '--kubeconfig',
      `${cwd}/kubeconfig`,
    ],
    { cwd, env: { HOME: cwd } },
  );
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(
    /failed +shop\/third: other-scaler: Scaler shop\/api also scales deployment shop\/api/,
  );
});

it('compares in validate --live without a config with the scalers that the service reads from files', async () => {
  const fixture = await ResourceFixture.create();
  const other = scalerObject('second', { scaleTargetRef: { name: 'web' } });
  const files = { 'scalers/web.yaml': JSON.stringify(scalerObject('web')) };
  const service = fixture.start({ files });
  await eventually(() => fixture.replicas('web') === 4, 'shop/web to have 4 replicas');
  const validate = async (document: JsonObject, clusterUrl: string) => {
    const cwd = folderOf({ 'document.yaml': JSON.stringify(document) });
    const args = ['document.yaml', '--live', '--prometheus', fixture.prometheusUrl, '-o', 'json'];
    const { stdout } = await runCli(['validate', ...args], { cwd, env: kubeconfigFor(clusterUrl) });
    const { live } = JSON.parse(stdout) as ValidationReport;
    return live?.results.filter(({ check, status }) => check === 'other-scaler' && status !== 'ok');
  };

  const unreached = await validate(other, fixture.simulator.url);
  const serviceUrl = /"url":"(http:[^"]+)"/.exec(service.written.stderr)?.[1] ?? '';
  fixture.simulator.addObject(demoService(8080));
  const proxy = await startApiProxy(fixture.simulator.url, serviceUrl);
  const shared = await validate(other, proxy.url);
  const itself = await validate(scalerObject('web'), proxy.url);
  await proxy.close();

  expect(unreached).toMatchObject([
    {
      status: 'skipped',
      message: expect.stringMatching(
        /^some or all scalers of the service are not compared: no Service with the label \S+ in any namespace$/,
      ),
    },
  ]);
  expect(shared).toMatchObject([
    {
      status: 'failed',
      subject: 'shop/second',
      message: expect.stringMatching(/^Scaler shop\/web also scales deployment shop\/web/),
    },
  ]);
  expect(itself).toEqual([]);
});

it('lets one scale next to another in dry run, and holds both as soon as the dry run ends', async () => {
  const fixture = await ResourceFixture.create();
  fixture.apply('web');
  fixture.apply('trial', { scaleTargetRef: { name: 'web' }, minReplicas: 5, dryRun: true });
  fixture.start();
  await eventually(() => fixture.replicas('web') === 4, 'shop/web to have 4 replicas');
  await fixture.shows('web', 'Ready True Ready');
  await fixture.shows('trial', 'Held True DryRun');

  expect(fixture.condition('trial', 'Held')).toMatchObject({
    reason: 'DryRun',
    message: 'spec.dryRun is true; Scaler shop/web scales the target',
  });
  const cause = 'would scale from 4 to 5; Scaler shop/web has the same target';
  await eventually(() => fixture.status('trial')['cause'] === cause, `shop/trial to show: ${cause}`);
  expect(fixture.status('trial')['state']).toBe('DryRun');
  // It decides, outside of its bounds, without a metric.
  expect(fixture.condition('trial', 'Ready')).toMatchObject({
    status: 'Unknown',
    reason: 'NotEvaluated',
    message:
      'no metric is evaluated while the replica count is outside of the bounds; 4 replicas are below minReplicas (5)',
  });
  fixture.load = 60;
  await eventually(() => fixture.replicas('web') === 6, 'shop/web to have 6 replicas');

  await fixture.edit('trial', { dryRun: false });
  await fixture.shows('trial', 'Ready False ConflictingScaler');
  await fixture.shows('web', 'Ready False ConflictingScaler');
  fixture.load = 80;
  await fixture.rounds(3);
  expect(fixture.replicas('web')).toBe(6);
});

it('ends a conflict with an HPA long before the period of 300 s ends, once the HPA is deleted', async () => {
  const fixture = await ResourceFixture.create();
  const hpa = parse(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web, namespace: shop }
spec: { scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }, maxReplicas: 9 }
`) as JsonObject;
  fixture.simulator.addObject(hpa);
  fixture.apply('web', { syncPeriodSeconds: 300 });
  fixture.start();
  await fixture.shows('web', 'Ready False ConflictingScaler');
  expect(fixture.status('web')['state']).toBe('Conflict');
  const startMs = fixture.clock.monotonicMs();

  await send(
    fixture.simulator,
    'DELETE',
    '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web',
  );
  await eventually(() => fixture.replicas('web') === 4, 'shop/web to have 4 replicas');
  await fixture.shows('web', 'Ready True Ready');

  expect(fixture.clock.monotonicMs() - startMs).toBeLessThan(200_000);
});

it.each([
  ['is gone', 'no longer scales it', 'promscaler adopt hpa/web -n shop --switch\n'],
  [
    'has no metrics',
    'has no desired replicas: FailedGetResourceMetric: no metrics',
    'promscaler adopt hpa/web -n shop --switch --force\n',
  ],
])(
  'warns in each output once the HPA of an adopted dry run %s: nothing scales the target',
  async (what, why, end) => {
    const fixture = await ResourceFixture.create();
    const path = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web';
    const setStatus = (active: JsonObject): Promise<unknown> => {
      const conditions = [{ type: 'ScalingActive', ...active }];
      const status = { desiredReplicas: 3, lastScaleTime: '2026-01-01T00:00:00Z', conditions };
      return send(fixture.simulator, 'PATCH', `${path}/status`, { body: { status } });
    };
    fixture.simulator.addObject({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 9 },
    });
    await setStatus({ status: 'True', reason: 'ValidMetricFound', message: '' });
    fixture.apply('web', { dryRun: true });
    await annotate(fixture, { 'promscaler.dev/adopted-from': 'HorizontalPodAutoscaler/web' });
    const service = fixture.start();
    await fixture.shows('web', 'Held True DryRun');

    if (what === 'is gone') await send(fixture.simulator, 'DELETE', path);
    else await setStatus({ status: 'False', reason: 'FailedGetResourceMetric', message: 'no metrics' });
    await fixture.shows('web', 'Ready False NoAutoscaler');

    const cause = `nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web ${why}`;
    expect(fixture.status('web')).toMatchObject({ state: 'NoAutoscaler', cause });
    await eventually(() => fixture.events('NoAutoscaler').length > 0, 'an Event');
    expect(service.written.stderr).toMatch(
      /"level":"warn".*NoAutoscaler.*nothing scales deployment shop\/web/,
    );
    const { status, explain, doctor } = await outputsOf(service);
    expect(status).toMatch(/3->4 +NoAutoscaler .*nothing scales deployment shop\/web/);
    expect(explain).toContain('state: NoAutoscaler');
    expect(explain).toContain(end);
    expect(doctor).toContain(`shop/web: other-scaler: the scaler is in dry run, and ${cause}`);
  },
);

it('warns in each output of a pause on the Scaler object, which changes no decision', async () => {
  const fixture = await ResourceFixture.create();
  fixture.apply('web');
  const service = fixture.start();
  await fixture.shows('web', 'Held False NotHeld');

  await annotate(fixture, { 'promscaler.dev/paused': 'true' });
  await fixture.shows('web', 'Held False AnnotationIgnored');
  fixture.load = 60;
  await eventually(() => fixture.replicas('web') === 6, 'shop/web to have 6 replicas');

  const head = 'annotation promscaler.dev/paused of Scaler shop/web has no effect';
  await eventually(() => fixture.events('AnnotationIgnored').length > 0, 'an Event');
  await eventually(
    () => (fixture.condition('web', 'Accepted')?.message ?? '').includes('promscaler.dev/paused'),
    'Accepted to name the annotation',
  );
  expect(service.written.stderr).toMatch(new RegExp(`"level":"warn".*${head}`));
  const { status, explain, doctor } = await outputsOf(service);
  expect(status).toContain(head);
  expect(explain).toContain(head);
  expect(explain).toContain('\n    promscaler pause shop/web --for 30m\n');
  expect(doctor).toContain(
    'promscaler.dev/paused has no effect here: promscaler reads a pause only from annotations of the workload',
  );
  expect(doctor).toContain('kubectl annotate -n shop scalers.promscaler.dev web promscaler.dev/paused-');
});

function annotate(fixture: ResourceFixture, annotations: JsonObject): Promise<unknown> {
  const body = { metadata: { annotations } };
  return send(fixture.simulator, 'PATCH', '/apis/promscaler.dev/v1/namespaces/shop/scalers/web', { body });
}

async function outputsOf({ written, folder }: Service): Promise<Readonly<Record<string, string>>> {
  const url = /"url":"(http:[^"]+)"/.exec(written.stderr)?.[1] ?? '';
  const run = async (...args: readonly string[]): Promise<string> =>
    (await runCli(args, { cwd: folder })).stdout;
  return {
    status: await run('status', '--url', url),
    explain: await run('explain', 'shop/web', '--url', url),
    doctor: await run('doctor', '--config', 'promscaler.yaml', 'shop/web'),
  };
}
