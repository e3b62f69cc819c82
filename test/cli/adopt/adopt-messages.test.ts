import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { eventually } from '../../support/manual-clock.js';
import { until } from '../../support/until.js';
import { send } from '../../simulator/cluster.js';
import { runCli } from '../fake-io.js';
import { AdoptFixture, HPA } from './adopt-fixture.js';

const HPA_PATH = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web';

describe('adopt --report says why no decision was compared, and what to do:', () => {
  const why = 'promscaler: no decision of scaler shop/web has been compared with the HPA yet: ';

  /** Stops the controller of the HPA, and sets its conditions without a count. */
  async function startWithoutCount(conditions: readonly JsonObject[]): Promise<AdoptFixture> {
    const fixture = await AdoptFixture.create();
    await fixture.controller.stop();
    await send(fixture.cluster.simulator, 'PATCH', `${HPA_PATH}/status`, {
      body: { status: { desiredReplicas: 0, lastScaleTime: null, currentMetrics: null, conditions } },
    });
    await fixture.run('--adapter-config', 'adapter.yaml');
    await fixture.decided(2);
    return fixture;
  }

  it('the HPA has a metric without a value, and after a minute what explain says, too', async () => {
    const fixture = await startWithoutCount([
      { type: 'ScalingActive', status: 'False', reason: 'FailedGetExternalMetric', message: 'no metrics' },
    ]);

    const { exitCode, stderr } = await fixture.run('--report');

    expect([exitCode, stderr]).toEqual([
      1,
      `${why}HPA shop/web has no desired replicas: FailedGetExternalMetric: no metrics. Wait until the HPA has desired replicas, or see kubectl describe hpa web -n shop\n`,
    ]);

    const again = async () => (await fixture.run('--report')).stderr;
    await until(async () => !(await again()).includes('Wait until'), 'a minute without a count');
    expect(await again()).toBe(
      `${why}HPA shop/web has no desired replicas: FailedGetExternalMetric: no metrics. Find out why: kubectl describe hpa web -n shop. To end the dry run without a comparison: promscaler adopt hpa/web -n shop --switch --force --url ${fixture.url()}\n`,
    );
  });

  it('the controller of the HPA has not calculated; a forced switch warns that the count may change', async () => {
    const fixture = await startWithoutCount([]);

    const report = await fixture.run('--report');
    const switched = await fixture.run('--switch', '--force');

    expect(report.stderr).toBe(
      `${why}HPA shop/web has no desired replicas: the HPA controller has not set them yet. Wait until the HPA has desired replicas, or see kubectl describe hpa web -n shop\n`,
    );
    expect(switched.stderr).toContain(
      'warning: the last decision was not compared with HPA shop/web. The first decision may change the replica count',
    );
  });

  it('the service may not list HPAs', async () => {
    const resource = 'horizontalpodautoscalers';
    const fixture = await AdoptFixture.create({ forbidden: { verbs: ['list', 'watch'], resource } });
    await fixture.run('--adapter-config', 'adapter.yaml');
    await fixture.decided(2);

    expect((await fixture.run('--report')).stderr).toBe(
      `${why}the service does not see HPA shop/web. The service sees a new HPA within a minute; if the HPA is older, the service needs permission to list and watch horizontalpodautoscalers (autoscaling) in namespace shop, which the chart grants with rbac.create=true\n`,
    );
  });
});

describe('adopt of an HPA that does not exist', () => {
  it.each([
    ['a similar name', 'hpa/wbe', '; did you mean "web"?'],
    ['another name', 'hpa/nope', '; existing horizontalpodautoscalers: web'],
  ])('names the existing ones in every step: %s', async (_, name, hint) => {
    const fixture = await AdoptFixture.create();
    fixture.name = name;

    for (const step of [[], ['--report'], ['--switch']]) {
      const { exitCode, stderr } = await fixture.run(...step);
      expect([exitCode, stderr]).toEqual([
        1,
        `promscaler: HPA shop/${name.slice(4)} does not exist${hint}\n`,
      ]);
    }
  });

  it('also names one that was switched, and for --undo the file of the switch', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    await fixture.run('--switch');
    fixture.name = 'hpa/wbe';
    const misspelled = await fixture.run('--undo');
    fixture.name = 'hpa/nope';
    const other = await fixture.run('--report');
    fixture.name = 'hpa/web';
    await fixture.cluster.remove('web');
    const lost = await fixture.run('--undo');

    const file = (name: string): string =>
      ` If --switch deleted the autoscaler, and its scaler is also deleted, create the autoscaler from the saved file: kubectl create -f hpa-shop-${name}.yaml\n`;
    expect(misspelled.stderr).toBe(
      `promscaler: HPA shop/wbe does not exist; did you mean "web"?${file('wbe')}`,
    );
    expect(other.stderr).toBe(
      'promscaler: HPA shop/nope does not exist; existing or adopted horizontalpodautoscalers: web\n',
    );
    expect(lost.stderr).toBe(
      `promscaler: HPA shop/web does not exist: namespace shop has no horizontalpodautoscalers.${file('web')}`,
    );
  });
});

describe('adopt --switch', () => {
  it('is refused below 90 % of rounds with the same count, and goes on with --force', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    await fixture.cluster.edit('web', { minReplicas: 6 });
    await eventually(
      () => fixture.cluster.status('web')['observedGeneration'] === 2,
      'the service to follow',
    );
    await fixture.decided(3);
    // The HPA follows the new minimum, too, so that both now have the same count.
    await send(fixture.cluster.simulator, 'PATCH', HPA_PATH, { body: { spec: { minReplicas: 6 } } });
    await eventually(() => fixture.cluster.replicas('web') === 6, 'the HPA to scale to 6');
    await fixture.decided(2);

    const report = await fixture.run('--report');
    const refused = await fixture.run('--switch');

    const found =
      /the replica counts were equal in only \d+ of \d+ rounds \([\d.]+ %\), but must be equal in at least 90 %\. [^\n]*correct the document, which restarts the comparison, or compare for longer/;
    expect(report.stdout).toMatch(new RegExp(`A switch would be refused now: ${found.source}`));
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(found)]);
    expect(refused.stderr).toContain('. Nothing was changed; use --force to switch anyway\n');
    expect([fixture.hpa() === null, fixture.isDryRun()]).toEqual([false, true]);
    expect((await fixture.run('--switch', '--force')).exitCode).toBe(0);
  });

  it('warns of a comparison of less than an hour, and ends when the status shows the switch', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    await fixture.cluster.shows('web', 'Held True DryRun');

    const { exitCode, stderr } = await fixture.run('--switch');

    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^promscaler: warning: the replica counts were compared for only \d+s\. At another load, the replica counts may differ\. Compare for a day, or better for a week\n$/,
    );
    expect(fixture.cluster.condition('web', 'Held')?.reason).toBe('NotHeld');
    expect(fixture.cluster.status('web')['state']).not.toBe('DryRun');
  });
});

describe('adopt --switch of a scaler whose status is of another generation', () => {
  const STATUS = { verbs: ['patch'], resource: 'scalers', subresource: 'status' } as const;

  it('names both generations if the service does not write it for 30 s, and changes nothing', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    fixture.cluster.simulator.faults.add(STATUS, { kind: 'drop' });
    await fixture.cluster.edit('web', { maxReplicas: 19 });
    await fixture.cluster.edit('web', { maxReplicas: 18 });

    const { exitCode, stderr } = await fixture.run('--switch');

    expect([exitCode, stderr]).toEqual([
      1,
      'promscaler: the service has not written the status of scaler shop/web for generation 3 yet (last: generation 1). The service reads a new version within seconds: try again. If this lasts, look for "failed to write status of Scaler" in the log of the service. Nothing was changed\n',
    ]);
    expect([fixture.hpa() === null, fixture.isDryRun()]).toEqual([false, true]);
  });

  it('waits until the service has written it', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    fixture.cluster.simulator.faults.add(STATUS, { kind: 'drop' }, 4);
    await fixture.cluster.edit('web', { maxReplicas: 19 });

    const { exitCode } = await fixture.run('--switch', '--force');

    expect([exitCode, fixture.hpa(), fixture.isDryRun()]).toEqual([0, null, false]);
  });

  it('says that a service with --dry-run writes none', async () => {
    const fixture = await AdoptFixture.create({ args: ['--dry-run'] });
    await fixture.run('--adapter-config', 'adapter.yaml');
    await fixture.compared(1);

    const { exitCode, stderr } = await fixture.run('--switch');

    expect([exitCode, stderr]).toEqual([
      1,
      'promscaler: the service has scaler shop/web, but has not written the status of the scaler: the service must run without --dry-run. If it already does, look for "failed to write status of Scaler" in the log of the service. Nothing was changed\n',
    ]);
  });

  it('says that the service does not have the scaler', async () => {
    const fixture = await AdoptFixture.create({ namespaces: '[lab]' });
    await fixture.run('--adapter-config', 'adapter.yaml');

    const { exitCode, stderr } = await fixture.run('--switch');

    expect([exitCode, stderr]).toEqual([
      1,
      'promscaler: the service does not have scaler shop/web: the service must run with scalers.customResources: true, and watch namespace shop. Nothing was changed\n',
    ]);
  });
});

it('adopt --undo of a paused workload does not wait for the end of the pause', async () => {
  const fixture = await AdoptFixture.create();
  await fixture.start();
  await fixture.run('--switch');
  await send(fixture.cluster.simulator, 'PATCH', '/apis/apps/v1/namespaces/shop/deployments/web', {
    body: { metadata: { annotations: { 'promscaler.dev/paused': 'true' } } },
  });
  await fixture.cluster.shows('web', 'Held True Paused');

  const preview = await fixture.run('--undo', '--preview');
  const { exitCode, stdout, stderr } = await fixture.run('--undo');

  const paused =
    'Note:    scaler shop/web is paused: scaling is paused by annotation. The pause has no effect on HPA shop/web\n';
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toContain('scaler shop/web is in dry run\nHPA shop/web created again\n');
  expect(stdout).toContain(paused);
  expect(preview.stdout).toContain(paused);
});

describe('adopt and import', () => {
  it('print the same document and the same lines of standard error', async () => {
    const fixture = await AdoptFixture.create();
    writeFileSync(join(fixture.folder, 'hpa.yaml'), stringify(HPA));
    const rules = ['--adapter-config', 'adapter.yaml'];
    const imported = await runCli(['import', '--dry-run', 'hpa.yaml', ...rules], { cwd: fixture.folder });

    const preview = await fixture.run('--preview', ...rules);
    const started = await fixture.run(...rules);

    expect(preview).toEqual(imported);
    expect(imported.stdout).toContain('# spec.metrics[0]: The query is from externalRules[0]');
    expect(started.stderr).toBe(imported.stderr);
    expect(started.stdout).toContain(
      'Note:    HPA shop/web: spec.metrics[0]: The query is from externalRules[0] in the config of prometheus-adapter.\n',
    );
  });

  it('advise the rules that were passed, if they do not suffice', async () => {
    const fixture = await AdoptFixture.create();
    writeFileSync(join(fixture.folder, 'none.yaml'), 'rules: []\n');

    const { stderr } = await fixture.run('--adapter-config', 'none.yaml');

    expect(stderr).toContain(
      'kubectl get hpa web -o yaml -n shop | promscaler import --dry-run --adapter-config none.yaml - > web.yaml\n',
    );
  });

  it('advise commands with the connection of this one, and create nothing from a document with a placeholder', async () => {
    const fixture = await AdoptFixture.create();
    const connection = ['--kubeconfig', fixture.env['KUBECONFIG'] ?? ''];
    writeFileSync(join(fixture.folder, 'hpa.yaml'), stringify(HPA));
    const imported = await runCli(['import', 'hpa.yaml'], { cwd: fixture.folder });
    writeFileSync(join(fixture.folder, 'open.yaml'), imported.stdout);

    const half = await fixture.run(...connection);
    const open = await fixture.run('-f', 'open.yaml');

    expect(half.stderr).toContain(
      `\n  kubectl get hpa web -o yaml -n shop ${connection.join(' ')} | promscaler import --dry-run - > web.yaml\n`,
    );
    expect(open.stderr).toContain('-f open.yaml: the scaler document is invalid. Nothing was created\n');
    expect([half.exitCode, open.exitCode, fixture.scaler()]).toEqual([1, 1, null]);
  });

  it('say of an existing scaler that its document is rejected and why, and offer no switch', async () => {
    const fixture = await AdoptFixture.create();
    writeFileSync(join(fixture.folder, 'hpa.yaml'), stringify(HPA));
    const imported = await runCli(['import', '--dry-run', 'hpa.yaml'], { cwd: fixture.folder });
    fixture.cluster.simulator.addObject(parse(imported.stdout) as JsonObject);

    const again = await fixture.run();
    const reported = await fixture.run('--report');
    const withFile = await fixture.run('-f', 'web.yaml');

    const invalid = 'scaler shop/web is rejected: spec.metrics[0]';
    expect([again.exitCode, reported.exitCode, withFile.exitCode]).toEqual([1, 1, 1]);
    expect(withFile.stderr).toBe(
      'promscaler: scaler shop/web exists, so -f web.yaml was not used. To create the scaler from this file, delete the scaler first: kubectl delete scalers.promscaler.dev web -n shop\n',
    );
    expect(again.stderr).toContain(`promscaler: ${invalid}`);
    expect(again.stdout).toBe('');
    expect(reported.stderr).toContain(
      `no decision of scaler shop/web has been compared with the HPA yet: ${invalid}`,
    );
  });

  it.each([['--report'], ['--switch', '--force'], ['--undo'], []])(
    'adopt %s is refused if the HPA has another target than the scaler that was made from it',
    async (...args) => {
      const fixture = await AdoptFixture.create();
      await fixture.run('--adapter-config', 'adapter.yaml');
      const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' };
      await send(fixture.cluster.simulator, 'PATCH', HPA_PATH, { body: { spec: { scaleTargetRef: ref } } });

      const { exitCode, stderr } = await fixture.run(...args);

      expect([exitCode, stderr]).toEqual([
        1,
        'promscaler: scaler shop/web was made from HPA shop/web and scales deployment shop/web, but HPA shop/web scales deployment shop/api. Nothing was changed. Correct the target of the scaler or of the autoscaler. If the two no longer belong together, remove the annotation: kubectl annotate scalers.promscaler.dev web promscaler.dev/adopted-from- -n shop\n',
      ]);
      expect([fixture.hpa() === null, fixture.isDryRun()]).toEqual([false, true]);
    },
  );
});
