import { beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { send } from '../../simulator/cluster.js';
import { AdoptFixture } from './adopt-fixture.js';

const SHOP = 'namespaces/shop';
const HPA_PATH = `/apis/autoscaling/v2/${SHOP}/horizontalpodautoscalers/web`;
const DEPLOYMENT_PATH = `/apis/apps/v1/${SHOP}/deployments/web`;
const SCALER_PATH = `/apis/promscaler.dev/v1/${SHOP}/scalers/web`;

let fixture: AdoptFixture;

beforeEach(async () => {
  fixture = await AdoptFixture.create();
  await fixture.start();
});

const patch = (path: string, body: JsonObject): Promise<unknown> =>
  send(fixture.cluster.simulator, 'PATCH', path, { body });

describe('adopt next to a scaler that exists', () => {
  it('does not say that a rejected document is in dry run', async () => {
    const external = { metric: { name: 'load' }, query: 'sum(load', target: { averageValue: '10' } };
    await fixture.cluster.edit('web', { metrics: [{ external }] });

    const { exitCode, stdout, stderr } = await fixture.run();

    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^promscaler: scaler shop\/web is rejected: spec\.metrics\[0\].*\. Nothing was changed\. Correct the scaler, or delete the scaler to import again\n$/,
    );
  });

  it.each([
    [
      'a changed HPA',
      () => patch(HPA_PATH, { spec: { maxReplicas: 30 } }),
      'HPA shop/web has changed since it was imported (spec.maxReplicas: 20 -> 30): ',
    ],
    [
      'a paused workload',
      () => patch(DEPLOYMENT_PATH, { metadata: { annotations: { 'promscaler.dev/paused': 'true' } } }),
      'scaler shop/web is paused: scaling is paused by annotation. End the pause first: promscaler resume shop/web',
    ],
    [
      'a tool that manages the scaler',
      () => patch(SCALER_PATH, { metadata: { labels: { 'app.kubernetes.io/instance': 'web' } } }),
      'Argo CD or another tool (label app.kubernetes.io/instance) manages scaler shop/web, ',
    ],
  ])('proposes no switch that would be refused: %s', async (_, prepare, why) => {
    await prepare();

    const { exitCode, stdout, stderr } = await fixture.run();

    expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`promscaler: warning: ${why}`)]);
    expect(stdout).toMatch(/^Compare: /m);
    expect(stdout).not.toMatch(/^Switch: /m);
  });

  it('that is left without HPA and manifest proposes no --undo, which would be refused', async () => {
    await patch(SCALER_PATH, { metadata: { annotations: { 'promscaler.dev/adopted-manifest': null } } });
    await send(fixture.cluster.simulator, 'DELETE', HPA_PATH);

    const { stderr } = await fixture.run();

    expect(stderr).toBe(
      `promscaler: HPA shop/web does not exist; scaler shop/web was made from this autoscaler. To end the dry run: promscaler adopt hpa/web -n shop --switch --url ${fixture.url()}\n`,
    );
  });
});
