import { describe, expect, it } from '@jest/globals';
import { send } from '../../simulator/cluster.js';
import { AdoptFixture } from './adopt-fixture.js';

const HPA_PATH = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web';
const SCALER_PATH = '/apis/promscaler.dev/v1/namespaces/shop/scalers/web';

async function annotate(fixture: AdoptFixture, annotations: Readonly<Record<string, null>>): Promise<void> {
  await send(fixture.cluster.simulator, 'PATCH', SCALER_PATH, { body: { metadata: { annotations } } });
}

describe('adopt --undo after a change of the scaler', () => {
  const OTHER = 'HPA shop/web has other values than scaler shop/web (spec.maxReplicas: 20 instead of 30)';

  it('says that the HPA has other values, and when its manifest was saved, as do --preview and --report', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    await fixture.run('--switch');
    await fixture.cluster.edit('web', { maxReplicas: 30 });

    const preview = await fixture.run('--undo', '--preview');
    const undone = await fixture.run('--undo');
    await fixture.compared(1);
    const report = await fixture.run('--report');

    const saved =
      /^Note: {4}HPA shop\/web has .*20 instead of 30\). Its manifest was saved at \d{4}-\d\d-\d\dT[\d:]+Z$/m;
    for (const { exitCode, stdout } of [preview, undone]) {
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(saved);
    }
    expect(report.stdout).toContain(
      `Note:    ${OTHER}. They count as intended, because HPA shop/web has not changed since its import or last switch\n`,
    );
  });

  it('omits the time if an earlier version has saved the manifest', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    await fixture.run('--switch');
    await annotate(fixture, { 'promscaler.dev/adopted-at': null });
    await fixture.cluster.edit('web', { maxReplicas: 30 });

    const { stdout } = await fixture.run('--undo', '--preview');

    expect(stdout).toContain(`Note:    ${OTHER}\n`);
  });
});

describe('adopt --undo without a saved manifest', () => {
  const MISSING =
    'promscaler: scaler shop/web has no annotation promscaler.dev/adopted-manifest with the manifest of HPA shop/web, because only adopt and its --switch save it: ';

  it('asks for no dry run that has already begun', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    await annotate(fixture, { 'promscaler.dev/adopted-manifest': null });
    await send(fixture.cluster.simulator, 'DELETE', HPA_PATH);

    const inDryRun = await fixture.run('--undo');
    await fixture.cluster.edit('web', { dryRun: false });
    const live = await fixture.run('--undo');

    expect(inDryRun.stderr).toBe(`${MISSING}create HPA shop/web from your own copy\n`);
    expect(live.stderr).toBe(
      `${MISSING}set spec.dryRun: true, then create HPA shop/web from your own copy\n`,
    );
  });
});
