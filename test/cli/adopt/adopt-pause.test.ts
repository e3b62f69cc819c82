import { beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { send } from '../../simulator/cluster.js';
import { until } from '../../support/until.js';
import { AdoptFixture } from './adopt-fixture.js';

const HPA_PATH = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web';
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

describe('adopt --report of a paused dry run', () => {
  const PAUSED =
    /scaler shop\/web is paused: scaling is paused by annotation\. End the pause first: promscaler resume shop\/web --url \S+\n/;

  it('proposes no switch after the HPA is gone, but the end of the pause', async () => {
    await pause();
    await send(fixture.cluster.simulator, 'DELETE', HPA_PATH);

    const { stdout, stderr } = await fixture.run('--report');

    expect(stdout + stderr).toContain('scaler shop/web is in dry run: nothing scales deployment shop/web\n');
    expect(stdout + stderr).toMatch(new RegExp(`\nA switch would be refused now: ${PAUSED.source}Undo:    `));
    expect(stdout + stderr).not.toMatch(/^Switch: /m);
  });

  it('names the command that ends the pause after an undo, when nothing was compared', async () => {
    await fixture.run('--switch', '--force');
    await pause();
    await fixture.run('--undo');

    const { stderr } = await fixture.run('--report');

    expect(stderr).toMatch(
      new RegExp(`no decision of scaler shop/web has been compared with the HPA yet: ${PAUSED.source}$`),
    );
  });
});
