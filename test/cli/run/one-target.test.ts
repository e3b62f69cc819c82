import { expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { send } from '../../simulator/cluster.js';
import { eventually } from '../../support/manual-clock.js';
import { folderOf, runCli } from '../fake-io.js';
import { ResourceFixture } from './custom-resources-fixture.js';

jest.setTimeout(60_000);

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

  const why = 'Scaler shop/second scales the same target; promscaler patches nothing until that is deleted';
  expect(fixture.condition('web', 'Ready')?.message).toBe(why);
  expect(fixture.condition('second', 'Ready')?.message).toContain('Scaler shop/web scales the same target');
  expect(text).toMatch(/^shop\/web {2}4 -> 6, not carried out: ConflictingScaler {2}\(Deployment web/);
  expect(text).toContain(`\nnot carried out: ${why}\n`);
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
    message: 'no metric was evaluated yet; 4 replicas are below minReplicas (5)',
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
