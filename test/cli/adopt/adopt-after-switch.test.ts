import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { eventually } from '../../support/manual-clock.js';
import { send } from '../../simulator/cluster.js';
import { AdoptFixture } from './adopt-fixture.js';

const DEPLOYMENT_PATH = '/apis/apps/v1/namespaces/shop/deployments/web';

let fixture: AdoptFixture;

beforeEach(async () => {
  fixture = await AdoptFixture.create();
  await fixture.start();
  await fixture.run('--switch', '--force');
});

const annotate = (annotations: JsonObject): Promise<unknown> =>
  send(fixture.cluster.simulator, 'PATCH', DEPLOYMENT_PATH, { body: { metadata: { annotations } } });

async function inState(state: string): Promise<void> {
  await eventually(() => fixture.cluster.status('web')['state'] === state, `the state ${state}`);
}

describe('adopt --report after the switch has the state of a scaler that does not scale:', () => {
  it.each([
    [
      'Paused',
      () => annotate({ 'promscaler.dev/paused': 'true' }),
      'scaler shop/web has the state Paused: by annotation',
    ],
    [
      'NoTarget',
      () => fixture.cluster.edit('web', { scaleTargetRef: { name: 'gone' } }),
      'scaler shop/web has the state NoTarget: ',
    ],
    [
      'Fixed',
      () =>
        send(fixture.cluster.simulator, 'PATCH', `${DEPLOYMENT_PATH}/scale`, {
          body: { spec: { replicas: 0 } },
        }),
      'scaler shop/web has the state Fixed: ',
    ],
  ])('%s', async (state, prepare, expected) => {
    await prepare();
    await inState(state);

    const { exitCode, stderr } = await fixture.run('--report');

    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `HPA shop/web does not exist anymore, so there is nothing to compare: ${expected}`,
    );
    expect(stderr).not.toContain('scaler shop/web scales');
  });
});

describe('adopt --switch of a switched scaler', () => {
  it.each([
    [
      'by annotation',
      () => annotate({ 'promscaler.dev/paused': 'true' }),
      'scaler shop/web is paused: scaling is paused by annotation. End the pause first: promscaler resume shop/web',
    ],
    [
      'in the document',
      () => fixture.cluster.edit('web', { paused: true }),
      'scaler shop/web has spec.paused: true. Remove this field first: kubectl patch',
    ],
  ])('names the command that ends a pause %s, at once', async (_, pause, message) => {
    await pause();

    const { exitCode, stderr } = await fixture.run('--switch');

    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).not.toContain('--undo');
  });

  it('reads the state once with --preview', async () => {
    fixture.cluster.load = null;
    await inState('NoData');
    const reads = (): number => fixture.cluster.requests().filter((one) => one === 'get shop').length;
    const before = reads();

    const { exitCode, stderr } = await fixture.run('--switch', '--preview');

    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^promscaler: scaler shop\/web does not scale deployment shop\/web: Failed/),
    ]);
    expect(reads() - before).toBe(1);
  });
});

describe('adopt --report of a switched scaler whose newest version is rejected', () => {
  it('names the rejection and what the version in effect does, and proposes no switch', async () => {
    const external = { metric: { name: 'load' }, query: 'sum(load', target: { averageValue: '10' } };
    await fixture.cluster.edit('web', { dryRun: true, metrics: [{ external }] });
    await fixture.cluster.shows('web', 'Accepted False Invalid');

    const { exitCode, stderr } = await fixture.run('--report');

    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^promscaler: HPA shop\/web does not exist anymore, so there is nothing to compare: scaler shop\/web scales deployment shop\/web\nscaler shop\/web is rejected: spec\.metrics\[0\].*; the last valid version stays in effect\nUndo: .*\n$/,
      ),
    ]);
  });
});

describe('adopt --undo of a scaler whose newest version is rejected', () => {
  const REJECTED =
    /^promscaler: spec\.dryRun: true has no effect until the service accepts the document: scaler shop\/web is rejected: spec\.metrics\[0\].*; the last valid version stays in effect\. While HPA shop\/web exists, promscaler patches nothing\n$/;

  beforeEach(async () => {
    const external = { metric: { name: 'load' }, query: 'sum(load', target: { averageValue: '10' } };
    await fixture.cluster.edit('web', { metrics: [{ external }] });
    await fixture.cluster.shows('web', 'Accepted False Invalid');
  });

  it('creates the HPA, and says that the dry run needs a correction, also the second time', async () => {
    const first = await fixture.run('--undo');
    await fixture.cluster.shows('web', 'Held True ConflictingScaler');
    const second = await fixture.run('--undo');

    for (const { exitCode, stdout, stderr } of [first, second]) {
      expect([exitCode, stderr]).toEqual([1, expect.stringMatching(REJECTED)]);
      expect(stdout).not.toContain('is in dry run');
      expect(stdout).toContain(
        'Correct: kubectl edit scalers.promscaler.dev web -n shop\nDelete:  kubectl delete scaler web -n shop\n',
      );
    }
    expect(first.stdout).toContain('HPA shop/web created again\n');
    expect([fixture.hpa() === null, fixture.isDryRun()]).toEqual([false, true]);
  });

  it('says so before with --preview', async () => {
    const { exitCode, stdout, stderr } = await fixture.run('--undo', '--preview');

    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(REJECTED)]);
    expect(stdout).toBe(
      'spec.dryRun: true would be set in scaler shop/web\nHPA shop/web would be created again\n',
    );
    expect([fixture.hpa(), fixture.isDryRun()]).toEqual([null, false]);
  });
});

it('adopt --undo of an object that a file replaces names the file, and no command that edits the object', async () => {
  const directory = join(fixture.service.folder, 'scalers');
  mkdirSync(directory, { recursive: true });
  const { spec } = fixture.scaler() as unknown as { readonly spec: JsonObject };
  const document = {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: 'web', namespace: 'shop' },
  };
  writeFileSync(join(directory, 'web.yaml'), JSON.stringify({ ...document, spec }));
  await fixture.cluster.shows('web', 'Accepted False Duplicate');

  const { exitCode, stdout, stderr } = await fixture.run('--undo');

  expect([exitCode, fixture.hpa() === null]).toEqual([1, false]);
  expect(stdout).not.toContain('Correct:');
  expect(stderr).toMatch(
    /^promscaler: spec\.dryRun: true has no effect until the service accepts the document: scaler shop\/web is rejected: metadata\.name: shop\/web is also in \S+web\.yaml:1: .*this object is not used.*\. Remove the document from the file\. While HPA shop\/web exists, promscaler patches nothing\n$/,
  );
});
