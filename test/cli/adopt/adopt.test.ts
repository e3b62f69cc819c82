import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/manual-clock.js';
import { send } from '../../simulator/cluster.js';
import { AdoptFixture, HPA } from './adopt-fixture.js';

const HPA_PATH = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web';

describe('adopt', () => {
  it('creates a scaler in dry run, and the HPA goes on', async () => {
    const fixture = await AdoptFixture.create();

    const { exitCode, stdout, stderr } = await fixture.run('--adapter-config', 'adapter.yaml');

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      'scaler shop/web created, in dry run: HPA shop/web goes on scaling deployment shop/web',
      'Note:    HPA shop/web: spec.metrics[0]: The query is from externalRules[0] in the config of prometheus-adapter.',
      `Compare: promscaler adopt hpa/web -n shop --report --url ${fixture.url()}`,
      `Switch:  promscaler adopt hpa/web -n shop --switch --url ${fixture.url()}`,
      '',
    ]);
    expect(fixture.scaler()).toMatchObject({
      metadata: {
        labels: { team: 'a' },
        annotations: { 'promscaler.dev/adopted-from': 'HorizontalPodAutoscaler/web' },
      },
      spec: { dryRun: true, scaleTargetRef: { name: 'web' }, minReplicas: 2, maxReplicas: 20 },
    });
    fixture.cluster.load = 70;
    await eventually(() => fixture.cluster.replicas('web') === 7, 'the HPA to scale up');
    expect(fixture.controller.writes.at(-1)).toEqual({ from: 4, to: 7 });
  });

  it('hands over from a running HPA and back, and the count never moves because of that', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();

    const switched = await fixture.run('--switch');
    expect([switched.exitCode, switched.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^promscaler: warning: the replica counts were compared for only \d+s\. [^\n]*\n$/,
      ),
    ]);
    expect(switched.stdout).toContain(
      'HPA shop/web saved in hpa-shop-web.yaml and in the annotation promscaler.dev/adopted-manifest of scaler shop/web, and deleted\ndry run of scaler shop/web ended\npromscaler scales deployment shop/web, now 4 replicas\n',
    );
    expect([fixture.hpa(), fixture.isDryRun()]).toEqual([null, false]);
    expect(fixture.counts).toEqual([4]);
    const before = fixture.controller.writes.length;
    fixture.cluster.load = 60;
    await eventually(() => fixture.cluster.replicas('web') === 6, 'promscaler to scale up');
    expect(fixture.controller.writes).toHaveLength(before);
    const late = await fixture.run('--report');
    expect([late.exitCode, late.stdout]).toEqual([1, '']);
    expect(late.stderr).toContain(
      'HPA shop/web does not exist anymore, so there is nothing to compare: scaler shop/web scales deployment shop/web\nUndo:    ',
    );

    const undone = await fixture.run('--undo');
    expect({ ...undone, stdout: '' }).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(fixture.hpa()).toMatchObject({ metadata: HPA['metadata'], spec: HPA['spec'] });
    expect(fixture.isDryRun()).toBe(true);
    await fixture.compared(3);
    expect(fixture.counts).toEqual([4, 6]);
    fixture.cluster.load = 90;
    await eventually(() => fixture.cluster.replicas('web') === 9, 'the HPA to scale up');
    expect(fixture.controller.writes.at(-1)).toEqual({ from: 6, to: 9 });
  });

  it('says that the first decision may change the count if the HPA is gone before the switch', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    await fixture.cluster.edit('web', { minReplicas: 6 });
    await send(fixture.cluster.simulator, 'DELETE', HPA_PATH);
    await eventually(
      () => fixture.cluster.status('web')['observedGeneration'] === 2,
      'the service to follow',
    );
    await fixture.decided(2);

    const { exitCode, stdout, stderr } = await fixture.run('--switch');

    expect([exitCode, stderr]).toEqual([
      0,
      'promscaler: warning: HPA shop/web does not exist, so its desired replicas cannot be compared. The first decision may change the replica count (at present, from 4 to 6)\n',
    ]);
    expect(stdout).toContain('promscaler scales deployment shop/web, 4 -> 6 replicas\n');
  });

  it('reports the share of rounds with the same count, and the largest difference with its reason', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    await fixture.cluster.edit('web', { minReplicas: 6 });
    await eventually(
      () => fixture.cluster.status('web')['observedGeneration'] === 2,
      'the service to follow',
    );
    // The status may come before the first decision of the new version.
    await fixture.decided(2);
    await fixture.compared(2);

    const { exitCode, stdout } = await fixture.run('--report');
    const refused = await fixture.run('--switch');

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/HorizontalPodAutoscaler shop\/web and scaler shop\/web, \d+s since [\w ,:]+\n/);
    expect(stdout).toMatch(/ {2}same count {10}0 of \d+ rounds \(0 %\)\n/);
    expect(stdout).toMatch(
      / {2}largest difference {2}\+2 at [\w ,:]+: promscaler 6, HPA 4\n {22}\S.*minReplicas/,
    );
    expect(stdout).toContain('  now                 promscaler 6, HPA 4\n');
    expect(stdout).toMatch(
      /\nA switch would be refused now: the replica count would change from 4 to 6: [^\n]*\n$/,
    );
    expect(stdout).not.toContain('--switch');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(
      'the replica count would change from 4 to 6: try again when scaler and HPA have the same desired replicas. Nothing was changed',
    );
    expect([fixture.hpa() === null, fixture.isDryRun()]).toEqual([false, true]);
  });
});
