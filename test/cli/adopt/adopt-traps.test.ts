import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import type { FaultMatch } from '../../../src/simulator/api/requests/faults.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { eventually } from '../../support/manual-clock.js';
import { send } from '../../simulator/cluster.js';
import { type Ran, runCli } from '../fake-io.js';
import { AdoptFixture, HPA } from './adopt-fixture.js';

const HPA_PATH = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web';
const SCALER_PATH = '/apis/promscaler.dev/v1/namespaces/shop/scalers/web';
const DEPLOYMENT_PATH = '/apis/apps/v1/namespaces/shop/deployments/web';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

describe('adopt does not switch to a scaler that does not scale', () => {
  let fixture: AdoptFixture;

  beforeEach(async () => {
    fixture = await AdoptFixture.create();
  });

  const annotate = (annotations: JsonObject): Promise<unknown> =>
    send(fixture.cluster.simulator, 'PATCH', DEPLOYMENT_PATH, { body: { metadata: { annotations } } });
  const decided = (count = 1): Promise<void> => fixture.decided(count);

  it('while its metric has no value: such rounds are not compared', async () => {
    fixture.cluster.load = null;
    await fixture.run('--adapter-config', 'adapter.yaml');
    await decided(3);

    const report = await fixture.run('--report');
    const switched = await fixture.run('--switch');

    const why =
      'FailedGetExternalMetric: the replica count could not be calculated from External metric load: ';
    expect([report.exitCode, report.stdout]).toEqual([1, '']);
    expect(report.stderr).toContain(
      `no decision of scaler shop/web has been compared with the HPA yet: ${why}`,
    );
    expect(switched.exitCode).toBe(1);
    expect(switched.stderr).toContain(`no decision has been compared with the HPA yet: ${why}`);
    expect([fixture.hpa() === null, fixture.isDryRun()]).toEqual([false, true]);
  });

  it('with --force while its metric has no value: the HPA is not deleted', async () => {
    await fixture.start();
    const uid = fixture.hpa()?.metadata['uid'];
    fixture.cluster.load = null;
    await decided(2);

    const switched = await fixture.run('--switch', '--force');
    const unforced = await fixture.run('--switch');

    expect([switched.exitCode, switched.stderr]).toEqual([
      1,
      expect.stringMatching(/External metric load.*\. Nothing was changed$/m),
    ]);
    expect(unforced.stderr).not.toContain('--force');
    expect([fixture.hpa()?.metadata['uid'], fixture.isDryRun()]).toEqual([uid, true]);
  });

  it('but with --force to one that wants another count', async () => {
    await fixture.start();
    await fixture.cluster.edit('web', { minReplicas: 6 });
    await eventually(
      () => fixture.cluster.status('web')['observedGeneration'] === fixture.generation(),
      'a status',
    );
    await decided(2);

    const refused = await fixture.run('--switch');
    const switched = await fixture.run('--switch', '--force');

    expect(refused.stderr).toMatch(
      /the replica count would change from 4 to 6: .*; use --force to switch anyway/,
    );
    expect([switched.exitCode, switched.stderr]).toEqual([0, '']);
    expect(switched.stdout).toContain('promscaler scales deployment shop/web, 4 -> 6 replicas\n');
    expect([fixture.hpa(), fixture.isDryRun()]).toEqual([null, false]);
  });

  it('with --force and a pause that the service has not read yet: the HPA is not deleted', async () => {
    await fixture.start();
    const uid = fixture.hpa()?.metadata['uid'];
    fixture.cluster.simulator.faults.add({ verbs: ['watch'], resource: 'deployments' }, { kind: 'stall' });
    await annotate({ 'promscaler.dev/paused': 'true' });

    const { exitCode, stderr } = await fixture.run('--switch', '--force');

    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^promscaler: scaler shop\/web is paused: scaling is paused by annotation\. End the pause first: promscaler resume shop\/web --url \S+\. Nothing was changed\n$/,
      ),
    ]);
    expect([fixture.hpa()?.metadata['uid'], fixture.isDryRun()]).toEqual([uid, true]);
  });

  it.each([
    [
      'a forgotten pause of the workload',
      () => annotate({ 'promscaler.dev/paused': 'scale-up', 'promscaler.dev/paused-reason': 'release' }),
      'scaler shop/web is paused: scale-up is paused by annotation; release. End the pause first: promscaler resume shop/web --url ',
    ],
    [
      'a pause that keeps a count',
      () => annotate({ 'promscaler.dev/paused-replicas': '4' }),
      'scaler shop/web is paused: scaling is paused by annotation; kept at 4. End the pause first',
    ],
    [
      'paused: scale-down in the document',
      () => fixture.cluster.edit('web', { paused: 'scale-down' }),
      'scaler shop/web has spec.paused: "scale-down". Remove this field first: kubectl patch',
    ],
    [
      'a deployment tool that manages the scaler',
      () =>
        send(fixture.cluster.simulator, 'PATCH', `${SCALER_PATH}?fieldManager=argocd-controller`, {
          body: { spec: { maxReplicas: 19 } },
        }),
      'Argo CD manages scaler shop/web, and would set spec.dryRun: true again',
    ],
  ])('with %s', async (_, prepare, message) => {
    await fixture.start();
    const before = fixture.generation();
    await prepare();
    await eventually(
      () => fixture.cluster.status('web')['observedGeneration'] === fixture.generation(),
      'a status',
    );
    if (before === fixture.generation()) await decided(2);

    const { exitCode, stderr } = await fixture.run('--switch');

    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect([fixture.hpa() === null, fixture.isDryRun()]).toEqual([false, true]);
  });
});

describe('adopt creates the HPA again if the switch is not confirmed', () => {
  let fixture: AdoptFixture;

  beforeEach(async () => {
    fixture = await AdoptFixture.create();
    await fixture.start();
  });

  /** Runs `meanwhile` between the deletion of the HPA and the end of the dry run. */
  async function switchWith(meanwhile: () => unknown): Promise<Ran> {
    const { faults } = fixture.cluster.simulator;
    const patch: FaultMatch = { verbs: ['patch'], resource: 'scalers', subresource: '' };
    faults.add(patch, { kind: 'delay', ms: 0 }, 1);
    faults.add(patch, { kind: 'delay', ms: 300 }, 1);
    const switching = fixture.run('--switch');
    await eventually(() => fixture.hpa() === null, 'the HPA to be deleted');
    await meanwhile();
    return switching;
  }

  const pause = (): Promise<unknown> =>
    send(fixture.cluster.simulator, 'PATCH', DEPLOYMENT_PATH, {
      body: { metadata: { annotations: { 'promscaler.dev/paused': 'true' } } },
    });
  const forbid = (): unknown =>
    fixture.cluster.simulator.faults.add(
      { verbs: ['patch'], resource: 'deployments', subresource: 'scale' },
      { kind: 'forbid' },
    );
  const revert = async (): Promise<void> => {
    await eventually(() => !fixture.isDryRun(), 'the dry run to end');
    await fixture.cluster.edit('web', { dryRun: true });
  };

  it.each([
    ['its metric has lost its value', () => (fixture.cluster.load = null), 'FailedGetExternalMetric: '],
    ['its workload was paused', pause, 'scaling is paused by annotation'],
    [
      'it may not patch the workload',
      forbid,
      'FailedUpdateScale: scaling deployment shop/web to 4: 403 Forbidden',
    ],
    [
      'another client has set the dry run again',
      revert,
      'another client has set spec.dryRun of scaler shop/web again, or has deleted the scaler',
    ],
    ['the service has stopped', () => fixture.service.stop(), 'connect ECONNREFUSED'],
  ])('because %s', async (_, meanwhile, why) => {
    const { exitCode, stdout, stderr } = await switchWith(meanwhile);

    expect(stderr).toContain('promscaler: scaler shop/web does not scale deployment shop/web: ');
    expect(stderr).toContain(why);
    expect(stdout).toContain(
      'HPA shop/web created again\nas soon as HPA shop/web has desired replicas, it scales deployment shop/web again\n',
    );
    expect(stdout).not.toContain('promscaler scales');
    expect(exitCode).toBe(1);
    expect(fixture.hpa()).toMatchObject({ metadata: HPA['metadata'], spec: HPA['spec'] });
    expect([fixture.isDryRun(), fixture.counts]).toEqual([true, [4]]);
  });
});

describe('adopt --switch --force', () => {
  it('creates the HPA again if only a bound has determined the count, and no metric has a value', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    fixture.cluster.load = null;
    await fixture.cluster.edit('web', { minReplicas: 6 });
    await eventually(
      () => fixture.cluster.status('web')['observedGeneration'] === fixture.generation(),
      'a status',
    );
    await fixture.decided(2);

    const { exitCode, stdout, stderr } = await fixture.run('--switch', '--force');

    expect(stderr).toContain('could not be calculated from External metric load: no series');
    expect([exitCode, stdout.includes('promscaler scales')]).toEqual([1, false]);
    expect([fixture.hpa() === null, fixture.isDryRun()]).toEqual([false, true]);
  });
});

describe('adopt keeps the manifest of the HPA', () => {
  async function start(metadata: JsonObject): Promise<AdoptFixture> {
    const fixture = await AdoptFixture.create();
    await send(fixture.cluster.simulator, 'PATCH', HPA_PATH, { body: { metadata } });
    await fixture.start();
    return fixture;
  }

  it('in a file, which survives the deletion of the scaler', async () => {
    const fixture = await start({});

    const { stdout } = await fixture.run('--switch');
    await fixture.cluster.remove('web');

    expect(stdout).toContain(
      'HPA shop/web saved in hpa-shop-web.yaml and in the annotation promscaler.dev/adopted-manifest of scaler shop/web, and deleted\n',
    );
    expect(parse(readFileSync(join(fixture.folder, 'hpa-shop-web.yaml'), 'utf8'))).toEqual(HPA);
  });

  it('and replaces the manifest of an earlier switch, but no file that a person has edited', async () => {
    const fixture = await start({});
    const path = join(fixture.folder, 'hpa-shop-web.yaml');
    await fixture.run('--switch');
    await fixture.run('--undo');
    await send(fixture.cluster.simulator, 'PATCH', HPA_PATH, { body: { spec: { maxReplicas: 21 } } });
    writeFileSync(path, `# ours\n${readFileSync(path, 'utf8')}`);

    const refused = await fixture.run('--switch', '--force');
    writeFileSync(path, readFileSync(path, 'utf8').replace('# ours\n', ''));
    const switched = await fixture.run('--switch', '--force');

    expect(refused.stderr).toContain('hpa-shop-web.yaml exists with other content: move this file');
    expect(switched).toMatchObject({ exitCode: 0 });
    expect(parse(readFileSync(path, 'utf8'))).toMatchObject({ spec: { maxReplicas: 21 } });
  });

  it('and does not replace another file', async () => {
    const fixture = await start({});

    const { exitCode, stderr } = await fixture.run('--switch', '--save', 'adapter.yaml');

    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'adapter.yaml exists with other content: move this file, or pass another file with --save',
    );
    expect([fixture.hpa() === null, fixture.isDryRun()]).toEqual([false, true]);
  });

  it('with the annotation of kubectl apply, so that --undo restores it', async () => {
    const applied = JSON.stringify(HPA);
    const fixture = await start({ annotations: { [LAST_APPLIED]: applied } });
    const before = fixture.hpa();

    await fixture.run('--switch');
    await fixture.run('--undo');

    const restored = fixture.hpa();
    expect(restored?.metadata['annotations']).toEqual(before?.metadata['annotations']);
    expect(restored?.metadata['annotations']).toMatchObject({ [LAST_APPLIED]: applied });
    expect([restored?.metadata['labels'], restored?.['spec']]).toEqual([
      before?.metadata['labels'],
      before?.['spec'],
    ]);
  });

  it('and warns of Argo CD, also if it tracks by label', async () => {
    const fixture = await start({ labels: { 'app.kubernetes.io/instance': 'shop' } });

    const { exitCode, stderr } = await fixture.run('--switch');

    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      'promscaler: warning: Argo CD or another tool (label app.kubernetes.io/instance) manages HPA shop/web: remove the manifest of the autoscaler from the repository or chart, too',
    );
  });
});

it('adopt --report and --switch warn of a manifest with replicas, which the next kubectl apply sets again', async () => {
  const fixture = await AdoptFixture.create();
  await send(
    fixture.cluster.simulator,
    'PATCH',
    `${DEPLOYMENT_PATH}?fieldManager=kubectl-client-side-apply`,
    {
      body: { metadata: { annotations: { [LAST_APPLIED]: '{"spec":{"replicas":2}}' } } },
    },
  );
  await fixture.start();

  const report = await fixture.run('--report');
  const { exitCode, stderr } = await fixture.run('--switch');

  const warning =
    'kubectl apply has set spec.replicas of deployment shop/web: after the dry run, each run of kubectl apply may reset the replica count. To prevent that: remove spec.replicas with kubectl apply edit-last-applied deployment/web -n shop, then from the manifest. Without the first step, the next apply sets the count to 1\n';
  expect(report.stdout).toContain(`Note:    ${warning}`);
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`promscaler: warning: ${warning}`)]);
});

it('takes cluster and namespace from the kubeconfig, also in a pod, as kubectl does', async () => {
  const fixture = await AdoptFixture.create();

  const { stderr } = await runCli(['adopt', 'hpa/web', '--preview'], {
    cwd: fixture.folder,
    env: { ...fixture.env, KUBERNETES_SERVICE_HOST: '192.0.2.1' },
    clock: fixture.cluster.clock,
  });

  expect(stderr).toContain('HPA default/web does not exist');
});

describe('adopt --undo says what the HPA does', () => {
  const undo = async (meanwhile: (fixture: AdoptFixture) => Promise<unknown>): Promise<Ran> => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    await fixture.run('--switch');
    await meanwhile(fixture);
    return fixture.run('--undo');
  };

  it('while a person has set the target to 0 replicas: nothing, and the command that starts the target', async () => {
    const { exitCode, stdout } = await undo(({ cluster }) =>
      send(cluster.simulator, 'PATCH', `${DEPLOYMENT_PATH}/scale`, { body: { spec: { replicas: 0 } } }),
    );

    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      'scaler shop/web is in dry run, but HPA shop/web does not scale deployment shop/web: an HPA does not scale a target at 0 replicas. To start the target: kubectl scale deployment/web --replicas=2 -n shop\n',
    );
    expect(stdout).not.toContain('HPA shop/web scales');
  });

  it('after the target was deleted: nothing', async () => {
    const { exitCode, stdout } = await undo(({ cluster }) =>
      send(cluster.simulator, 'DELETE', DEPLOYMENT_PATH),
    );

    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      'scaler shop/web is in dry run, but HPA shop/web scales nothing: deployment shop/web does not exist\n',
    );
  });
});
