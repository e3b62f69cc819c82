import { describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { SCALED_OBJECTS } from '../../../src/cli/demo/documents.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { until } from '../../support/until.js';
import { send } from '../../simulator/cluster.js';
import { AdoptFixture } from './adopt-fixture.js';

const HPA_PATH = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers';

describe('adopt of a ScaledObject', () => {
  const GROUP = '/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects';

  const scaledObject = (advanced: JsonObject = {}): JsonObject => ({
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: { name: 'web', namespace: 'shop', finalizers: ['finalizer.keda.sh'] },
    spec: {
      scaleTargetRef: { name: 'web' },
      minReplicaCount: 2,
      maxReplicaCount: 20,
      advanced,
      triggers: [
        {
          type: 'prometheus',
          metadata: { serverAddress: 'http://prometheus', query: 'sum(load)', threshold: '10' },
        },
      ],
    },
  });

  async function create(object: JsonObject): Promise<AdoptFixture> {
    const fixture = await AdoptFixture.create();
    fixture.name = 'scaledobject/web';
    fixture.cluster.simulator.addObject(SCALED_OBJECTS);
    fixture.cluster.simulator.addObject(object);
    return fixture;
  }

  async function start(advanced: JsonObject = {}): Promise<AdoptFixture> {
    const fixture = await create(scaledObject(advanced));
    const owner = {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      name: 'web',
      uid: 'u',
      controller: true,
    };
    await send(fixture.cluster.simulator, 'PATCH', `${HPA_PATH}/web`, {
      body: { metadata: { ownerReferences: [owner] } },
    });
    await fixture.start();
    return fixture;
  }

  it('that is paused has a document that is paused, and says how both pauses end', async () => {
    const key = 'autoscaling.keda.sh/paused';
    const { metadata, ...rest } = scaledObject();
    const paused = { ...(metadata as JsonObject), annotations: { [key]: 'true' } };
    const fixture = await create({ ...rest, metadata: paused });
    await send(fixture.cluster.simulator, 'DELETE', `${HPA_PATH}/web`);
    const why = `ScaledObject shop/web is paused in KEDA (annotation ${key})`;
    const endInKeda = `kubectl annotate -n shop scaledobject web ${key}-`;
    const isPaused = `${why}. End the pause in KEDA: ${endInKeda}`;
    const endPause = `kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"paused":null}}'`;

    const { exitCode, stdout } = await fixture.run();
    const refused = await fixture.run('--switch', '--force');
    await fixture.cluster.edit('web', { paused: false });
    await fixture.decided(2);
    const report = await fixture.run('--report');
    const undone = await fixture.run('--undo');

    expect(exitCode).toBe(0);
    expect(stdout).toContain(`scaler shop/web created, in dry run: ${isPaused}\n`);
    expect(undone.stdout).toContain(`scaler shop/web is in dry run, but ${isPaused}\n`);
    expect(stdout).toContain(
      `Note:    ScaledObject shop/web: metadata.annotations["${key}"] is set, so the document has spec.paused: true. To end the pause in promscaler, too, remove spec.paused.\n`,
    );
    expect(stdout).toContain(
      `Paused:  spec.paused is true, so nothing is compared or switched. To end the pause: ${endPause}\n`,
    );
    expect(stdout).not.toContain('Switch:');
    expect(refused.stderr).toContain(
      `${why}, and scaler shop/web has spec.paused: true. End both pauses first: ${endInKeda}; and ${endPause}. Nothing was`,
    );
    expect(report.stderr).toContain(isPaused);
  });

  it('whose scale-downs are paused in KEDA is not switched, also with --force, and each step says so', async () => {
    const fixture = await start();
    const key = 'autoscaling.keda.sh/paused-scale-in';
    await send(fixture.cluster.simulator, 'PATCH', `${GROUP}/web`, {
      body: { metadata: { annotations: { [key]: 'true' } } },
    });
    const why = `ScaledObject shop/web is paused in KEDA (annotation ${key}). End the pause in KEDA: kubectl annotate -n shop scaledobject web ${key}-`;

    const first = await fixture.run();
    const report = await fixture.run('--report');
    const switched = await fixture.run('--switch', '--force');

    expect(first.stderr).toContain(`promscaler: warning: ${why}\n`);
    expect(report.stdout).toContain(`A switch would be refused now: ${why}\n`);
    expect(switched.stderr).toContain(`${why}. Nothing was changed\n`);
    expect(first.stdout + report.stdout).not.toMatch(/Switch:|make the same change/);
    expect(fixture.isDryRun()).toBe(true);
  });

  it('that has no HPA yet is not said to scale', async () => {
    const fixture = await create(scaledObject());
    await send(fixture.cluster.simulator, 'DELETE', `${HPA_PATH}/web`);

    const { exitCode, stdout } = await fixture.run();

    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      'scaler shop/web created, in dry run: ScaledObject shop/web has no HPA: KEDA has not created one. See kubectl describe scaledobject web -n shop\n',
    );
  });

  it('whose query has no series, which KEDA reads as 0, is reported with a note, and switched with a warning', async () => {
    const fixture = await start();
    const before = await fixture.run('--report');
    fixture.cluster.load = null;
    await fixture.decided(3);

    const { stdout } = await fixture.run('--report');
    const { stderr } = await fixture.run('--switch', '--force', '--preview');

    expect(stderr).toMatch(
      /^promscaler: warning: External metric \S+: no series, read as 0, as the document specifies\. If the query is wrong, the workload does not scale up$/m,
    );
    expect(before.stdout).not.toContain('read as 0');
    expect(stdout).toMatch(
      /^Note: {4}External metric \S+: no series, read as 0, as the document specifies\. If the query is wrong, the workload does not scale up$/m,
    );
  });

  it('waits until KEDA has removed its HPA, and creates the ScaledObject again', async () => {
    const fixture = await start();
    const get = async (): Promise<JsonObject> =>
      (await send(fixture.cluster.simulator, 'GET', `${GROUP}/web`)).body;

    const switching = fixture.run('--switch');
    const isDeleted = async (): Promise<boolean> =>
      ((await get())['metadata'] as JsonObject)['deletionTimestamp'] !== undefined;
    await until(isDeleted, 'the deletion of the ScaledObject');
    const meanwhile = fixture.isDryRun();
    // Like the operator of KEDA.
    await send(fixture.cluster.simulator, 'DELETE', `${HPA_PATH}/web`);
    await send(fixture.cluster.simulator, 'PATCH', `${GROUP}/web`, {
      body: { metadata: { finalizers: [] } },
    });
    // The simulator does not delete an object that loses its last finalizer.
    await send(fixture.cluster.simulator, 'DELETE', `${GROUP}/web`);
    const switched = await switching;

    expect([meanwhile, switched.exitCode, fixture.isDryRun()]).toEqual([true, 0, false]);
    expect(switched.stdout).toContain(
      'ScaledObject shop/web saved in scaledobject-shop-web.yaml and in the annotation',
    );
    const undone = await fixture.run('--undo');
    expect(undone.exitCode).toBe(0);
    expect(await get()).toMatchObject({ metadata: { name: 'web' }, spec: scaledObject()['spec'] });
    expect(fixture.isDryRun()).toBe(true);
    expect(fixture.counts).toEqual([4]);
  });

  it('that is gone is not reported as if nothing scaled while its HPA still does', async () => {
    const fixture = await start();
    const { simulator } = fixture.cluster;
    await send(simulator, 'PATCH', `${GROUP}/web`, { body: { metadata: { finalizers: [] } } });
    await send(simulator, 'DELETE', `${GROUP}/web`);

    const before = await fixture.run('--report');
    await send(simulator, 'DELETE', `${HPA_PATH}/web`);
    const after = await fixture.run('--report');

    expect(before.stdout).toContain(
      'scaler shop/web is in dry run: HPA shop/web of ScaledObject shop/web is not deleted yet, and scales deployment shop/web\n',
    );
    expect(after.stdout).toContain('scaler shop/web is in dry run: nothing scales deployment shop/web\n');
  });

  it('does not delete one that would restore its original count, and not the HPA of one', async () => {
    const fixture = await start({ restoreToOriginalReplicaCount: true });

    const restoring = await fixture.run('--switch');
    fixture.name = 'hpa/web';
    const owned = await fixture.run('--adapter-config', 'adapter.yaml');

    expect(restoring.stderr).toContain(
      'has restoreToOriginalReplicaCount: true, so deleting the ScaledObject would change the replicas',
    );
    expect(owned.stderr).toContain(
      'HPA shop/web is owned by ScaledObject web, which would recreate the HPA: adopt this ScaledObject instead: scaledobject/web',
    );
    expect(fixture.isDryRun()).toBe(true);
    expect(stringify(fixture.hpa())).toContain('name: web');
  });
});
