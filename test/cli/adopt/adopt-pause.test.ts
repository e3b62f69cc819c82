import { beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { send } from '../../simulator/cluster.js';
import { until } from '../../support/until.js';
import { AdoptFixture } from './adopt-fixture.js';

const DEPLOYMENT_PATH = '/apis/apps/v1/namespaces/shop/deployments/web';

let fixture: AdoptFixture;

beforeEach(async () => {
  fixture = await AdoptFixture.create();
  await fixture.start();
});

const annotate = (annotations: JsonObject): Promise<unknown> =>
  send(fixture.cluster.simulator, 'PATCH', DEPLOYMENT_PATH, { body: { metadata: { annotations } } });

async function pause(): Promise<void> {
  await annotate({ 'promscaler.dev/paused': 'true' });
  await until(async () => {
    const { items } = (await (await fetch(`${fixture.url()}/api/v1/scalers`)).json()) as {
      readonly items: readonly { readonly paused: boolean }[];
    };
    return items[0]?.paused === true;
  }, 'a decision in the pause');
}

describe('adopt after the end of a pause', () => {
  it('waits for a decision before the switch, and reports until then that there is none', async () => {
    await pause();
    const { faults } = fixture.cluster.simulator;
    const seeEvents = faults.addEventFault({ resource: 'deployments' }, 'swallow');
    await annotate({ 'promscaler.dev/paused': null });
    await fixture.decided(2);

    const report = await fixture.run('--report');
    const switching = fixture.run('--switch');
    seeEvents();
    await annotate({ 'example.com/note': 'seen' });

    expect(report.stdout).toContain(
      'A switch would be refused now: the service has made no decision for scaler shop/web since its pause ended: try again after the next decision\n',
    );
    expect(await switching).toMatchObject({ exitCode: 0 });
    expect([fixture.hpa(), fixture.isDryRun()]).toEqual([null, false]);
  });
});
