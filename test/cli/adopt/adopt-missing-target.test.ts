import { beforeEach, describe, expect, it } from '@jest/globals';
import { send } from '../../simulator/cluster.js';
import { AdoptFixture } from './adopt-fixture.js';

const HPA_PATH = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web';
const SCALER_PATH = '/apis/promscaler.dev/v1/namespaces/shop/scalers/web';

let fixture: AdoptFixture;

beforeEach(async () => {
  fixture = await AdoptFixture.create();
  await fixture.start();
});

async function removeManifest(): Promise<void> {
  const annotations = { 'promscaler.dev/adopted-manifest': null };
  await send(fixture.cluster.simulator, 'PATCH', SCALER_PATH, { body: { metadata: { annotations } } });
}

describe('adopt for a dry run whose workload does not exist', () => {
  const TARGET = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'gone' } };
  const MISSING =
    'deployment shop/gone does not exist, so the scaler cannot scale it. Create the workload, correct spec.scaleTargetRef or the namespace of scaler shop/web, or delete the scaler';

  it.each([
    ['next to the HPA', false],
    ['without the HPA', true],
  ])('%s changes nothing', async (_, isHpaGone) => {
    await fixture.controller.stop();
    const { simulator } = fixture.cluster;
    await (isHpaGone
      ? send(simulator, 'DELETE', HPA_PATH)
      : send(simulator, 'PATCH', HPA_PATH, { body: { spec: TARGET } }));
    await fixture.cluster.edit('web', TARGET);
    const before = fixture.generation();

    for (const options of [[], ['--force'], ['--preview']]) {
      const { exitCode, stdout, stderr } = await fixture.run('--switch', ...options);
      expect([exitCode, stdout, stderr]).toEqual([1, '', `promscaler: ${MISSING}. Nothing was changed\n`]);
    }

    expect([fixture.hpa() === null, fixture.generation(), fixture.isDryRun()]).toEqual([
      isHpaGone,
      before,
      true,
    ]);
  });

  it('of a repeated start advises no switch', async () => {
    const { simulator } = fixture.cluster;
    await fixture.controller.stop();
    await send(simulator, 'PATCH', HPA_PATH, { body: { spec: TARGET } });
    await fixture.cluster.edit('web', TARGET);

    const { exitCode, stdout, stderr } = await fixture.run();

    expect(exitCode).toBe(0);
    expect(stdout).toContain('scaler shop/web is already in dry run next to HPA shop/web');
    expect(stdout).not.toMatch(/^Switch: /m);
    expect(stderr).toContain(`promscaler: warning: ${MISSING}\n`);
  });

  it('reports no switch, and --undo only with a manifest', async () => {
    const { simulator } = fixture.cluster;
    await send(simulator, 'DELETE', HPA_PATH);
    await fixture.cluster.edit('web', TARGET);
    await fixture.cluster.shows('web', 'AbleToScale False FailedGetScale');

    const withManifest = await fixture.run('--report');
    await removeManifest();
    const without = await fixture.run('--report');

    for (const { stdout, stderr } of [withManifest, without]) {
      expect(stdout + stderr).toContain(`scaler shop/web is in dry run: ${MISSING}\n`);
      expect(stdout + stderr).not.toMatch(/nothing scales|^Switch: /m);
    }
    expect(withManifest.stdout + withManifest.stderr).toContain('\nUndo:    ');
    expect(without.stdout + without.stderr).not.toContain('Undo:');
  });
});

it('adopt --switch without a decision starts the dry run again, also without the manifest of the HPA', async () => {
  await send(fixture.cluster.simulator, 'DELETE', HPA_PATH);
  await removeManifest();
  fixture.cluster.load = null;

  const { exitCode, stdout, stderr } = await fixture.run('--switch');

  expect(stdout).toMatch(/^dry run of scaler shop\/web ended\n/m);
  expect(stderr).toContain('promscaler: scaler shop/web does not scale deployment shop/web: Failed');
  expect(stderr).toContain(
    'promscaler: scaler shop/web has no annotation promscaler.dev/adopted-manifest: create HPA shop/web from your own copy\n',
  );
  expect([exitCode, fixture.isDryRun()]).toEqual([1, true]);
});
